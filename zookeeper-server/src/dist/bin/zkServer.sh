#!/usr/bin/env bash
# Starts, stops and queries one server. zkEnv.sh has the variables that every script reads; this one also reads:
#   ZOOMAIN          main class, with JVM options in front of it if you like
#   ZOOPIDFILE       file with the server's process id (zookeeper_server.pid in dataDir)
#   ZOO_DATADIR_AUTOCREATE_DISABLE   when set, a missing dataDir is an error and not created
#   ZOO_START_TIMEOUT seconds that "start" waits until the server has started (120)
#   ZOO_STOP_TIMEOUT seconds that "stop" waits for the server to exit (60)
#   JMXDISABLE, JMXPORT, JMXLOCALONLY, JMXAUTH, JMXSSL, JMXHOSTNAME   remote management

usage() {
    cat >&2 <<USAGE
Usage: $(basename -- "$0") [--config DIR] COMMAND [CONFIG-FILE]
  start             start the server in the background; exits with 0 once it has started, else prints why and exits with 1
  start-foreground  run the server in this terminal
  stop              stop the server and wait until its process has exited
  restart           stop, then start
  status            print the server's role and the ensemble's mode; exits with 0 if it serves, else with 1
  await [SECONDS]   wait until the server serves; exits with 1 after SECONDS, or at once if the server does not run
  flush [REASON]    sync everything to disk now
  pin [REASON]      stay in slow mode until "unpin" or a restart, and flush
  unpin [REASON]    let the leader choose the mode again
  print-cmd         print the command line that "start" would run
  print-config      print the keys of the file as the server reads them; a line with "@" has what follows from them
  version           print the version
  class-archive     make lib/server.jsa, with which a server starts faster
CONFIG-FILE is a path, or a name in the configuration folder (default: zoo.cfg). For commands with another argument
set the variable ZOOCFG instead.
USAGE
    exit 2
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

verb_at=1
[ "${1:-}" = "--config" ] && verb_at=3
config_at=$((verb_at + 1))
case "${!verb_at:-}" in
    await | flush | pin | unpin) ;;
    *) [ -n "${!config_at:-}" ] && ZOOCFG="${!config_at}" ;;
esac
# shellcheck disable=SC2034 # for zkThisServer.sh
case "${!verb_at:-}" in
    start | start-foreground | stop | restart | status | await | flush | pin | unpin | print-config)
        reads_config=true
        ;;
    *) reads_config=false ;;
esac

. "$ZOOBINDIR/zkEnv.sh"
. "$ZOOBINDIR/zkThisServer.sh"

verb="${1:-}"

say() {
    echo "$*" >&2
}

jmx_flags() {
    case "${JMXDISABLE:-false}" in
        false | '') ;;
        *)
            say "Remote management (JMX) is off, because JMXDISABLE is set."
            return
            ;;
    esac
    [ -n "${JMXLOG4J:-}" ] && say "JMXLOG4J is ignored: the server logs with Logback."
    local flags="-Dcom.sun.management.jmxremote"
    flags="$flags -Dcom.sun.management.jmxremote.local.only=${JMXLOCALONLY:-false}"
    if [ -n "${JMXPORT:-}" ]; then
        say "Remote management (JMX) on port $JMXPORT, authenticate=${JMXAUTH:-false}, ssl=${JMXSSL:-false}."
        flags="$flags -Dcom.sun.management.jmxremote.port=$JMXPORT"
        flags="$flags -Dcom.sun.management.jmxremote.authenticate=${JMXAUTH:-false}"
        flags="$flags -Dcom.sun.management.jmxremote.ssl=${JMXSSL:-false}"
        if [ -n "${JMXHOSTNAME:-}" ]; then
            flags="$flags -Djava.rmi.server.hostname=$JMXHOSTNAME"
        fi
    fi
    echo "$flags"
}

# The jars of this distribution in an order that does not depend on the file system.
own_jars() {
    (
        LC_ALL=C
        set +f
        printf '%s:' "$ZOOKEEPER_PREFIX"/lib/*.jar
    )
}

# Which Java and which class path an archive is for, and its checksum. Given an archive of another
# version, Java does without its own one, too, and some print an error; given a damaged one, it crashes.
describe_archive() {
    ask_java
    printf '%s\n%s\n' "$java_said" "$(own_jars)"
    cksum <"$1"
}

# What else may not fit, such as a jar that was replaced or another option, Java itself notices and
# starts with its own archive. With a class path of the operator's, ours would not be in front.
archive_fits() {
    [ "$CLASSPATH" = "$ZOOCFGDIR:$ZOOKEEPER_PREFIX/lib/*" ] && archive_is_described
}

archive_is_described() {
    [ -f "$class_archive" ] && [ -r "$class_archive" ] &&
        [ -f "$class_archive.txt" ] && [ -r "$class_archive.txt" ] &&
        [ "$(describe_archive "$class_archive")" = "$(cat -- "$class_archive.txt")" ]
}

# Describes the archive $1 in the place where a start looks; $2 is a folder on the same file system.
put_description() {
    describe_archive "$1" >"$2/server.jsa.txt" &&
        chmod 644 "$2/server.jsa.txt" &&
        mv -f -- "$2/server.jsa.txt" "$class_archive.txt"
}

# Fills the array "command_line"; $1 is the log's place, CONSOLE or ROLLINGFILE.
build_command_line() {
    local main="${ZOOMAIN:-$(jmx_flags) org.apache.zookeeper.server.quorum.QuorumPeerMain}"
    local autocreate=()
    if [ -n "${ZOO_DATADIR_AUTOCREATE_DISABLE:-}" ]; then
        autocreate=(-Dzookeeper.datadir.autocreate=false)
    fi
    local class_path="$CLASSPATH" archive=()
    if archive_fits; then
        # The archive is of the jars alone, and Java takes it if they are in front.
        class_path="$(own_jars)$ZOOCFGDIR"
        archive=("-XX:SharedArchiveFile=$class_archive" "$quiet_archive")
    fi
    # shellcheck disable=SC2206 # the flag variables are lists of words
    command_line=(
        "$JAVA"
        "${autocreate[@]}"
        "-Dzookeeper.log.dir=$ZOO_LOG_DIR"
        "-Dzookeeper.log.file=$ZOO_LOG_FILE"
        "-Dsaucr.log.appender=$1"
        -XX:+HeapDumpOnOutOfMemoryError
        "-XX:HeapDumpPath=$ZOO_LOG_DIR"
        -XX:+ExitOnOutOfMemoryError
        "${archive[@]}"
        -cp "$class_path"
        $SERVER_JVMFLAGS
        $JVMFLAGS
        $main
        "$ZOOCFG"
    )
}

require_config() {
    require_config_file
    say "Using config: $ZOOCFG"
}

# Who may not read the pid file does not know whether the server runs.
require_pid_file() {
    local folder
    folder="$(dirname -- "$ZOOPIDFILE")"
    if { [ -e "$ZOOPIDFILE" ] && [ ! -r "$ZOOPIDFILE" ]; } || { [ -d "$folder" ] && [ ! -x "$folder" ]; }; then
        say "Error: $(id -un) cannot read $ZOOPIDFILE."
        exit 1
    fi
    if { [ -e "$ZOOPIDFILE" ] && [ ! -f "$ZOOPIDFILE" ]; } || { [ -L "$ZOOPIDFILE" ] && [ ! -e "$ZOOPIDFILE" ]; }; then
        say "Error: $ZOOPIDFILE is in the way: it must be a file, for the process id of the server. Move it away."
        exit 1
    fi
}

# Makes a folder and those above it, and notes in the array "made" which were missing.
make_folder() {
    local folder="$1" missing=()
    while [ ! -e "$folder" ]; do
        if [ -L "$folder" ]; then
            say "Error: $folder is a symbolic link to $(readlink -- "$folder"), which is not there."
            return 1
        fi
        missing=("$folder" "${missing[@]}")
        folder="$(dirname -- "$folder")"
    done
    for folder in "${missing[@]}"; do
        mkdir -- "$folder" || return 1
        made=("$folder" "${made[@]}")
    done
}

remove_made() {
    local folder
    for folder in "${made[@]}"; do
        rmdir -- "$folder" 2>/dev/null
    done
}

# Numbers of the sockets that process $1 has open.
sockets_of() {
    # shellcheck disable=SC2012 # these names are numbers
    LC_ALL=C ls -l "/proc/$1/fd" 2>/dev/null | sed -n 's/.* -> socket:\[\([0-9]*\)\]$/\1/p'
}

# True if process $1 itself listens on every port that follows. Where there is no /proc, if somebody does.
listens_on() {
    local pid="$1" wanted own
    shift
    if [ ! -r "/proc/$$/net/tcp" ]; then
        for wanted in "$@"; do
            is_open "$host" "$wanted" || return 1
        done
        return 0
    fi
    own="$( (sockets_of "$pid" && echo ports && listening_sockets "/proc/$pid") |
        awk '/^ports$/ { ports = 1; next } !ports { own[$1] = 1; next } $2 in own { print $1 }')"
    for wanted in "$@"; do
        case $'\n'"$own"$'\n' in
            *$'\n'"$(printf '%04X' "$wanted")"$'\n'*) ;;
            *) return 1 ;;
        esac
    done
}

# What the server at the plain port $port says to the word $1; nothing if it does not answer within two seconds.
ask_word() {
    (
        exec 3<>"/dev/tcp/$host/$port" || exit
        printf %s "$1" >&3
        while IFS= read -r -t 2 line <&3 || [ -n "$line" ]; do
            printf '%s\n' "$line"
        done
    ) 2>/dev/null
}

# Sets "state": empty as long as the server has not started, else what is said of it.
look_at_start() {
    state=""
    [ "${#ports[@]}" -gt 0 ] && listens_on "$1" "${ports[@]}" || return
    if [ -z "$plain_port" ]; then
        state="."
        return
    fi
    local answer
    answer="$(ask_word srvr)"
    case "$answer" in
        *Mode:*) state=". $(printf '%s\n' "$answer" | grep '^Mode: ')" ;;
        'This ZooKeeper instance is not'*)
            # One that is alone is still reading its data. Others have read it before they answer; what
            # they wait for may take as long as it likes.
            if in_ensemble; then
                state=", waiting for a quorum. \"$(basename -- "$0") await\" returns when it serves."
            fi
            ;;
        *'not executed'*) state="." ;;
    esac
}

# Why a server that has ended did so: in one line, from what it wrote to its log ($1) and its output ($2).
reason_of_end() {
    local reason
    reason="$(printf '%s\n' "$1" | awk '
        / - Exiting JVM with code / { error = 0; next }
        # What has made it leave was said before.
        / - (Leaving listener thread for address|As I.m leaving the listener thread)/ { error = 0; next }
        / ERROR / { said = $0; sub(/.* ERROR .*\] - /, "", said); first = ""; last = ""; error = 1; next }
        /^[0-9][0-9][0-9][0-9]-/ { error = 0; next }
        error && /^(Caused by: )?([[:alnum:]_]+\.)+[[:alnum:]_$]+(: |$)/ {
            sub(/^Caused by: /, "")
            last = $0
            if (first == "") first = $0
        }
        END {
            why = first
            sub(/^[^ ]+: /, "", why)
            cause = last
            sub(/^[^ ]+: /, "", cause)
            if (first == "") print said
            else if (sub(/^Exception while listening to address \/?/, "", said))
                print "Cannot listen for elections on " said ", as the line server.N of this server says: " why
            else if (last == first || index(why, cause)) print (why == "Address already in use" ? first : why)
            else print why " (" last ")"
        }')"
    # Java itself says first what it does not like.
    [ -n "$reason" ] || reason="$(printf '%s\n' "$2" | grep -v -e '^Picked up ' -e '^NOTE: Picked up ' -e ' warning: ' -e '^Error occurred during init' | head -n 1)"
    echo "${reason:-it gave no reason}"
}

start_failed() {
    local code="$1" out="$2" written="$3" printed reason owners how="exit code $1"
    remove_made
    printed="$(cat -- "$out" 2>/dev/null)"
    [ "$code" -gt 128 ] && how="ended by signal $((code - 128)), $(kill -l $((code - 128)) 2>/dev/null)"
    reason="$(reason_of_end "$written" "$printed")"
    case "$written$printed" in
        *'Address already in use'*)
            case "$reason" in
                *AdminServer*)
                    ports=("$(value_of admin.serverPort)")
                    ports=("${ports[0]:-8080}")
                    ;;
                *MetricsProvider*)
                    ports=("$(value_of metricsProvider.httpPort)" "$(value_of metricsProvider.httpsPort)")
                    ;;
                *'agent : '*) ports=("${JMXPORT:-}") ;;
            esac
            owners="$(name_port_owners "${ports[@]}")"
            [ -n "$owners" ] && reason="$reason; ${owners//$'\n'/; }"
            ;;
    esac
    say "Starting the server ... FAILED ($how): $reason"
    if [ -n "$printed" ]; then
        say "The last lines of its output $out:"
        printf '%s\n' "$printed" | tail -n 5 >&2
    fi
    if [ -n "$written" ]; then
        say "The last lines of its log $log:"
        printf '%s\n' "$written" | tail -n 20 >&2
    fi
    exit 1
}

# What the file $1 has beyond its first $2 bytes; all of it if it was replaced by a shorter one.
written_since() {
    [ -f "$1" ] || return 0
    local from="$2"
    [ "$(wc -c <"$1")" -ge "$from" ] || from=0
    tail -c "+$((from + 1))" -- "$1"
}

# Ends the script if $2, which $1 says, is no number of seconds.
require_seconds() {
    case "$2" in
        '' | *[!0-9]* | ??????????*)
            say "Error: $1 is '$2'; it must be a number of seconds."
            exit 1
            ;;
    esac
}

start_background() {
    local limit="${ZOO_START_TIMEOUT:-120}"
    require_seconds ZOO_START_TIMEOUT "$limit"
    require_config
    require_java_17
    require_pid_file
    local pid
    if pid="$(running_pid)"; then
        say "Error: the server is already running as process $pid ($ZOOPIDFILE)."
        exit 1
    fi
    if [ -f "$ZOOPIDFILE" ]; then
        if ! remove_stale_pid_file; then
            say "Error: the server is already being started, as process $pid ($ZOOPIDFILE)."
            exit 1
        fi
        say "Removing $ZOOPIDFILE: the process that it names is not a running server."
    fi
    if [ -n "$data_dir" ] && [ ! -d "$data_dir" ] && [ -n "${ZOO_DATADIR_AUTOCREATE_DISABLE:-}" ]; then
        say "Error: dataDir $data_dir does not exist, and ZOO_DATADIR_AUTOCREATE_DISABLE forbids to create it."
        exit 1
    fi
    mkdir -p -- "$ZOO_LOG_DIR" || exit 1
    local out="$ZOO_LOG_DIR/${ZOO_LOG_FILE%.log}.out" log="$ZOO_LOG_DIR/$ZOO_LOG_FILE"
    if ! { : >>"$out"; } 2>/dev/null; then
        say "Error: $(id -un) cannot write $out; no server was started."
        exit 1
    fi
    if [ -e "$log" ] && [ ! -w "$log" ]; then
        say "Warning: $(id -un) cannot write $log; the server will have no log."
    fi
    local made=()
    make_folder "$(dirname -- "$ZOOPIDFILE")" || exit 1
    local logged=0
    [ -f "$log" ] && logged="$(wc -c <"$log")"
    local host port tls ports plain_port state
    find_client_address
    find_ports
    build_command_line ROLLINGFILE
    # Of two who start it at once, the one that makes the file goes on. A process of its own makes it,
    # whose command line has the server's in it: so whoever reads the file finds this server.
    # shellcheck disable=SC2016 # for the process to expand
    "$BASH" -c 'set -o noclobber
        { echo "$$" >"$0"; } 2>/dev/null || exit 1
        set +o noclobber
        exec nohup "${@:2}" >"$1" 2>&1 </dev/null' "$ZOOPIDFILE" "$out" "${command_line[@]}" &
    pid=$!
    local deadline=$((SECONDS + 10#$limit)) named went_on=false
    while true; do
        sleep 0.1
        named="$(head -n 1 "$ZOOPIDFILE" 2>/dev/null)"
        [ "$named" = "$pid" ] && went_on=true
        if ! kill -0 "$pid" 2>/dev/null; then
            wait "$pid"
            local code=$?
            if [ "$went_on" = false ]; then
                if [ -n "$named" ]; then
                    say "Error: the server is already being started, as process $named ($ZOOPIDFILE)."
                else
                    local why
                    why="$( { echo "$$" >"$ZOOPIDFILE.$$"; } 2>&1)"
                    rm -f -- "$ZOOPIDFILE.$$"
                    remove_made
                    say "Error: $(id -un) cannot write $ZOOPIDFILE${why:+: ${why##*: }}; no server was started."
                fi
                exit 1
            fi
            [ "$named" = "$pid" ] && remove_stale_pid_file
            start_failed "$code" "$out" "$(written_since "$log" "$logged")"
        fi
        look_at_start "$pid"
        # It must still be there after it has answered.
        if [ -n "$state" ] && kill -0 "$pid" 2>/dev/null; then
            break
        fi
        if [ "$SECONDS" -ge "$deadline" ]; then
            say "Starting the server ... NOT STARTED after $limit s (ZOO_START_TIMEOUT): process $pid runs, but does" \
                "not answer on its ports (${ports[*]:-none is configured}). It is left alone: see $log and $out, or end it by" \
                "\"$(basename -- "$0") stop\"."
            exit 1
        fi
    done
    echo "Starting the server ... STARTED (process $pid)$state"
}

start_foreground() {
    require_config
    require_java_17
    mkdir -p -- "$ZOO_LOG_DIR" || exit 1
    build_command_line CONSOLE
    local pid
    if running_pid >/dev/null; then
        exec "${command_line[@]}"
    fi
    [ -n "${ZOO_DATADIR_AUTOCREATE_DISABLE:-}" ] || mkdir -p -- "$(dirname -- "$ZOOPIDFILE")"
    # A user who can write the file, but cannot replace it, overwrites it.
    local clobber=-o
    if [ -f "$ZOOPIDFILE" ] && [ ! -w "$(dirname -- "$ZOOPIDFILE")" ]; then
        clobber=+o
    elif [ -f "$ZOOPIDFILE" ]; then
        remove_stale_pid_file || exec "${command_line[@]}"
    fi
    # This process becomes the server: the other commands find it here, as soon as the file is there.
    # shellcheck disable=SC2016 # for the process to expand
    exec "$BASH" -c 'set "$1" noclobber
        { { [ -f "$0" ] || [ ! -e "$0" ]; } && echo "$$" >"$0"; } 2>/dev/null ||
            echo "Cannot write $0: stop, flush, pin and unpin will not find this server." >&2
        set +o noclobber
        exec "${@:2}"' "$ZOOPIDFILE" "$clobber" "${command_line[@]}"
}

# Removes a pid file that names no running server. Another start may replace the file at any time, so the file is moved and
# read again. If it names this server, it is put back, "pid" is set, and the result is 1.
remove_stale_pid_file() {
    local moved="$ZOOPIDFILE.$$" tries=0
    if ! mv -f -- "$ZOOPIDFILE" "$moved" 2>/dev/null; then
        [ -e "$ZOOPIDFILE" ] || return 0
        say "Error: $(id -un) cannot remove $ZOOPIDFILE."
        exit 1
    fi
    # A new one is empty for a moment.
    while [ ! -s "$moved" ] && [ "$tries" -lt 10 ]; do
        sleep 0.1
        tries=$((tries + 1))
    done
    if pid="$(ZOOPIDFILE="$moved" running_pid)"; then
        # Some file systems have no hard links.
        ln -- "$moved" "$ZOOPIDFILE" 2>/dev/null || mv -n -- "$moved" "$ZOOPIDFILE"
        rm -f -- "$moved"
        return 1
    fi
    rm -f -- "$moved"
}

# SIGTERM and nothing stronger: on SIGTERM the server writes what it has in memory.
stop_server() {
    require_seconds ZOO_STOP_TIMEOUT "${ZOO_STOP_TIMEOUT:-60}"
    require_pid_file
    local pid stopped
    if ! pid="$(running_pid)"; then
        if [ ! -f "$ZOOPIDFILE" ]; then
            echo "No server to stop: there is no file $ZOOPIDFILE."
            return 0
        fi
        # It may be one that has just been started.
        if remove_stale_pid_file; then
            echo "No server to stop: the process that $ZOOPIDFILE named was not running; file removed."
            return 0
        fi
    fi
    stopped="$pid"
    if ! kill -TERM "$pid" 2>/dev/null && [ -n "$(running_pid)" ]; then
        say "Error: the server's process $pid runs as another user; $(id -un) cannot end it."
        exit 1
    fi
    local limit=$((10 * 10#${ZOO_STOP_TIMEOUT:-60})) tenths=0
    # Who starts it again meanwhile puts another number into the file, and that one stays.
    while [ "$(running_pid)" = "$pid" ]; do
        if [ "$tenths" -ge "$limit" ]; then
            say "Error: process $pid still runs ${ZOO_STOP_TIMEOUT:-60} s after SIGTERM (ZOO_STOP_TIMEOUT)."
            exit 1
        fi
        sleep 0.1
        tenths=$((tenths + 1))
    done
    echo "Stopping the server ... STOPPED (process $stopped)"
    [ "$(named_pid)" != "$stopped" ] || remove_stale_pid_file || true
}

require_client_address() {
    find_client_address
    if [ -z "$port" ]; then
        local problem
        problem="$(value_of @problem)"
        if [ -n "$problem" ]; then
            say "Error: $problem."
            exit 1
        fi
        say "Error: no client port in $ZOOCFG (clientPort, secureClientPort or ';port' in the line server.N)."
        exit 1
    fi
}

# Sets answer and mode to what the server at host and port says. Where that takes a JVM, and it fails, "failure"
# has its last words.
ask_for_mode() {
    failure=""
    if [ "$tls" = false ]; then
        answer="$(ask_word srvr)"
    else
        # shellcheck disable=SC2086 # the flag variables are lists of words
        answer="$("$JAVA" -Dsaucr.log.level=ERROR -cp "$CLASSPATH" $CLIENT_JVMFLAGS $JVMFLAGS \
            org.apache.zookeeper.client.FourLetterWordMain "$host" "$port" srvr "$tls" 2>&1)"
        case "$answer" in
            *'Zookeeper version:'* | 'This ZooKeeper instance is not'* | *'not executed'*) ;;
            *)
                failure="$(printf '%s\n' "$answer" | grep -v -E '^(NOTE: )?Picked up |^[[:space:]]*at |^$' | head -n 1)"
                answer=""
                ;;
        esac
    fi
    mode="$(printf '%s\n' "$answer" | grep '^Mode: ')"
}

# A value of mntr, of the answer $1.
mntr_value() {
    printf '%s\n' "$1" | sed -n "s/^$2\t//p" | head -n 1
}

# What keeps a server from serving, from its answer to srvr.
why_not_serving() {
    case "$answer" in
        'This ZooKeeper instance is not'*) ;;
        *)
            echo "it listens on port $port, but does not answer${failure:+: $failure}"
            return
            ;;
    esac
    local said="" needed missing
    [ "$tls" = true ] || said="$(ask_word mntr)"
    if [ "$(mntr_value "$said" zk_saucr_recovery_state)" = 1 ]; then
        needed="$(mntr_value "$said" zk_saucr_recovery_needed)"
        missing="$(mntr_value "$said" zk_saucr_recovery_missing)"
        if [ "${needed:-0}" = 0 ]; then
            echo "it recovers, at $(mntr_value "$said" zk_saucr_recovery_last_logged) of" \
                "$(mntr_value "$said" zk_saucr_recovery_through)"
        else
            echo "it recovers, and needs answers of $needed more servers; no answer from $missing"
        fi
    elif in_ensemble; then
        echo "it waits for a leader: enough of the servers $(value_of @members) must run and reach each other"
    else
        echo "it reads its data"
    fi
}

# Fails unless the server's process runs. systemd sets MAINPID; the pid file may not be there yet then.
require_process() {
    local pid
    if [ -n "${MAINPID:-}" ]; then
        is_alive "$MAINPID" || {
            say "Error: the server's process $MAINPID has ended."
            exit 1
        }
        running="$MAINPID"
        return
    fi
    require_pid_file
    if pid="$(running_pid)"; then
        running="$pid"
    elif [ -n "$running" ]; then
        say "Error: the server's process $running has ended; its log says why ($ZOO_LOG_DIR)."
        exit 1
    else
        say "Error: no server runs here: nothing listens on port $port of $host, and $ZOOPIDFILE names no process" \
            "of this server. \"$(basename -- "$0") start\" starts it."
        exit 1
    fi
}

# A recovering server waits for others as long as it takes, so this does, too.
await_serving() {
    [ -z "$1" ] || require_seconds "SECONDS of await" "$1"
    require_config
    local host port tls answer failure mode limit="$1" reason running="" next_word=$((SECONDS + 10))
    require_client_address
    while true; do
        if is_open "$host" "$port"; then
            ask_for_mode
            if [ -n "$mode" ]; then
                echo "$mode"
                exit 0
            fi
            case "$answer" in
                *'not executed'*)
                    say "Error: whether the server serves is not known: srvr is not in its 4lw.commands.whitelist."
                    exit 1
                    ;;
            esac
            reason="$(why_not_serving)"
            # It may be one that these scripts have not started.
            if [ -n "${MAINPID:-}" ]; then
                require_process
            else
                running="$(running_pid)"
            fi
        else
            require_process
            reason="process $running does not listen on port $port of $host yet"
        fi
        if [ -n "$limit" ] && [ "$SECONDS" -ge "$limit" ]; then
            say "Error: the server does not serve after $limit s: $reason."
            exit 1
        fi
        if [ "$SECONDS" -ge "$next_word" ]; then
            say "Waiting for the server: $reason."
            next_word=$((SECONDS + 10))
        fi
        sleep 0.5
    done
}

# To the process itself: that works without the AdminServer, and while the server does not serve.
order() {
    require_pid_file
    local pid
    if ! pid="$(running_pid)"; then
        say "Error: no server runs here ($ZOOPIDFILE)."
        exit 1
    fi
    # shellcheck disable=SC2086 # the flag variables are lists of words
    "$JAVA" -Dsaucr.log.level=ERROR -cp "$CLASSPATH" $CLIENT_JVMFLAGS $JVMFLAGS \
        io.saucr.server.tool.LocalOrder "$pid" "$1" "${2:-${USER:-$(id -un)} ran zkServer.sh $1}" || exit 1
}

status() {
    require_config
    local host port tls answer failure mode
    require_client_address
    echo "Client port found: $port. Client address: $host. Client SSL: $tls."
    ask_for_mode
    if [ -n "$mode" ]; then
        echo "$mode"
        if [ "$(value_of saucr.enabled)" = true ]; then
            # Exit code 1 is an answer: the mode is unknown, and the tool says why on the other output.
            local saucr_mode code
            saucr_mode="$(ZOOCFGDIR="$ZOOCFGDIR" "$ZOOBINDIR/saucr" mode --brief --config "$ZOOCFG")"
            code=$?
            if [ "$code" -gt 1 ] || [ -z "$saucr_mode" ]; then
                say "Error: the server serves, but its mode is not known: bin/saucr failed with exit code $code."
                exit 1
            fi
            echo "SAUCR mode: $saucr_mode"
        fi
        exit 0
    fi
    if printf '%s\n' "$answer" | grep -q '^This ZooKeeper instance is not'; then
        say "Error: the server answers, but does not serve at present: $(why_not_serving)."
    elif local pid && pid="$(running_pid)"; then
        say "Error contacting the server. Process $pid runs, but does not answer${failure:+: $failure}."
    else
        say "Error contacting the server. It is probably not running${failure:+: $failure}."
    fi
    exit 1
}

print_version() {
    # shellcheck disable=SC2086 # the flag variables are lists of words
    "$JAVA" -Dsaucr.log.level=ERROR -cp "$CLASSPATH" $CLIENT_JVMFLAGS $JVMFLAGS \
        org.apache.zookeeper.version.VersionInfoMain || exit 1
    local jar
    set +f
    for jar in "$ZOOKEEPER_PREFIX"/lib/saucr-zookeeper-server-*.jar; do
        jar="$(basename -- "$jar" .jar)"
        echo "with SAUCR ZooKeeper, version ${jar#saucr-zookeeper-server-}"
    done
}

make_class_archive() {
    require_java_17
    local lib="$ZOOKEEPER_PREFIX/lib" work
    if ! work="$(mktemp -d "$lib/class-archive.XXXXXX" 2>&1)"; then
        say "Error: $(id -un) cannot write to $lib, where the class archive belongs: $work"
        say "Run this as a user who can. The servers of all users use the archive."
        exit 1
    fi
    # shellcheck disable=SC2064 # the folder of now
    trap "rm -rf -- '$work'" EXIT
    trap 'exit 1' HUP INT TERM
    # Of the options only those that decide which of Java's own archives this one is built upon:
    # others may name ports and files of a server that runs.
    local word options=()
    for word in $SERVER_JVMFLAGS $JVMFLAGS; do
        case "$word" in
            -Xmx* | -XX:MaxRAM* | -XX:+Unlock* | -XX:+Use*GC | -XX:[+-]UseCompressed* | -XX:ObjectAlignmentInBytes=*)
                options+=("$word")
                ;;
        esac
    done
    say "Starting three servers in one process, on the loopback address, to see which classes a server uses."
    local jars
    jars="$(own_jars)"
    if ! "$JAVA" "-XX:ArchiveClassesAtExit=$work/server.jsa" "$quiet_archive" \
        -Dlogback.configurationFile=io/saucr/server/tool/class-archive-logback.xml \
        "-Dzookeeper.log.dir=$work" \
        -Dcom.sun.management.jmxremote -Dcom.sun.management.jmxremote.local.only=false \
        "${options[@]}" -cp "${jars%:}" \
        io.saucr.server.tool.ClassArchiveRun "$work" >"$work/out" 2>&1 </dev/null ||
        [ ! -s "$work/server.jsa" ]; then
        say "Error: no class archive was made. The last lines of the output:"
        tail -n 20 -- "$work/out" >&2
        exit 1
    fi
    # Between the two renames a start finds a description of another archive, and does without.
    chmod 644 "$work/server.jsa" &&
        put_description "$work/server.jsa" "$work" &&
        mv -f -- "$work/server.jsa" "$class_archive" || exit 1
    # Two who make it at once may have put the description of one beside the archive of the other.
    until archive_is_described; do
        put_description "$class_archive" "$work" || exit 1
    done
    echo "Made $class_archive, $(($(wc -c <"$class_archive") / 1000000)) MB, for $(printf '%s\n' "$java_said" | tail -n 1)"
    archive_fits || say "It is not used as long as CLASSPATH is set."
}

class_archive="$ZOOKEEPER_PREFIX/lib/server.jsa"
# Java warns of an archive that it cannot use; the server runs as well without.
quiet_archive=-Xlog:cds=off,cds+dynamic=off
ZOO_LOG_FILE="${ZOO_LOG_FILE:-zookeeper-${USER:-$(id -un)}-server-${HOSTNAME:-$(uname -n)}.log}"

case "$verb" in
    start) start_background ;;
    start-foreground) start_foreground ;;
    stop) stop_server ;;
    restart)
        # What would keep it from starting again must be said before it is stopped.
        require_seconds ZOO_START_TIMEOUT "${ZOO_START_TIMEOUT:-120}"
        require_config_file
        require_java_17
        stop_server
        start_background
        ;;
    status) status ;;
    await) await_serving "${2:-}" ;;
    flush | pin | unpin) order "$verb" "${2:-}" ;;
    print-cmd)
        build_command_line ROLLINGFILE
        printf '%q ' "${command_line[@]}"
        printf '> %q 2>&1 < /dev/null\n' "$ZOO_LOG_DIR/${ZOO_LOG_FILE%.log}.out"
        ;;
    print-config)
        require_config_file
        printf '%s\n' "$config_said"
        ;;
    version) print_version ;;
    class-archive) make_class_archive ;;
    *) usage ;;
esac
