#!/bin/sh
# isolated-root.sh FOLDER [systemd]
# Shows this machine's files below FOLDER/root, with a layer of memory above them, in namespaces of their own:
# mounts and processes. Nothing runs there; or systemd does, as on a machine that has started, with a network
# of its own. Says "ready", and takes everything down when its standard input ends. Needs root's rights.
set -e
folder="$1"
system="$2"
stage="${3:-outside}"

case "$stage" in
outside)
    exec unshare --mount --propagation private sh "$0" "$folder" "$system" holder
    ;;
holder)
    mount -t tmpfs none "$folder"
    mkdir "$folder/changed" "$folder/work" "$folder/root" "$folder/groups"
    group=''
    if [ -n "$system" ]; then
        # A control group of its own: systemd takes the one that it starts in for the machine's.
        mount -t cgroup2 none "$folder/groups"
        group="$folder/groups/isolated-root-$$"
        mkdir "$group"
    fi
    unshare --mount --pid ${system:+--net} --uts --ipc --fork --kill-child=KILL sh "$0" "$folder" "$system" inside "$group" \
        </dev/null &
    first=$!
    # Who interrupts a test ends its JVM, and with it this input.
    trap '' HUP INT TERM
    cat >/dev/null
    kill -KILL "$first"
    wait "$first" || true
    if [ -n "$group" ]; then
        # The kernel needs a moment to see that they are empty.
        until find "$group" -depth -type d -exec rmdir {} + 2>/dev/null; do
            sleep 0.1
        done
    fi
    ;;
inside)
    group="$4"
    if [ -n "$group" ]; then
        echo 0 >"$group/cgroup.procs"
        exec unshare --cgroup sh "$0" "$folder" "$system" mounts
    fi
    exec sh "$0" "$folder" "$system" mounts
    ;;
mounts)
    root="$folder/root"
    mount -t overlay none -o "lowerdir=/,upperdir=$folder/changed,workdir=$folder/work" "$root"
    mount -t proc none "$root/proc"
    mount --bind "$root/proc/sys" "$root/proc/sys"
    mount -o remount,bind,ro "$root/proc/sys"
    mount -t sysfs -o ro none "$root/sys"
    for place in run tmp dev; do
        mount -t tmpfs none "$root/$place"
    done
    for device in null zero full random urandom tty; do
        touch "$root/dev/$device"
        mount --bind "/dev/$device" "$root/dev/$device"
    done
    ln -s /proc/self/fd "$root/dev/fd"
    ln -s fd/0 "$root/dev/stdin"
    if [ -z "$system" ]; then
        echo ready
        exec sleep infinity
    fi
    mount -t cgroup2 none "$root/sys/fs/cgroup"
    # Of images, so that nothing is started while they are made.
    rm -f "$root/usr/sbin/policy-rc.d"
    for unit in tmp.mount systemd-modules-load.service; do
        ln -sf /dev/null "$root/etc/systemd/system/$unit"
    done
    echo ready
    exec env -i PATH="$PATH" container=other chroot "$root" /lib/systemd/systemd --unit=basic.target --log-target=null \
        --show-status=false
    ;;
esac
