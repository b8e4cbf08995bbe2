#!/usr/bin/env bash
# Makes the folders of a new server, and its myid. See zkEnv.sh for the variables that every script reads.

usage() {
    cat >&2 <<USAGE
Usage: $(basename -- "$0") [--config DIR] [--configfile FILE] [--myid N] [--force]
  --configfile FILE  a name in the configuration folder or a path; zoo.cfg if absent
  --myid N           number of this server, for the file myid
  --force            delete what an earlier server has left. One of an ensemble is not marked as new
                     then (no file "initialize"): with SAUCR it gets everything from the others
                     before it takes part, as after the loss of its disk
USAGE
    exit "$1"
}

script="${BASH_SOURCE[0]}"
while [ -L "$script" ]; do
    target="$(readlink -- "$script")"
    case "$target" in
        /*) script="$target" ;;
        *) script="$(dirname -- "$script")/$target" ;;
    esac
done
ZOOBINDIR="$(cd -- "$(dirname -- "$script")" && pwd -P)"

force=false
myid=""
# "--config" is for zkEnv.sh.
options=("$@")
[ "${1:-}" = "--config" ] && options=("${@:3}")
at=0
while [ "$at" -lt "${#options[@]}" ]; do
    option="${options[at]}"
    at=$((at + 1))
    case "$option" in
        --configfile=* | --myid=*) value="${option#*=}" ;;
        --configfile | --myid)
            value="${options[at]:-}"
            at=$((at + 1))
            ;;
        --force)
            force=true
            continue
            ;;
        -h | --help) usage 0 ;;
        *)
            echo "Error: there is no option '$option'." >&2
            usage 2
            ;;
    esac
    case "$option" in
        --configfile*)
            if [ -z "$value" ]; then
                echo "Error: --configfile needs a file." >&2
                exit 2
            fi
            ZOOCFG="$value"
            ;;
        *)
            myid="$value"
            case "$myid" in
                '' | *[!0-9]* | ???????????????????*)
                    echo "Error: --myid '$myid' is not allowed; it must be a number, as in server.N." >&2
                    exit 2
                    ;;
            esac
            ;;
    esac
done
. "$ZOOBINDIR/zkEnv.sh"
. "$ZOOBINDIR/zkThisServer.sh"

require_config_file
log_dir="$(value_of dataLogDir)"
if [ -z "$data_dir" ]; then
    echo "Error: $ZOOCFG has no dataDir." >&2
    exit 1
fi
folders=("$data_dir/version-2")
# ZooKeeper takes an empty folder for that of a new server if it finds this file beside the log's. An
# earlier version of this script made it in dataDir.
new_server_files=("${log_dir:-$data_dir}/initialize" "$data_dir/initialize")
[ -n "$log_dir" ] && [ "$log_dir" != "$data_dir" ] && folders+=("$log_dir/version-2")

pid="$(named_pid)"
if [ -n "$pid" ] && is_alive "$pid"; then
    echo "Error: process $pid uses $data_dir ($ZOOPIDFILE); stop that server first." >&2
    exit 1
fi
if [ "$force" = true ]; then
    # A server may run without a pid file.
    find_client_address
    find_ports
    owners="$(name_port_owners "${ports[@]}")"
    if [ -n "$owners" ]; then
        echo "Error: ${owners//$'\n'/; }; stop that server first. Nothing was deleted." >&2
        exit 1
    fi
fi
deleted=false
for folder in "${folders[@]}"; do
    if [ -e "$folder" ]; then
        if [ "$force" = false ]; then
            echo "Error: $folder is there already; --force deletes it with everything in it." >&2
            exit 1
        fi
        # First: what is left of an interrupted deletion must not pass for the data of a new server.
        rm -f -- "${new_server_files[@]}" || exit 1
        rm -rf -- "$folder" || exit 1
        deleted=true
        echo "Deleted $folder."
    fi
done
mkdir -p -- "${folders[@]}" || exit 1
if [ -n "$myid" ]; then
    echo "$myid" >"$data_dir/myid" || exit 1
    echo "This is server $myid."
elif [ -f "$data_dir/myid" ]; then
    echo "This is server $(head -n 1 "$data_dir/myid"), as $data_dir/myid says."
else
    echo "There is no $data_dir/myid; a server of an ensemble needs it (--myid N)."
fi
echo "Made ${folders[*]}."
# One of an ensemble that was emptied may have acknowledged what the others lack: it is not new.
if [ "$deleted" = false ] || ! in_ensemble; then
    : >"${new_server_files[0]}" || exit 1
fi
