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

# Fails if a server uses one of the folders, also one that is starting and has no port yet.
refuse_locked() {
    local folder holder
    for folder in "${folders[@]}"; do
        holder="$(lock_holder "$folder/saucr.lock")"
        if [ -n "$holder" ]; then
            echo "Error: $holder uses $folder; stop that server first. Nothing was deleted." >&2
            return 1
        fi
    done
}

# DataFolder knows the text, too.
unfinished_deletion="run-zkServer-initialize.sh--force-again"

# Nothing that comes later is on disk before it. GNU's sync can do that for one file system alone.
sync_to_disk() {
    sync -f "$1" 2>/dev/null || sync
}

deleted=false
for folder in "${folders[@]}"; do
    [ -e "$folder" ] || continue
    if [ "$force" = false ]; then
        echo "Error: $folder is there already; --force deletes everything in it." >&2
        exit 1
    fi
    if [ ! -d "$folder" ]; then
        echo "Error: $folder is no folder; move it away. Nothing was deleted." >&2
        exit 1
    fi
    deleted=true
done
if [ "$deleted" = true ]; then
    refuse_locked || exit 1
    # No server starts next to such a link: what an interrupted deletion leaves passes neither for the data
    # of this server nor for those of a new one. It replaces the file in one step, and so short a link needs
    # no room on a full disk. An earlier version of this script made a folder, which stays if it is there.
    barrier="${new_server_files[0]}"
    prepared="$barrier.unfinished"
    marked=false
    [ ! -f "$barrier" ] || marked=true
    if [ ! -d "$barrier" ] && [ "$(readlink -- "$barrier")" != "$unfinished_deletion" ]; then
        if ! ln -sf -- "$unfinished_deletion" "$prepared" || ! mv -f -- "$prepared" "$barrier"; then
            rm -f -- "$prepared"
            echo "Error: $barrier could not be made; see above. Nothing was deleted." >&2
            exit 1
        fi
    fi
    sync_to_disk "$(dirname -- "$barrier")"
    if ! refuse_locked; then
        rm -rf -- "$barrier"
        [ "$marked" = false ] || : >"$barrier"
        exit 1
    fi
    for file in "${new_server_files[@]:1}"; do
        [ "$file" = "$barrier" ] || [ -d "$file" ] || rm -f -- "$file" || exit 1
    done
    for folder in "${folders[@]}"; do
        [ -d "$folder" ] || continue
        # The folder may be a link, or a disk of its own.
        if ! find "$folder/." -mindepth 1 -maxdepth 1 ! -name lost+found -exec rm -rf -- {} +; then
            echo "Error: not everything in $folder could be deleted. The server does not start until it is: run this again." >&2
            exit 1
        fi
        sync_to_disk "$folder"
        echo "Deleted everything in $folder."
    done
    rm -rf -- "$barrier" || exit 1
fi
# A new server that is half made would be taken for one that was emptied.
give_up() {
    [ "$deleted" = true ] || rmdir -- "${folders[@]}" 2>/dev/null
    echo "Error: $1 could not be made; see above. Run this again once it can be." >&2
    exit 1
}

mkdir -p -- "${folders[@]}" || give_up "${folders[*]}"
if [ -n "$myid" ]; then
    # On a full disk the number that is there stays.
    if [ "$(cat -- "$data_dir/myid" 2>/dev/null)" != "$myid" ]; then
        echo "$myid" >"$data_dir/myid" || give_up "$data_dir/myid"
    fi
    echo "This is server $myid."
elif [ -f "$data_dir/myid" ]; then
    echo "This is server $(head -n 1 "$data_dir/myid"), as $data_dir/myid says."
else
    echo "There is no $data_dir/myid; a server of an ensemble needs it (--myid N)."
fi
echo "Made ${folders[*]}."
# One of an ensemble that was emptied may have acknowledged what the others lack: it is not new.
if [ "$deleted" = false ] || ! in_ensemble; then
    : >"${new_server_files[0]}" || give_up "${new_server_files[0]}"
fi
