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
# Knobs: RUN (config and options of `farthest run`, separated by blanks, without commas),
# HOURS (when to stop, instead of `hours` below), both given as in -v RUN=...,HOURS=0.9;
# qsub's options, which override those below. RESTARTS is the script's own: after 50
# successors it gives up, since a level takes longer than the time limit then.

#PBS -N farthest
#PBS -j oe
# One process a node (mpiprocs), with a thread for each of its processors.
#PBS -l select=1:ncpus=32:mpiprocs=1
#PBS -l walltime=24:00:00
hours=23.5

set -uo pipefail
cd "${PBS_O_WORKDIR:?submit this with qsub}" || exit 73
: "${RUN:?which run? qsub -v RUN=CONFIG scripts/pbs.sh}"
hours=${HOURS:-$hours} restarts=${RESTARTS:-0}

# The site's MPI, the one that the program was built with:
# module load openmpi

# Open MPI ties a process to one core unless told otherwise; its threads need more. A node
# whose cable is cut should end the job in half a minute instead of many.
export OMPI_MCA_hwloc_base_binding_policy=none PRTE_MCA_hwloc_default_binding_policy=none
export OMPI_MCA_oob_tcp_keepalive_time=10 OMPI_MCA_oob_tcp_keepalive_intvl=5 OMPI_MCA_oob_tcp_keepalive_probes=3

# NCPUS are this node's processors in the job, its lines in the list its processes. Where
# PBS confines nobody to them each process would take all of the node's.
threads=()
here=$(grep -cxF "$(head -n 1 "$PBS_NODEFILE")" "$PBS_NODEFILE")
if [ "${NCPUS:-0}" -ge "$here" ]; then threads=(--threads $((NCPUS / here))); fi
case " $RUN " in *' --threads'[\ =]*) threads=() ;; esac

# shellcheck disable=SC2086 # RUN is several words
mpirun -n "$(wc -l <"$PBS_NODEFILE")" -hostfile "$PBS_NODEFILE" \
    target/release/farthest run $RUN --max-hours "$hours" "${threads[@]}"
code=$?

if [ "$code" = 75 ]; then
    if [ "$restarts" -lt 50 ]; then
        echo 'stopped at a checkpoint: submitting a successor'
        qsub -v RUN="$RUN",HOURS="$hours",RESTARTS=$((restarts + 1)) scripts/pbs.sh ||
            echo "it was refused; go on with: qsub -v RUN='$RUN',HOURS=$hours scripts/pbs.sh"
    else
        echo 'stopped at a checkpoint, too often: no successor'
    fi
fi
exit "$code"
