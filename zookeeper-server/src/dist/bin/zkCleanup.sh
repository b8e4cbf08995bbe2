#!/usr/bin/env bash
# Removes old snapshots and logs: zkCleanup.sh [--config DIR] -n COUNT, with COUNT (at least 3) snapshots kept.
script="${BASH_SOURCE[0]}"
while [ -L "$script" ]; do
    target="$(readlink -- "$script")"
    case "$target" in
        /*) script="$target" ;;
        *) script="$(dirname -- "$script")/$target" ;;
    esac
done
ZOOBINDIR="$(cd -- "$(dirname -- "$script")" && pwd -P)"
. "$ZOOBINDIR/zkEnv.sh"
require_config_file
read_config
data_dir="$(value_of dataDir)"
log_dir="$(value_of dataLogDir)"
# shellcheck disable=SC2086 # the flag variables are lists of words
exec "$JAVA" -cp "$CLASSPATH" $JVMFLAGS org.apache.zookeeper.server.PurgeTxnLog \
    "${log_dir:-$data_dir}" "$data_dir" "$@"
