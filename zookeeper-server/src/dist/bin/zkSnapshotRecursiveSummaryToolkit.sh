#!/usr/bin/env bash
# Counts nodes and bytes below a node of a snapshot:
#   zkSnapshotRecursiveSummaryToolkit.sh SNAPSHOT-FILE NODE MAX-DEPTH
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
# shellcheck disable=SC2086 # the flag variables are lists of words
exec "$JAVA" -Dsaucr.log.level=WARN -cp "$CLASSPATH" $JVMFLAGS \
    io.saucr.server.tool.SnapshotSummary "$@"
