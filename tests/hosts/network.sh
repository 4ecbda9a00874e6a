# shellcheck shell=bash
# Hosts on one machine: each has a network address, a name and a disk of its own, and nobody else's. For the script behind it, which starts mpirun on one of them.
#
# Started by `unshare --mount --net --pid --fork --kill-child --mount-proc`: with the first process of that all others end, and with them all namespaces, links and mounts.
# FOLDER is a folder for all files, PROGRAM the program. $FOLDER/disk is another folder on every host: $FOLDER/disk-NAME.

set -eu
ip link set lo up
ip link add name switch type bridge
ip link set switch up
export TMPDIR=$FOLDER/tmp
mkdir "$FOLDER/disk" "$TMPDIR"
echo '127.0.0.1 localhost' > "$FOLDER/addresses"

number=0
make_host() { # make_host NAME
    number=$((number + 1))
    mkdir "$FOLDER/disk-$1"
    echo "10.77.0.$number $1" >> "$FOLDER/addresses"
    # shellcheck disable=SC2016 # for the shell within
    unshare --net --uts --mount sh -c 'hostname "$1" && mount --bind "$2/disk-$1" "$2/disk" && touch "$2/ready-$1" && exec sleep 1000' - "$1" "$FOLDER" &
    echo $! > "$FOLDER/pid-$1"
    while [ ! -e "$FOLDER/ready-$1" ]; do sleep 0.01; done
    ip link add "to-$1" type veth peer name eth0 netns "$(cat "$FOLDER/pid-$1")"
    ip link set "to-$1" master switch up
    on "$1" ip link set lo up
    on "$1" ip addr add "10.77.0.$number/24" dev eth0
    on "$1" ip link set eth0 up
    # Keepalives are not sent while data waits for an answer: then only the number of repeats ends a connection.
    on "$1" sh -c 'echo 3 > /proc/sys/net/ipv4/tcp_retries2'
}

on() { # on NAME COMMAND...
    nsenter --target "$(cat "$FOLDER/pid-$1")" --net --uts --mount -- "${@:2}"
}

# What mpirun takes for ssh. How a command ended on a host whose link was cut ssh cannot know either: it says nothing for a while, in which mpirun notices by itself. Not
# for ever: mpirun may wait for it at its end.
cat > "$FOLDER/agent" << END
#!/bin/bash
nsenter --target "\$(cat "$FOLDER/pid-\$1")" --net --uts --mount -- bash -c "\${*:2}"
code=\$?
if [ -e "$FOLDER/cut-\$1" ]; then sleep 10; fi
exit \$code
END
chmod +x "$FOLDER/agent"

# job HOSTS PROCESSES WORD...: the program under mpirun, which runs on the first of the hosts.
job() {
    on "${1%%[:,]*}" mpirun --host "$1" -n "$2" --mca plm_rsh_agent "$FOLDER/agent" --mca btl tcp,self --mca btl_tcp_if_include eth0 \
        --mca oob_tcp_if_include eth0 --mca oob_tcp_keepalive_time 1 --mca oob_tcp_keepalive_intvl 1 --mca oob_tcp_keepalive_probes 3 \
        "$PROGRAM" "${@:3}" --quiet --threads 1 --progress none
}

processes_of() { # processes_of NAME [PROGRAM]: the numbers of its processes but the one that keeps its namespaces
    local keeper process
    keeper=$(cat "$FOLDER/pid-$1")
    for process in /proc/[0-9]*; do
        if [ "${process#/proc/}" = "$keeper" ] || [ "$(readlink "$process/ns/uts")" != "$(readlink "/proc/$keeper/ns/uts")" ]; then continue; fi
        if [ $# = 1 ] || [ "$(cat "$process/comm" 2> /dev/null)" = "$2" ]; then echo "${process#/proc/}"; fi
    done
}

kill_on() { # kill_on NAME [PROGRAM]
    local process
    for process in $(processes_of "$@"); do kill -9 "$process" || true; done
}

cut_link() { # cut_link NAME
    touch "$FOLDER/cut-$1"
    ip link set "to-$1" down
}

join_link() { # join_link NAME
    rm -f "$FOLDER/cut-$1"
    ip link set "to-$1" up
}

wait_for_level() { # wait_for_level NAME LEVEL: until a checkpoint of at least this level is on its disk
    local newest=0
    while [ "$newest" -lt "$2" ]; do
        sleep 0.02
        newest=$(find "$FOLDER/disk-$1/run/checkpoint" -name 'manifest-*[0-9]' 2> /dev/null | sed 's/.*manifest-0*//; s/^$/0/' | sort -n | tail -1)
        newest=${newest:-0}
    done
}

mount --bind "$FOLDER/addresses" /etc/hosts
