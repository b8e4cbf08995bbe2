#!/bin/sh
# zkServer.sh start-foreground CONFIGURATION, for the tests of go-zookeeper: a server that names no others is a proxy to the
# ensemble that all tests share.
set -eu
value() { sed -n "s/^$1=//p" "$2"; }

# shellcheck disable=SC2086 # They are lists of flags.
if grep -q '^server\.' "$2"; then
    exec "$SAUCR_SUITES_JAVA" $SAUCR_SUITES_FLAGS ${SERVER_JVMFLAGS:-} -cp "$SAUCR_SUITES_CLASS_PATH" \
        org.apache.zookeeper.server.quorum.QuorumPeerMain "$2"
fi
exec "$SAUCR_SUITES_JAVA" -XX:TieredStopAtLevel=1 -cp "$SAUCR_SUITES_OWN_CLASSES" io.saucr.suites.EnsembleProxy \
    "$(value clientPort "$2")" "$(value dataDir "$2")"
