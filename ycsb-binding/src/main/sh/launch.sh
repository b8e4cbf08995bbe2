# What bin/saucr-bench and bin/saucr-ycsb share; sourced. Sets root, java and class_path.

root="$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../../../.." && pwd -P)"
module="$root/ycsb-binding"
program="$(basename -- "$0")"

die() {
    echo "$program: $*" >&2
    exit 1
}

java="${JAVA_HOME:+$JAVA_HOME/bin/}java"
command -v "$java" >/dev/null || die "no Java found: install a JDK, 17 or newer, or set JAVA_HOME."
java="$(command -v "$java")"

# Whether a source is newer than what was built from it last.
stale() {
    [ -f "$module/target/bench.classpath" ] && [ -d "$module/target/classes" ] || return 0
    local parts=("$root/pom.xml") part
    for part in saucr-core zookeeper-server crash-framework ycsb-binding; do
        parts+=("$root/$part/pom.xml" "$root/$part/src/main")
    done
    [ -n "$(find "${parts[@]}" -newer "$module/target/bench.classpath" -print -quit)" ] && return 0
    case "$1" in
    *zookeeper-server*) ! compgen -G "$root/zookeeper-server/target/saucr-zookeeper-*-bin.tar.gz" >/dev/null ;;
    *) return 1 ;;
    esac
}

# Builds the modules named, separated by commas, if need be.
build() {
    if stale "$1"; then
        command -v mvn >/dev/null || die "Maven not found: it builds this program; install it (apt-get install maven)."
        local log="$module/target/build.log"
        mkdir -p -- "$module/target"
        echo "$program: building, the log is $log" >&2
        if ! (cd -- "$root" && mvn -B -DskipTests -pl "$1" -am package dependency:build-classpath \
            -Dmdep.outputFile=target/bench.classpath -Dmdep.includeScope=runtime) >"$log" 2>&1 </dev/null; then
            grep -E '^\[(ERROR|WARNING)\]' "$log" | head -n 20 >&2
            die "the build failed; the whole log is $log"
        fi
        touch "$module/target/bench.classpath"
    fi
    class_path="$module/target/classes:$(cat "$module/target/bench.classpath")"
}
