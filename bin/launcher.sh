# What ./saucr and the commands beside this file share; they source it. Sets root, program, and, by find_java,
# java. Then "build MODULE..." builds what is stale, and "class_path MODULE" prints what a module runs with.

root="$(cd -- "$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")/.." && pwd -P)" || exit 1
program="$(basename -- "$0")"

# Whether the script was called for its help, which needs no build.
help_wanted=
case "${1:-}/${2:-}" in
help/* | -h/* | --help/* | */-h | */--help) help_wanted=true ;;
esac

die() {
    echo "$program: $*" >&2
    exit 1
}

# The version is the project's, for all commands, and needs no build either.
case "${1:-}" in
-V | --version)
    echo "SAUCR ZooKeeper $(sed -n -E 's|^  <version>(.*)</version>.*|\1|p' "$root/pom.xml")"
    exit 0
    ;;
esac

# Sets JAVA_HOME (if it was not) and java; ends with a message if there is no JDK that is new enough.
find_java() {
    local javac version
    if [ -n "${JAVA_HOME:-}" ]; then
        javac="$JAVA_HOME/bin/javac"
        [ -x "$javac" ] || die "JAVA_HOME is '$JAVA_HOME', but there is no JDK (no bin/javac) in it.
  Set JAVA_HOME to a JDK, 17 or newer, or unset it to use the one on the PATH."
    else
        javac="$(command -v javac)" || die "no JDK found: there is no javac on the PATH and JAVA_HOME is not set.
  Install a JDK, 17 or newer (Debian, Ubuntu: apt-get install openjdk-17-jdk-headless), or set JAVA_HOME."
    fi
    version="$("$javac" -version 2>&1 | sed -n -E 's/^javac ([0-9]+).*/\1/p')"
    [ -n "$version" ] || die "cannot tell the version of $javac. Set JAVA_HOME to a JDK, 17 or newer."
    [ "$version" -ge 17 ] || die "$javac is version $version; 17 or newer is needed. Set JAVA_HOME to a newer JDK."
    java="$(dirname -- "$javac")/java"
}

find_maven() {
    command -v mvn >/dev/null || die "Maven not found: there is no mvn on the PATH.
  Install it (Debian, Ubuntu: apt-get install maven)."
}

# The modules that a module is made of, itself the last.
closure() {
    case "$1" in
    saucr-model | operator-tool | local-ensemble) echo saucr-core ;;
    client-suites) printf '%s\n' saucr-core local-ensemble ;;
    zookeeper-server) printf '%s\n' saucr-core operator-tool local-ensemble history crash-framework ;;
    crash-framework) printf '%s\n' saucr-core local-ensemble history ;;
    benchmarks) printf '%s\n' saucr-core local-ensemble ycsb-binding ;;
    apache-tests) closure zookeeper-server ;;
    services/tool) printf '%s\n' saucr-core services/core services/once services/runtime services/http services/examples ;;
    services/tests) printf '%s\n' saucr-core local-ensemble history crash-framework services/core services/once services/runtime ;;
    services/benchmarks) printf '%s\n' $(closure benchmarks) services/core services/once services/runtime services/examples ;;
    esac
    echo "$1"
}

# The file that the build of a module writes last; for the server it is the distribution, the newest if there are
# several.
product() {
    local tarball newest=
    case "$1" in
    zookeeper-server)
        for tarball in "$root"/zookeeper-server/target/*-bin.tar.gz; do
            [ "$newest" -nt "$tarball" ] || newest="$tarball"
        done
        echo "$newest"
        ;;
    *) echo "$root/$1/target/class.path" ;;
    esac
}

# Whether something that goes into a module is newer than what was built of it, or that is missing.
is_stale() {
    local product part sources=("$root/pom.xml") jar
    product="$(product "$1")"
    [ -f "$product" ] || return 0
    for part in $(closure "$1"); do
        [ -n "$(find "$root/$part/target/classes" -name '*.class' -print -quit 2>/dev/null)" ] || return 0
        sources+=("$root/$part/pom.xml" "$root/$part/src/main")
        if [ "$part" = zookeeper-server ]; then
            sources+=("$root"/{README.md,LICENSE,NOTICE,conf,docs} "$root"/zookeeper-server/src/{dist,assembly})
        fi
    done
    [ -z "$(find "${sources[@]}" -newer "$product" -print -quit)" ] || return 0
    case "$product" in
    *.path)
        # A file name is enough for Java to leave out what is not there, without a word.
        while IFS= read -r -d : jar; do
            [ -e "$jar" ] || return 0
        done < <(cat "$product" && echo :)
        ;;
    esac
    return 1
}

# Waits until no other command builds here, and keeps the others from it until unlock_builds or the end of all
# who have descriptor 9. Without flock it does nothing.
locked=
lock_builds() {
    [ -z "$locked" ] && command -v flock >/dev/null || return 0
    { mkdir -p -- "$root/target" && exec 9>"$root/target/build.lock"; } 2>/dev/null || return 0
    locked=true
    flock -n 9 && return 0
    echo "$program: waiting for another build" >&2
    flock 9 || true
}

unlock_builds() {
    exec 9>&-
    locked=
}

# Ends Maven, if it runs.
end_build() {
    local pid
    for pid in $(jobs -p); do
        kill -- "-$pid" 2>/dev/null || kill "$pid" 2>/dev/null || true
        wait "$pid" 2>/dev/null || true
    done
}

# Whether a module was ever built, of whatever sources, and all that it runs with is there.
can_run() {
    local jar
    [ -d "$root/$1/target/classes" ] && [ -f "$root/$1/target/class.path" ] || return 1
    while IFS= read -r -d : jar; do
        [ -e "$jar" ] || return 1
    done < <(cat "$root/$1/target/class.path" && echo :)
}

# Of what Maven prints, a line for each module that it begins, and what it warns of.
module_lines() {
    sed -u -n -E -e "s|^\\[INFO\\] Building (.*) [0-9][^ ]*( +(\\[[0-9/]+\\]))?\$|$program: building \\3 \\1|p" \
        -e '/^\[(ERROR|WARNING)\]/p'
}

# Builds those of the modules that are stale, with what they are made of; shows each module that Maven begins. For help
# nothing is built: the last of the modules shows it as it is, and if there is none, the head of the script.
build() {
    local module stale=() log started group pid shown=0 lines
    if [ -n "$help_wanted" ]; then
        ! can_run "${!#}" || return 0
        sed -n -e '2,/^[^#]/s/^# \{0,1\}//p' -- "$0"
        echo "$program is not built yet: its first command builds it, and \"$program help\" shows more then."
        exit 0
    fi
    lock_builds
    for module in "$@"; do
        ! is_stale "$module" || stale+=("$module")
    done
    if [ ${#stale[@]} -eq 0 ]; then
        unlock_builds
        return 0
    fi
    find_maven
    log="$root/target/build-$program.log"
    mkdir -p -- "$root/target"
    : >"$root/target/build-$program.started"
    echo "$program: building (log: ${log#"$PWD/"}) ..." >&2
    started=$SECONDS
    trap 'trap - HUP INT TERM; end_build; exit 130' HUP INT TERM
    # Maven has the lock as well: should this script be killed, the others wait until Maven has ended. Where it can
    # be it is a group of its own, which ends as a whole.
    group="$(command -v setsid || true)"
    (cd -- "$root" && IFS=, && exec ${group:+setsid} mvn -B -DskipTests -pl "${stale[*]}" -am package) \
        >"$log" 2>&1 </dev/null &
    pid=$!
    while kill -0 "$pid" 2>/dev/null; do
        show_modules
        [ ! -t 2 ] || printf '\r  %3d s' $((SECONDS - started)) >&2
        sleep 0.5
    done
    show_modules
    trap - HUP INT TERM
    if ! wait "$pid"; then
        grep -E '^\[(ERROR|WARNING)\]' "$log" | head -n 40 >&2
        die "the build failed; the whole log is $log"
    fi
    # A source that was changed while it was built is newer than this.
    for module in "${stale[@]}"; do
        touch -r "$root/target/build-$program.started" -- "$(product "$module")"
    done
    unlock_builds
    echo "$program: built in $((SECONDS - started)) s." >&2
}

# The modules that Maven has begun since the last call; uses the log of build, and what it has shown.
show_modules() {
    lines="$(grep '^\[INFO\] Building ' "$log" | module_lines || true)"
    [ ! -t 2 ] || printf '\r%-8s\r' '' >&2
    [ -z "$lines" ] || sed -n "$((shown + 1)),\$p" <<<"$lines" >&2
    [ -z "$lines" ] || shown="$(grep -c '' <<<"$lines")"
}

class_path() {
    echo "$root/$1/target/classes:$(cat "$root/$1/target/class.path")"
}
