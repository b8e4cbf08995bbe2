#!/usr/bin/env bash
# One server of an ensemble as a pod of a StatefulSet, and the ensemble's size: the Helm chart of packaging/kubernetes runs
# it, docs/operate/kubernetes.md describes it.
#   pod.sh start             writes zoo.cfg next to the data, then becomes the server
#   pod.sh scale-up N        makes the servers 1 to N voters; their pods must exist
#   pod.sh scale-down N      removes the members above N; their pods may be deleted afterwards
#   pod.sh saucr WORD...     runs bin/saucr with the endpoints and the credentials of this ensemble
set -euf -o pipefail

fail() {
    printf 'pod: %s\n' "$1" >&2
    shift
    [ $# -eq 0 ] || printf '  %s\n' "$@" >&2
    exit 1
}

say() {
    printf 'pod: %s\n' "$1"
}

# As many pods as a StatefulSet of the chart can have.
readonly most_servers=7

# The line of a server, with {id} and {ordinal} for its numbers. The ordinal of a pod is that of its name, from 0 on.
member="${POD_MEMBER:?POD_MEMBER is the line of a server: server.{id\}=HOST-{ordinal\}:2888:3888}"
# How many servers the ensemble had when it was made.
initial="${POD_INITIAL_SERVERS:?POD_INITIAL_SERVERS is the number of servers that the ensemble begins with}"
admin_port="${POD_ADMIN_PORT:-8080}"
client_port="${POD_CLIENT_PORT:-2181}"
# The volume, the ConfigMap's folder, and the file with the super user's password.
data="${POD_DATA:-/data}"
config="${POD_CONFIG:-/config}"
password_file="${POD_PASSWORD_FILE:-/admin/password}"
# The Secret's folder, and that of the stores which are made of it. Without a Secret there is no TLS.
tls_secret="${POD_TLS_SECRET:-}"
tls="${POD_TLS:-/tls}"
# Seconds that a change of the size may take, for each server.
patience="${POD_PATIENCE:-600}"
# Seconds between lines that say what is waited for.
say_every="${POD_SAY_EVERY:-10}"
readonly conf="$data/conf"

check() {
    local LC_ALL=C form='^server\.\{id\}=[A-Za-z0-9_.{}-]+:[0-9]{1,5}:[0-9]{1,5}$'
    [[ "$member" =~ $form ]] && [[ "$member" == *'{ordinal}'* ]] || fail "POD_MEMBER='$member'" \
        'allowed: server.{id}=HOST:QUORUM-PORT:ELECTION-PORT with {ordinal} in HOST; role and port for clients are elsewhere'
    check_size POD_INITIAL_SERVERS "$initial"
    local name
    for name in admin_port client_port patience say_every; do
        [[ "${!name}" =~ ^[1-9][0-9]{0,4}$ ]] || fail "POD_${name^^}='${!name}'" 'allowed: a whole number from 1 to 99999'
    done
    [ -r "$password_file" ] || fail "cannot read $password_file" "It has the super user's password: a Secret with the key 'password'."
    password="$(cat -- "$password_file")"
    # The AdminServer takes no other in its header.
    [[ "$password" =~ ^[!-~]+$ ]] || fail "$password_file must have one line, the super user's password" \
        'allowed: ASCII characters without blanks'
}

# check_size WHERE NUMBER
check_size() {
    [[ "$2" =~ ^[0-9]$ ]] && [ "$2" -ge 3 ] && [ "$2" -le "$most_servers" ] ||
        fail "$1: '$2' is no number of servers" "allowed: 3 to $most_servers; an even number bears no more failures than one less"
}

# line_of ID: the line of a server without a role
line_of() {
    local line="${member//\{id\}/$1}"
    printf '%s' "${line//\{ordinal\}/$(($1 - 1))}"
}

host_of() {
    local line
    line="$(line_of "$1")"
    line="${line#*=}"
    printf '%s' "${line%%:*}"
}

# ask ID PATH: prints what the server's AdminServer answers; 1 if it is not status 200, or nothing comes in time
ask() {
    # shellcheck disable=SC2016 # for the shell to expand
    timeout 3 "$BASH" -c '
        exec 3<>"/dev/tcp/$0/$1" || exit 1
        printf "GET %s HTTP/1.0\r\n\r\n" "$2" >&3
        read -r _ status _ <&3
        cat <&3
        [ "$status" = 200 ]' "$(host_of "$1")" "$admin_port" "$2" 2>/dev/null
}

# Prints the servers whose AdminServers answer a path with 200.
answering() {
    local id
    for ((id = 1; id <= most_servers; id++)); do
        { ask "$id" "$1" >/dev/null && echo "$id"; } &
    done | sort -n
}

# saucr WORD...: asks the servers that run
saucr() {
    local id endpoints='' admin=''
    for id in $(answering /livez); do
        endpoints="$endpoints,$(host_of "$id"):$client_port"
        admin="$admin,$(host_of "$id"):$admin_port"
    done
    if [ -z "$endpoints" ]; then
        printf 'pod: no server answers on %s to %s\n' "$(host_of 1)" "$(host_of "$most_servers"), port $admin_port" >&2
        return 1
    fi
    local options=(--endpoints "${endpoints#,}" --admin "${admin#,}")
    [ -z "$tls_secret" ] || options+=(--tls --key-store "$tls/server.pem" --trust-store "$tls/authority.pem")
    # A small heap: the server's container has memory for little else.
    SAUCR_AUTH="digest:super:$password" SAUCR_TIMEOUT="${SAUCR_TIMEOUT:-15s}" JVMFLAGS=-Xmx64m \
        command saucr "$@" "${options[@]}"
}

# Prints the members, as a majority has committed them: a line of zoo.cfg for each. Fails if no majority serves.
members() {
    local listed
    # Exits with 1 also if a voter does not respond; then there is a list.
    listed="$(saucr member list || true)"
    listed="$(awk '$1 ~ /^[0-9]+$/ { role = $2 == "voter" ? "participant" : $2; client = $5 == "-" ? "" : ";" $5
        print "server." $1 "=" $4 ":" role client }' <<<"$listed")"
    [ -n "$listed" ] && printf '%s\n' "$listed"
}

# put FILE TEXT: the whole file or nothing, also after a loss of power
put() {
    local new
    new="$(mktemp -- "$1.XXXXXX")" || fail "user $(id -u) cannot write $1"
    if ! { printf '%s\n' "$2" >"$new" && sync -- "$new" && mv -f -- "$new" "$1"; }; then
        rm -f -- "$new"
        fail "$1 cannot be written and synced to disk"
    fi
}

# ---- TLS ----

# Copies a new certificate to where the server looks for changes. A Secret's files are links, whose change it does not notice.
copy_certificates() {
    local from="$tls_secret" name
    # The link changes to another folder when the Secret does: key and certificate must be of one.
    [ ! -e "$from/..data" ] || from="$(readlink -f -- "$from/..data")"
    for name in tls.key tls.crt ca.crt; do
        [ -r "$from/$name" ] || fail "cannot read $tls_secret/$name"
    done
    grep -q 'BEGIN PRIVATE KEY' "$from/tls.key" ||
        fail "$tls_secret/tls.key is no key in PKCS 8" 'for cert-manager: privateKey.encoding: PKCS8'
    copy_if_other "$tls/server.pem" "$(cat -- "$from/tls.key" "$from/tls.crt")"
    copy_if_other "$tls/authority.pem" "$(cat -- "$from/ca.crt")"
}

copy_if_other() {
    [ -e "$1" ] && [ "$(cat -- "$1")" = "$2" ] || put "$1" "$2"
}

# Until the server's process exits.
follow_certificates() {
    while kill -0 "$1" 2>/dev/null; do
        (copy_certificates) || true
        sleep "${POD_TLS_INTERVAL:-30}"
    done
}

# ---- Start ----

find_id() {
    [[ "$HOSTNAME" =~ -([0-9]{1,3})$ ]] || fail "a pod's name ends with -NUMBER; this host is '$HOSTNAME'"
    id=$((10#${BASH_REMATCH[1]} + 1))
    [ "$id" -le "$most_servers" ] || fail "pod $HOSTNAME would be server $id" "allowed are at most $most_servers servers"
}

# Sets "known" to the members that the volume knows, and "dynamic" to the file that has them; both may be empty.
read_volume() {
    known='' dynamic=''
    [ -e "$conf/zoo.cfg" ] || return 0
    dynamic="$(sed -n 's/^dynamicConfigFile=//p' "$conf/zoo.cfg" | tail -n 1)"
    if [ -n "$dynamic" ]; then
        [ -r "$dynamic" ] || fail "$conf/zoo.cfg names $dynamic, which cannot be read"
        known="$(grep '^server\.' "$dynamic" || true)"
    else
        known="$(grep '^server\.' "$conf/zoo.cfg" || true)"
    fi
}

knows_me() {
    grep -q "^server\.$id=" <<<"$known"
}

# Sets "known" to the members, this server included.
find_members() {
    read_volume
    if knows_me; then
        return
    fi
    local waits=false volume="$known"
    dynamic=''
    while true; do
        if [ -n "$(answering /readyz)" ] && known="$(members)"; then
            if knows_me; then
                say "this is server $id of an ensemble that serves"
            else
                say "server $id is not a member yet, so it starts as an observer"
                known="$known"$'\n'"$(line_of "$id"):observer"
            fi
            return
        fi
        # An ensemble begins with these. A server that comes later, or was removed, has no vote before the others give it one.
        if [ "$id" -le "$initial" ] && [ -z "$volume" ]; then
            say "no server serves yet: server $id begins with $initial servers"
            known=''
            local each
            for ((each = 1; each <= initial; each++)); do
                known="$known${known:+$'\n'}$(line_of "$each"):participant"
            done
            return
        fi
        [ "$waits" = true ] || say "server $id is no member, and no other server serves: it waits for them"
        waits=true
        sleep 2
    done
}

start() {
    find_id
    [ -r "$config/zoo.cfg" ] || fail "cannot read $config/zoo.cfg"
    local text digest role=''
    text="$(cat -- "$config/zoo.cfg")"
    if grep -q -E '^[[:space:]]*(server\.|dynamicConfigFile|peerType)' <<<"$text"; then
        fail "$config/zoo.cfg names members" 'They are in the volume of each server; see docs/operate/kubernetes.md.'
    fi
    [ -z "$tls_secret" ] || copy_certificates
    mkdir -p -- "$conf" || fail "user $(id -u) cannot write in $data" "in Kubernetes, fsGroup: $(id -g)"
    find_members
    digest="$(printf 'super:%s' "$password" | sha1sum | sed -E 's/ .*//; s/../\\x&/g')"
    # shellcheck disable=SC2059 # the bytes of the hash
    digest="$(printf "$digest" | base64)"
    grep -q -E "^server\.$id=[^;]*:observer(;|\$)" <<<"$known" && role='peerType=observer'
    text="$text"$'\n'"DigestAuthenticationProvider.superDigest=super:$digest${role:+$'\n'$role}"
    if [ -n "$dynamic" ]; then
        text="$text"$'\n'"dynamicConfigFile=$dynamic"
    else
        # The members of an earlier life must not come back.
        find "$conf" -maxdepth 1 -type f -regextype posix-extended \
            -regex '.*/zoo\.cfg\.dynamic(\.next|\.[0-9a-f]+)?' -delete
        text="$text"$'\n'"$known"
    fi
    (umask 077 && put "$conf/zoo.cfg" "$text")
    export ZOO_CONF_DIR="$conf" ZOO_MY_ID="$id"
    unset SAUCR_FIRST_ID
    [ -z "$tls_secret" ] || follow_certificates $$ &
    exec docker-entrypoint.sh zkServer.sh start-foreground
}

# ---- Size ----

# begin_wait: a wait of so many seconds begins
begin_wait() {
    wait_begins=$SECONDS wait_says=$say_every
}

# still_waits WHAT: prints every $say_every seconds what is waited for; 1 if the time is over
still_waits() {
    local waited=$((SECONDS - wait_begins))
    [ "$waited" -lt "$patience" ] || return 1
    if [ "$waited" -ge "$wait_says" ]; then
        say "waits since $waited s: $1"
        wait_says=$((waited + say_every))
    fi
}

# insist WORD...: bin/saucr until it succeeds. Each step is made as a whole or not at all, so the next attempt continues.
insist() {
    begin_wait
    until saucr "$@"; do
        still_waits "'saucr $1 $2 $3' has not succeeded" ||
            fail "'saucr $1 $2 $3' did not succeed within $patience s" \
                "'pod.sh saucr member list' shows the members; the same command continues"
        sleep 2
    done
}

# Sets "known" to the members; waits for a majority.
await_members() {
    begin_wait
    until known="$(members)"; do
        still_waits 'no majority of the servers serves' || fail "no majority of the servers served within $patience s"
        sleep 2
    done
}

# Waits until the process of a server answers.
await_pod() {
    begin_wait
    ask "$1" /livez >/dev/null || say "waits for the pod of server $1, $(host_of "$1")"
    until ask "$1" /livez >/dev/null; do
        still_waits "nothing answers on $(host_of "$1"), port $admin_port" ||
            fail "nothing answers on $(host_of "$1"), port $admin_port, within $patience s" \
                "Is the StatefulSet large enough? The same command continues."
        sleep 1
    done
}

scale_up() {
    await_members
    local id
    for ((id = 1; id <= $1; id++)); do
        if ! grep -q "^server\.$id=.*:participant" <<<"$known"; then
            await_pod "$id"
            insist member add "$(line_of "$id")"
        fi
    done
    say "servers 1 to $1 are voters"
}

# Sets "leader" to the server that leads, as one that is ready reports; to nothing if none does.
find_leader() {
    local id
    leader=''
    for id in $ready; do
        leader="$(ask "$id" /commands/leader | sed -n 's/.*"leader_id" *: *\([0-9]*\).*/\1/p')"
        [ -z "$leader" ] || return 0
    done
}

# To a server that stays: each removal of a leader would move the lead anew, perhaps to the next one that is removed.
move_leader_below() {
    local id leader ready why
    begin_wait
    while true; do
        ready="$(answering /readyz | tr '\n' ' ')"
        find_leader
        if [ -z "$leader" ]; then
            why="no server reports who leads; ready are: ${ready:-none}"
        elif [ "$leader" -le "$1" ]; then
            return
        else
            why="server $leader leads, and none of the servers 1 to $1 is ready"
            for id in $ready; do
                if [ "$id" -le "$1" ]; then
                    why="server $leader leads, and was asked to hand over to server $id"
                    saucr move-leader "$id" "scale down to $1" && break
                fi
            done
        fi
        still_waits "$why" || fail "none of the servers 1 to $1 leads after $patience s" "$why" \
            "No member was removed since. The same command continues."
        sleep 1
    done
}

scale_down() {
    await_members
    local id
    for ((id = most_servers; id > $1; id--)); do
        if grep -q "^server\.$id=" <<<"$known"; then
            move_leader_below "$1"
            insist member remove "$id"
        fi
    done
    say "no server above $1 is a member"
}

command="${1:-}"
case "$command" in
    start) [ $# -eq 1 ] || fail "start takes no argument" ;;
    scale-up | scale-down) [ $# -eq 2 ] || fail "$command takes one argument, the number of servers" ;;
    saucr) [ $# -ge 2 ] || fail "saucr takes a command: pod.sh saucr member list" ;;
    *) fail "unknown command '$command'" 'allowed: start, scale-up N, scale-down N, saucr WORD...' ;;
esac
check
[ "$command" = start ] || [ -z "$tls_secret" ] || copy_certificates
case "$command" in
    start) start ;;
    scale-up)
        check_size scale-up "$2"
        scale_up "$2"
        ;;
    scale-down)
        check_size scale-down "$2"
        scale_down "$2"
        ;;
    saucr)
        shift
        saucr "$@"
        ;;
esac
