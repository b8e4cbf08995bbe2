#!/usr/bin/env bash
# The interactive client: zkCli.sh [-server HOST:PORT,...] [COMMAND ...]. -Dsaucr.log.level=INFO shows its log.
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
exec "$JAVA" -Dsaucr.log.level=WARN -cp "$CLASSPATH" $CLIENT_JVMFLAGS $JVMFLAGS \
    org.apache.zookeeper.ZooKeeperMain "$@"
