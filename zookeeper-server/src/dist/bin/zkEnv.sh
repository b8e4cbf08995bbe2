#!/usr/bin/env bash
# Environment of the other scripts; to be sourced by them, with ZOOBINDIR set to this folder.
#
# Read from the caller or from java.env in the configuration folder:
#   JAVA_HOME                      the JDK or JRE (17 or newer); else "java" on the PATH
#   ZOOCFGDIR, ZOOCFG              configuration folder (--config), and file in it (zoo.cfg)
#   ZOO_LOG_DIR, ZOO_LOG_FILE      where a server started in the background logs to
#   JVMFLAGS                       options for every JVM
#   SERVER_JVMFLAGS, ZK_SERVER_HEAP   options and heap (in MB) of servers
#   CLIENT_JVMFLAGS, ZK_CLIENT_HEAP   options and heap (in MB) of clients
#   CLASSPATH                      added in front of this distribution's own classes

ZOOKEEPER_PREFIX="${ZOOKEEPER_PREFIX:-$(cd -- "$ZOOBINDIR/.." && pwd -P)}"

# "--config DIR" in front of everything else wins over ZOOCFGDIR.
if [ "${1:-}" = "--config" ]; then
    if [ $# -lt 2 ] || [ ! -d "$2" ]; then
        echo "$(basename -- "$0"): --config needs a folder; '${2:-}' is none" >&2
        exit 2
    fi
    ZOOCFGDIR="$2"
    shift 2
fi
ZOOCFGDIR="${ZOOCFGDIR:-$ZOOKEEPER_PREFIX/conf}"

if [ -f "$ZOOCFGDIR/zookeeper-env.sh" ]; then
    . "$ZOOCFGDIR/zookeeper-env.sh"
fi
if [ -f "$ZOOCFGDIR/java.env" ]; then
    . "$ZOOCFGDIR/java.env"
fi
# Their "set -e" would end a script of ours at the first question that is answered with no.
set +eu +o pipefail

# A bare name means a file of the configuration folder, anything with a slash is a path.
ZOOCFG="${ZOOCFG:-zoo.cfg}"
case "$ZOOCFG" in
    */*) ;;
    *) ZOOCFG="$ZOOCFGDIR/$ZOOCFG" ;;
esac

require_config_file() {
    if [ ! -f "$ZOOCFG" ]; then
        echo "Error: there is no configuration file $ZOOCFG." >&2
        exit 1
    fi
}

ZOO_LOG_DIR="${ZOO_LOG_DIR:-$ZOOKEEPER_PREFIX/logs}"

if [ -n "${JAVA_HOME:-}" ]; then
    JAVA="$JAVA_HOME/bin/java"
else
    JAVA="$(command -v java || true)"
fi
if [ -z "$JAVA" ] || [ ! -x "$JAVA" ]; then
    if [ -n "${JAVA_HOME:-}" ]; then
        echo "Error: JAVA_HOME is '$JAVA_HOME', but there is no program bin/java in it." >&2
    else
        echo "Error: no Java found. Set JAVA_HOME to a JDK or JRE, 17 or newer, or put java on the PATH." >&2
    fi
    exit 1
fi

CLASSPATH="$ZOOCFGDIR${CLASSPATH:+:$CLASSPATH}:$ZOOKEEPER_PREFIX/lib/*"

# The JVM samples its own counters 20 times a second, which costs an idle server as much as its
# heartbeats; once a second is enough for jstat.
SERVER_JVMFLAGS="-Xmx${ZK_SERVER_HEAP:-1000}m -XX:PerfDataSamplingInterval=1000 ${SERVER_JVMFLAGS:-}"
CLIENT_JVMFLAGS="-Xmx${ZK_CLIENT_HEAP:-256}m ${CLIENT_JVMFLAGS:-}"
JVMFLAGS="${JVMFLAGS:-}"

# What "java -version" says, asked for once.
java_said=""
ask_java() {
    [ -n "$java_said" ] || java_said="$("$JAVA" -version 2>&1 | grep -v -E '^(NOTE: )?Picked up ')"
}

require_java_17() {
    local version
    ask_java
    version="$(printf '%s\n' "$java_said" | sed -n -E 's/.*version "([0-9]+)[."-].*/\1/p' | head -n 1)"
    if [ -n "$version" ] && [ "$version" -lt 17 ]; then
        echo "Error: $JAVA is version $version; the server needs Java 17 or newer. Set JAVA_HOME." >&2
        exit 1
    fi
}

# Prints what the configuration file $1 says: one key a line, its value behind a tab, and behind them names
# that begin with "@", for what the keys mean. The server and the tools read the file with the same class.
describe_config() {
    (
        set +f
        # They are for the server, which says what is wrong with them.
        unset JDK_JAVA_OPTIONS JAVA_TOOL_OPTIONS _JAVA_OPTIONS
        "$JAVA" -Xmx32m -XX:TieredStopAtLevel=1 -XX:+UseSerialGC -XX:-UsePerfData -Xshare:auto \
            -cp "$(printf '%s:' "$ZOOKEEPER_PREFIX"/lib/saucr-core-*.jar)" io.saucr.core.config.ZooCfgCommand "$1"
    )
}

# Reads $ZOOCFG, if it is there, for value_of; ends the script if it cannot be read.
config_said=""
read_config() {
    [ -f "$ZOOCFG" ] || return 0
    if ! config_said="$(describe_config "$ZOOCFG" 2>&1)"; then
        # An older Java says so in a way that nobody understands.
        require_java_17
        printf '%s\n' "$config_said" >&2
        exit 1
    fi
    # What Java itself says has no tab.
    config_said="$(printf '%s\n' "$config_said" | grep $'\t')"
}

# The value of a key of $ZOOCFG, or of a name that begins with "@"; nothing if there is none.
value_of() {
    local line
    while IFS= read -r line; do
        case "$line" in
            "$1"$'\t'*)
                printf '%s\n' "${line#*$'\t'}"
                return
                ;;
        esac
    done <<<"$config_said"
}

# The flag variables are lists of words, none of them a file pattern.
set -f
