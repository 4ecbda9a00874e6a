# Sourced by the scripts beside it; changes nothing but PATH by itself.
#
# What they share: finding cargo and MPI's launcher, counting the cores we may use,
# and the environment that Open MPI needs as root, with more processes than cores,
# or in a container. Other MPI libraries ignore these variables.
# shellcheck shell=bash

say() { printf '%s\n' "$*" >&2 || true; } # a closed terminal is no reason to end

# rustup puts cargo where a non-login shell does not look.
if ! command -v cargo >/dev/null && [ -x "${CARGO_HOME:-${HOME:-}/.cargo}/bin/cargo" ]; then
    PATH="${CARGO_HOME:-$HOME/.cargo}/bin:$PATH"
fi

# The launcher that belongs to the MPI library: under another library's launcher an
# MPI program becomes many single processes. Debian marks pairs by a suffix, such
# as mpicc.mpich and mpirun.mpich.
mpi_launcher() {
    local compiler=${MPICC:-mpicc} suffix='' name
    case ${compiler##*/} in mpicc.*) suffix=.${compiler##*/mpicc.} suffix=.${suffix##*.} ;; esac
    for name in ${FARTHEST_MPIRUN:-"mpirun$suffix" "mpiexec$suffix"}; do
        if command -v "$name"; then return; fi
    done
    return 1
}

# nproc honours affinity; a container's quota of CPU time needs a look of its own.
usable_cores() {
    local cores quota period
    cores=$(nproc)
    if read -r quota period 2>/dev/null </sys/fs/cgroup/cpu.max && [ "$quota" != max ]; then
        quota=$(((quota + period - 1) / period))
        if [ "$quota" -lt "$cores" ]; then cores=$quota; fi
    fi
    echo "$cores"
}

# Open MPI starts no more processes than this unless told to: hardware threads do
# not count.
physical_cores() {
    lscpu --parse=CORE,SOCKET | grep -v '^#' | sort -u | wc -l
}

allow_root() {
    export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
}

# For Open MPI 4 and for 5, as below.
allow_oversubscription() {
    export OMPI_MCA_rmaps_base_oversubscribe=1
    export PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe
}

# Open MPI ties each of one or two processes to one core, where its threads queue up.
forbid_binding() {
    export OMPI_MCA_hwloc_base_binding_policy=none
    export PRTE_MCA_hwloc_default_binding_policy=none
}

# Containers often withhold the ptrace right (capability 19), which Open MPI uses to
# copy straight from process to process; it then prints "Read -1, expected ...".
# The other way is slower, so it is taken only there.
avoid_single_copy_without_ptrace() {
    local capabilities
    if [ ! -e /.dockerenv ] && [ ! -e /run/.containerenv ]; then return; fi
    capabilities=$(sed -n 's/^CapEff:[[:space:]]*//p' /proc/self/status)
    if [ $(((16#$capabilities >> 19) & 1)) = 0 ]; then
        export OMPI_MCA_btl_vader_single_copy_mechanism=none
    fi
}

# The end of scripts/test: sum_up_tests LOG SKIPS CODE. LOG is what `cargo test` printed, with
# lines such as "test result: ok. 12 passed; 0 failed; 1 ignored; ...". SKIPS are the lines that
# skipped tests added (tests/common/needs.rs): the harness counted them as passed, but for those
# that are skipped in part, which passed otherwise. A test of MPI that the build without MPI
# skips has run in the other one: it counts there. CODE is what the checks and cargo ended with.
# The exit code is 0 only when all is well.
sum_up_tests() {
    local code=$3 passed failed ignored skipped elsewhere=': this build has no MPI$' lines
    lines=$(grep -v "$elsewhere" "$2") || true
    if [ -n "$lines" ]; then
        if [ "${CI:-}" = true ]; then echo 'Skipped with CI=true, for reasons that no set-up can mend:'; fi
        sort -u <<<"$lines"
    fi
    skipped=$(grep -c '^skipped' <<<"$lines") || true
    read -r passed failed ignored < <(awk '/^test result: / { passed += $4; failed += $6; ignored += $8 }
        END { print passed + 0, failed + 0, ignored + 0 }' "$1")
    passed=$((passed - $(grep -c '^skipped: ' "$2" || true)))
    if [ "$code" != 0 ] && [ "$failed" = 0 ]; then
        echo "a check failed, or a test program did not build, crashed, or ran out of time (code $code)"
        failed=1
    fi
    if [ "$code" = 0 ] && [ "$failed" != 0 ]; then code=1; fi
    if [ "$code" = 0 ] && [ "$passed" -le 0 ]; then
        echo 'no test ran'
        code=1
    fi
    echo "$passed passed, $failed failed, $((skipped + ignored)) skipped"
    return "$code"
}
