#!/usr/bin/env bash
# What the scripts know of the server that a configuration describes: its process, and where it
# listens. To be sourced by them after zkEnv.sh.

# True if a process of this number runs, whoever's it is.
is_alive() {
    local refusal
    refusal="$(LC_ALL=C && kill -0 "$1" 2>&1)" && return 0
    case "$refusal" in
        *'not permitted'*) ;;
        *) false ;;
    esac
}

# True if process $1 is a server with this configuration, or with another file that has the same
# dataDir, as after a move to a new release; whether one of these scripts has started it or somebody
# else who wrote the pid file. Where there is no /proc, or the server's file is gone, the pid file is
# believed.
is_this_server() {
    [ -r "/proc/$1/cmdline" ] || return 0
    local word file="" folder started=false
    folder="$(readlink -- "/proc/$1/cwd" 2>/dev/null)"
    while IFS= read -r -d '' word; do
        case "$word" in
            -Dzookeeper.log.dir=* | org.apache.zookeeper.server.quorum.QuorumPeerMain) started=true ;;
            /*) ;;
            *) word="$folder/$word" ;;
        esac
        if [ "$word" = "$ZOOCFG" ] || [ "$word" -ef "$ZOOCFG" ]; then
            [ "$started" = false ] || return 0
        fi
        file="$word"
    done 2>/dev/null <"/proc/$1/cmdline"
    [ "$started" = true ] || return 1
    # The last word is the server's file.
    [ ! -r "$file" ] || [ "$(describe_config "$file" 2>/dev/null | sed -n 's/^dataDir\t//p')" -ef "$data_dir" ]
}

# Nothing for 0: a signal to process 0 goes to the process group of the script itself. What is no file,
# such as a pipe, is not opened.
named_pid() {
    [ -f "$ZOOPIDFILE" ] || return 0
    head -n 1 "$ZOOPIDFILE" 2>/dev/null | tr -cd '0-9' | sed -n '/[1-9]/p'
}

# The process id in the pid file if this server really runs under it; nothing otherwise. The system
# may have given the number to another program since, or to another server.
running_pid() {
    local pid
    [ -f "$ZOOPIDFILE" ] || return 1
    pid="$(named_pid)"
    [ -n "$pid" ] && is_alive "$pid" && is_this_server "$pid" || return 1
    echo "$pid"
}

# The process that holds the lock of file $1, as far as the system shows it; nothing if none does.
lock_holder() {
    local inode pid
    [ -f "$1" ] && [ -r /proc/locks ] || return 0
    # shellcheck disable=SC2012 # the number comes first
    inode="$(ls -di -- "$1" | awk '{ print $1; exit }')"
    for pid in $(awk -v inode="$inode" '$2 == "POSIX" { n = split($6, at, ":"); if (at[n] == inode) print $5 }' /proc/locks); do
        # Another file system may have a file of this number.
        if (
            set +f
            [ -x "/proc/$pid/fd" ] || exit 0
            for each in "/proc/$pid/fd"/*; do
                [ ! "$each" -ef "$1" ] || exit 0
            done
            exit 1
        ); then
            echo "process $pid"
            return
        fi
    done
}

# Listening sockets as the kernel lists them: hexadecimal port and inode.
listening_sockets() {
    local folder="${1:-/proc}"
    cat "$folder/net/tcp" "$folder/net/tcp6" 2>/dev/null | awk '$4 == "0A" { sub(/.*:/, "", $2); print $2, $10 }'
}

# Prints of each of the ports that follow who listens there.
name_port_owners() {
    local wanted socket owner
    for wanted in "$@"; do
        is_port "$wanted" || continue
        socket="$(listening_sockets | sed -n "s/^$(printf '%04X' "$wanted") //p" | head -n 1)"
        [ -n "$socket" ] || continue
        owner="$(
            set +f
            # shellcheck disable=SC2012 # these names are numbers
            LC_ALL=C ls -l /proc/[0-9]*/fd 2>/dev/null |
                sed -n -e 's,^/proc/\([0-9]*\)/fd:$,\1,p' -e "s/.* -> socket:\[$socket\]\$/here/p" |
                awk '/^here$/ { print process; exit } { process = $1 }'
        )"
        if [ -n "$owner" ]; then
            owner="process $owner, $(tr '\0' ' ' 2>/dev/null <"/proc/$owner/cmdline" | cut -c 1-60)"
        fi
        echo "port $wanted is in use by ${owner:-a process that $(id -un) cannot see}"
    done
}

# True if this server is one of an ensemble, as ZooKeeper sees it.
in_ensemble() {
    [ "$(value_of @ensemble)" = true ]
}

# True for a number that a server can listen on; ZooKeeper takes 0 for "none".
is_port() {
    case "$1" in
        [1-9] | [1-9][0-9] | [1-9][0-9][0-9] | [1-9][0-9][0-9][0-9] | [1-9][0-9][0-9][0-9][0-9]) [ "$1" -le 65535 ] ;;
        *) false ;;
    esac
}

# Sets the array "ports" to those on which a server that has started listens: for clients, plain and
# TLS, and in an ensemble for elections. Sets "plain_port" to the one that can be asked; empty if there is
# none.
find_ports() {
    # shellcheck disable=SC2207 # numbers
    ports=($(value_of @ports))
    plain_port=""
    [ "$tls" = true ] || plain_port="$port"
}

# True when something accepts connections there.
is_open() {
    (exec 3<>"/dev/tcp/$1/$2") 2>/dev/null
}

# Sets host, port and tls: where clients reach this server. The port is empty if there is none.
find_client_address() {
    host="$(value_of @client.host)"
    port="$(value_of @client.port)"
    tls="$(value_of @client.tls)"
    tls="${tls:-false}"
}

# Absolute, as processes with other working folders are asked for it.
case "$ZOOCFG" in
    /*) ;;
    *) ZOOCFG="$PWD/$ZOOCFG" ;;
esac
[ "${reads_config:-true}" = false ] || read_config
data_dir="$(value_of dataDir)"
ZOOPIDFILE="${ZOOPIDFILE:-${data_dir:-.}/zookeeper_server.pid}"
