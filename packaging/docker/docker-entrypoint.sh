#!/usr/bin/env bash
# Entry point of the image. Before a server starts it writes zoo.cfg and myid from the environment. Files
# that are there already are kept. Every value is checked before anything is written; the variables are
# listed in docs/operate/packaging.md. "health" says whether the server serves; another command is run as it is.
# Words of a variable are no file patterns.
set -euf -o pipefail

fail() {
    printf 'docker-entrypoint: %s\n' "$1" >&2
    shift
    [ $# -eq 0 ] || printf '  %s\n' "$@" >&2
    exit 1
}

if [ $# -eq 0 ]; then
    fail "no command; the usual one is: zkServer.sh start-foreground"
fi
conf_dir="${ZOO_CONF_DIR:-/conf}"
config_file="$conf_dir/zoo.cfg"

# The value of a key in "config", as the server reads it: the last one.
value_of() {
    sed -n -E "s/^[[:space:]]*${1//./\\.}[[:space:]]*[=:][[:space:]]*(.*[^[:space:]])[[:space:]]*\$/\1/p" \
        <<<"$config" | tail -n 1
}

# Asks the AdminServer of this container for /readyz, without another process than this shell. The exit status is 0 if the
# server serves.
health() {
    local host port status answer
    config="$(cat -- "$config_file")" || exit 1
    [ "$(value_of admin.enableServer)" != false ] || fail "$config_file has admin.enableServer=false; health needs the AdminServer"
    port="$(value_of admin.serverPort)"
    host="$(value_of admin.serverAddress)"
    case "$host" in
        '' | 0.0.0.0 | ::) host=127.0.0.1 ;;
        \[*\]) host="${host:1:${#host}-2}" ;;
    esac
    exec 3<>"/dev/tcp/$host/${port:-8080}" || exit 1
    printf 'GET /readyz HTTP/1.0\r\n\r\n' >&3
    read -r _ status _ <&3 || fail "no answer from $host, port ${port:-8080}"
    answer="$(sed $'1,/^\r$/d' <&3)"
    printf '%s\n' "$answer"
    [ "$status" = 200 ] || exit 1
}

if [ "$1" = health ]; then
    health
    exit 0
fi
if [ "$(basename -- "$1")" != zkServer.sh ] || [ "${2:-}" != start-foreground ]; then
    exec "$@"
fi

# Variable, key of zoo.cfg, kind of value, default ("-" if the key is left out).
readonly settings='
ZOO_TICK_TIME                            tickTime                              positive  2000
ZOO_INIT_LIMIT                           initLimit                             positive  10
ZOO_SYNC_LIMIT                           syncLimit                             positive  5
ZOO_DATA_DIR                             dataDir                               folder    /data
ZOO_DATA_LOG_DIR                         dataLogDir                            folder    /datalog
ZOO_MAX_CLIENT_CNXNS                     maxClientCnxns                        count     60
ZOO_AUTOPURGE_SNAPRETAINCOUNT            autopurge.snapRetainCount             positive  3
ZOO_AUTOPURGE_PURGEINTERVAL              autopurge.purgeInterval               count     24
ZOO_STANDALONE_ENABLED                   standaloneEnabled                     boolean   true
ZOO_ADMINSERVER_ENABLED                  admin.enableServer                    boolean   true
ZOO_4LW_COMMANDS_WHITELIST               4lw.commands.whitelist                list      srvr,mntr,ruok
SAUCR_ENABLED                            saucr.enabled                         boolean   -
SAUCR_HEARTBEAT_INTERVAL                 saucr.heartbeatInterval               duration  -
SAUCR_MISSED_HEARTBEATS_BEFORE_ELECTION  saucr.missedHeartbeatsBeforeElection  positive  -
SAUCR_FAST_MODE_CONFIRMATIONS            saucr.fastModeConfirmations           positive  -
SAUCR_BACKGROUND_FLUSH_INTERVAL          saucr.backgroundFlushInterval         duration  -
SAUCR_IDLE_FLUSH                         saucr.idleFlush                       duration  -
SAUCR_DISK_TIMEOUT                       saucr.diskTimeout                     duration  -
SAUCR_COMMITTED_LOG_MEGABYTES            saucr.committedLogMegabytes           positive  -
SAUCR_SLOW_REQUEST_TIME                  saucr.slowRequestTime                 limit     -
SAUCR_ENSEMBLE_NAME                      saucr.ensembleName                    name      -
SAUCR_ADMIN_SERVERS                      saucr.adminServers                    list      -
'

# What is neither in the table nor an error: of the scripts, and of bin/saucr. ZOO_LOG4J_PROP is of older
# images and does nothing here.
readonly other_variables='
ZOO_MY_ID ZOO_SERVERS ZOO_CFG_EXTRA ZOO_CONF_DIR ZOO_LOG_DIR ZOO_LOG_FILE ZOO_START_TIMEOUT
ZOO_STOP_TIMEOUT ZOO_DATADIR_AUTOCREATE_DISABLE ZOO_LOG4J_PROP SAUCR_FIRST_ID SAUCR_ENDPOINTS SAUCR_ADMIN
SAUCR_AUTH SAUCR_TIMEOUT
'

# Kubernetes describes each service of a namespace in variables, whatever its name is.
readonly service_link='_SERVICE_HOST$|_SERVICE_PORT(_.*)?$|_PORT$|_PORT_[0-9]+_(TCP|UDP|SCTP)(_.*)?$'

refuse_unknown_variables() {
    local known name
    known=" $(awk '{ print $1 }' <<<"$settings" | tr '\n' ' ') ${other_variables//$'\n'/ } "
    while read -r name; do
        if [[ "$name" =~ ^(ZOO|SAUCR)_ ]] && ! [[ "$name" =~ $service_link ]] &&
            [[ "$known" != *" $name "* ]]; then
            fail "unknown variable $name; known are:" "$(tr -s ' ' '\n' <<<"$known" | sort | xargs)"
        fi
    done < <(compgen -e)
}

# check VARIABLE KIND VALUE
check() {
    local pattern allowed
    case "$2" in
        positive) pattern='^[1-9][0-9]{0,8}$' allowed='a whole number from 1 on' ;;
        count) pattern='^(0|[1-9][0-9]{0,8})$' allowed='a whole number from 0 on' ;;
        boolean) pattern='^(true|false)$' allowed='true or false' ;;
        folder) pattern='^/[^[:space:]]*$' allowed='an absolute path without blanks' ;;
        duration) pattern='^[0-9]{1,9}(us|ms|s|m|h)?$' allowed='a number with us, ms, s, m or h; ms if it has none' ;;
        limit) pattern='^(off|[0-9]{1,9}(us|ms|s|m|h)?)$' allowed='off, or a number with us, ms, s, m or h; ms if it has none' ;;
        name) pattern='^[A-Za-z0-9._-]{1,64}$' allowed='at most 64 letters, digits, dots, dashes and underscores' ;;
        list) pattern='^[^[:space:]]+$' allowed='words with commas between them, without blanks' ;;
    esac
    [[ "$3" =~ $pattern ]] || fail "$1='$3'" "allowed: $allowed"
}

readonly host='([A-Za-z0-9_.-]+|\[[0-9A-Fa-f:]+\])'
readonly quorum_address="$host:[0-9]{1,5}:[0-9]{1,5}"
readonly server_line="^server\\.([0-9]{1,3})=$quorum_address(\\|$quorum_address)*(:(participant|observer))?(;($host:)?[0-9]{1,5})?\$"

check_servers() {
    local word number seen=' '
    for word in "$@"; do
        [[ "$word" =~ $server_line ]] || fail "ZOO_SERVERS has '$word'" \
            'allowed: server.ID=HOST:QUORUM-PORT:ELECTION-PORT[:participant|:observer];CLIENT-PORT, blanks between servers'
        number="${BASH_REMATCH[1]}"
        check_id "ZOO_SERVERS: server.$number" "$number"
        [[ "$seen" != *" $number "* ]] || fail "ZOO_SERVERS names server.$number twice"
        seen="$seen$number "
        while read -r number; do
            [ "$((10#$number))" -ge 1 ] && [ "$((10#$number))" -le 65535 ] ||
                fail "ZOO_SERVERS has '$word'" "port $number: allowed are 1 to 65535"
        done < <(sed -E 's/\[[^]]*\]//g' <<<"$word" | grep -o -E '[:;][0-9]+' | tr -d ':;')
        [[ "$word" == *\;* ]] || [ -n "$(extra_value clientPort)$(extra_value secureClientPort)" ] ||
            fail "ZOO_SERVERS has '$word', a server without a port for clients" "append it: '$word;2181'"
    done
}

# check_id WHERE VALUE
check_id() {
    [[ "$2" =~ ^[1-9][0-9]{0,2}$ ]] && [ "$2" -le 255 ] || fail "$1: '$2' is no server's id" 'allowed: 1 to 255'
}

# The value of a key in ZOO_CFG_EXTRA; the last one, if there are several.
extra_value() {
    local word value=''
    for word in ${ZOO_CFG_EXTRA:-}; do
        [[ "$word" != "$1="* ]] || value="${word#*=}"
    done
    printf '%s' "$value"
}

# Sets "config" to what the variables say.
describe() {
    local variable key kind preset word
    for word in ${ZOO_CFG_EXTRA:-}; do
        [[ "$word" =~ ^[A-Za-z0-9][A-Za-z0-9._-]*=.+$ ]] || fail "ZOO_CFG_EXTRA has '$word'" \
            'allowed: KEY=VALUE, blanks between them and none in them'
    done
    while read -r variable key kind preset; do
        [ -n "$variable" ] || continue
        if [ -n "${!variable:-}" ]; then
            check "$variable" "$kind" "${!variable}"
            [ -z "$(extra_value "$key")" ] ||
                fail "$variable and ZOO_CFG_EXTRA both say what $key is" 'leave one of them out'
            config="$config$key=${!variable}"$'\n'
        elif [ "$preset" != - ] && [ -z "$(extra_value "$key")" ]; then
            config="$config$key=$preset"$'\n'
        fi
    done <<<"$settings"
    for word in ${ZOO_CFG_EXTRA:-}; do
        config="$config$word"$'\n'
    done
    # shellcheck disable=SC2086 # words
    check_servers ${ZOO_SERVERS:-}
    for word in ${ZOO_SERVERS:-server.1=localhost:2888:3888;2181}; do
        config="$config$word"$'\n'
    done
    local voters
    voters="$(server_ids | wc -l)"
    voters=$((voters - $(grep -c -E '^server\..*:observer(;|$)' <<<"$config" || true)))
    if [ "$(value_of saucr.enabled)" = true ] && [ "$voters" -lt 3 ]; then
        fail "saucr.enabled=true needs at least 3 voters; ZOO_SERVERS has $voters"
    fi
}

# Sets "config" to what the file says, as the server reads it: a key on each line, and the servers' lines,
# which may stand in a file of their own. $1 is the script that starts the server.
read_config() {
    local said number
    said="$(ZOOCFGDIR="$conf_dir" ZOOCFG=zoo.cfg "$1" print-config)" || exit 1
    config="$(grep -v '^@' <<<"$said" | sed $'s/\t/=/')"
    while read -r number; do
        [ -z "$number" ] || grep -q "^server\.$number=" <<<"$config" || config="$config"$'\n'"server.$number="
    done < <(sed -n $'s/^@members\t//p' <<<"$said" | tr ' ' '\n')
}

server_ids() {
    sed -n -E 's/^[[:space:]]*server\.([0-9]+)[[:space:]]*[=:].*/\1/p' <<<"$config"
}

# Sets "id" to this server's, and "id_from" to what says so.
find_id() {
    local known
    id='' id_from=''
    if [ -n "${ZOO_MY_ID:-}" ]; then
        id="$ZOO_MY_ID" id_from=ZOO_MY_ID
        check_id ZOO_MY_ID "$id"
    elif [ -n "${SAUCR_FIRST_ID:-}" ]; then
        check_id SAUCR_FIRST_ID "$SAUCR_FIRST_ID"
        [[ "$HOSTNAME" =~ -([0-9]{1,3})$ ]] || fail "SAUCR_FIRST_ID needs a host name that ends with -NUMBER" \
            "this host is '$HOSTNAME'"
        id=$((SAUCR_FIRST_ID + 10#${BASH_REMATCH[1]})) id_from="the host name $HOSTNAME with SAUCR_FIRST_ID"
        check_id "$id_from" "$id"
    fi
    if [ -e "$my_id_file" ]; then
        known="$(tr -d '[:space:]' <"$my_id_file")"
        [ -n "$known" ] || fail "$my_id_file is empty" \
            "Write into it which server's volume this is; known are: $(server_ids | xargs). Nothing was changed."
        if [ -n "$id" ] && [ "$id" != "$known" ]; then
            fail "$my_id_file says that this is server $known; $id_from says $id" \
                'A volume belongs to one server for ever. Nothing was changed.'
        fi
        id="$known" id_from="$my_id_file"
    elif [ -z "$id" ]; then
        known="$(server_ids)"
        [ "$(wc -w <<<"$known")" -le 1 ] ||
            fail "which of the servers is this? Set ZOO_MY_ID, a number of its own for each" "known are:" "$(xargs <<<"$known")"
        id="${known:-1}" id_from='the only server'
    fi
    if [ -n "$(server_ids)" ] && ! server_ids | grep -q -x -F -e "$id"; then
        fail "there is no server.$id" "$id_from says that this is server $id; known are: $(server_ids | xargs)"
    fi
}

require_folder() {
    { [ -d "$1" ] || mkdir -p -- "$1" 2>/dev/null; } && [ -w "$1" ] ||
        fail "user $(id -u) cannot write in the folder $1" \
            "Give it to that user: chown -R $(id -u):$(id -g); in Kubernetes, fsGroup: $(id -g)."
}

# put FILE TEXT: the whole file or nothing, also after a loss of power, and never over another one.
put() {
    local new
    new="$(mktemp -- "$1.XXXXXX")"
    printf '%s' "$2" >"$new"
    chmod 644 -- "$new"
    if ! sync -- "$new"; then
        rm -f -- "$new"
        fail "$1 cannot be synced to disk"
    fi
    mv -n -- "$new" "$1"
    if [ -e "$new" ]; then
        rm -f -- "$new"
        fail "$1 appeared while this ran"
    fi
}

refuse_unknown_variables
config=''
write_config=false
if [ -e "$config_file" ]; then
    [ -r "$config_file" ] || fail "user $(id -u) cannot read $config_file"
    unused=''
    for variable in $(awk '{ print $1 }' <<<"$settings") ZOO_SERVERS ZOO_CFG_EXTRA; do
        [ -z "${!variable:-}" ] || unused="$unused $variable"
    done
    [ -z "$unused" ] || printf 'docker-entrypoint: %s is kept as it is; not used:%s\n' "$config_file" "$unused" >&2
    read_config "$1"
else
    describe
    write_config=true
fi
data_dir="$(value_of dataDir)"
[ -n "$data_dir" ] || fail "$config_file has no dataDir"
data_log_dir="$(value_of dataLogDir)"
my_id_file="$data_dir/myid"
find_id

require_folder "$data_dir"
[ -z "$data_log_dir" ] || require_folder "$data_log_dir"
if [ "$write_config" = true ]; then
    require_folder "$conf_dir"
    put "$config_file" "$config"
fi
[ -e "$my_id_file" ] || put "$my_id_file" "$id"$'\n'

export ZOOCFGDIR="$conf_dir"
# Without a file logback writes everything that it is told, at the finest level.
if [ ! -e "$conf_dir/logback.xml" ]; then
    home="$(dirname -- "$(dirname -- "$(readlink -f -- "$(command -v -- "$1")")")")"
    export SERVER_JVMFLAGS="${SERVER_JVMFLAGS:-} -Dlogback.configurationFile=$home/conf/logback.xml"
fi
exec "$@"
