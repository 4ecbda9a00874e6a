#!/usr/bin/env bash
# A PBS job that searches until it is done, over as many time limits as that takes.
# Submit it from the project's folder, after scripts/setup and `cargo build --release`
# there (with the site's MPI module loaded, the same one as in the job):
#
#   qsub -v RUN=configs/runs/turnstyle-14.toml scripts/pbs.sh
#
# How PBS warns of the time limit differs between sites, so the program is told when to
# stop: keep `hours` below a little under the walltime. It then writes a checkpoint and
# exits with 75, and the job submits a successor, which goes on from the checkpoint, on
# any number of nodes. Where jobs may not submit jobs, queue a few in advance:
#
#   first=$(qsub -v RUN=... scripts/pbs.sh)
#   qsub -W depend=afterany:$first -v RUN=... scripts/pbs.sh
#
# One that finds the search complete ends at once.
#
# Exit codes: the program's. 0: complete.
#
# Knobs: RUN (config and options of `farthest run`, separated by blanks), qsub's
# options, which override those below.

#PBS -N farthest
#PBS -j oe
# One process a node (mpiprocs), threads inside.
#PBS -l select=1:ncpus=32:mpiprocs=1
#PBS -l walltime=24:00:00
hours=23.5

set -uo pipefail
cd "${PBS_O_WORKDIR:?submit this with qsub}" || exit 73
: "${RUN:?which run? qsub -v RUN=CONFIG scripts/pbs.sh}"

# Open MPI ties a process to one core unless told otherwise; its threads need more.
export OMPI_MCA_hwloc_base_binding_policy=none PRTE_MCA_hwloc_default_binding_policy=none

# shellcheck disable=SC2086 # RUN is several words
mpirun -n "$(wc -l <"$PBS_NODEFILE")" -hostfile "$PBS_NODEFILE" \
    target/release/farthest run $RUN --max-hours "$hours"
code=$?

if [ "$code" = 75 ]; then
    echo 'stopped at a checkpoint: submitting a successor'
    qsub -v RUN="$RUN" scripts/pbs.sh || echo "it was refused; go on with: qsub -v RUN='$RUN' scripts/pbs.sh"
fi
exit "$code"
