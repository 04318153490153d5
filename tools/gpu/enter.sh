#!/bin/bash
# Unpacks the sets of a bundle into a chroot on a GPU machine and runs a command in it:
#
#     enter.sh unpack [FOLDER OF PARTS]     may be called again when more parts have come
#     enter.sh run COMMAND ...              in the chroot, with NVIDIA's driver
#
# GPU_ROOT is the chroot (/tmp/gpuroot). Variables of the call reach the command.
set -euo pipefail

root=${GPU_ROOT:-/tmp/gpuroot}
driver=$root/usr/lib/nvidia-driver
host_path=${LD_LIBRARY_PATH:-}

unpack_set() {  # of one archive or the first of its parts
    local name=${1%.part_00} parts
    if [ -e "$name" ]; then parts=("$name"); else parts=("$name".part_*); fi
    if [ -e "$root/.unpacked/${name##*/}" ]; then return; fi
    cat "${parts[@]}" |
        "$tool/ld-linux-x86-64.so.2" --library-path "$tool" "$tool/zstd" -d --long=27 -q -c |
        tar -x -C "$root" --no-same-owner --keep-directory-symlink
    mkdir -p "$root/.unpacked"
    touch "$root/.unpacked/${name##*/}"
    echo "unpacked ${name##*/}"
}

unpack() {
    local folder=$1 tool=$root.zstd one job jobs=()
    mkdir -p "$root" "$tool"
    if [ ! -e "$tool/zstd" ]; then tar -xzf "$folder/zstd.tar.gz" -C "$tool"; fi
    # base first: it has the links that the others go through.
    for one in "$folder"/base.tar.zst "$folder"/base.tar.zst.part_00; do
        if [ -e "$one" ]; then unpack_set "$one"; fi
    done
    for one in "$folder"/*.tar.zst "$folder"/*.tar.zst.part_00; do
        case $one in
            */base.tar.zst*) continue ;;
        esac
        if [ -e "$one" ]; then
            unpack_set "$one" &
            jobs+=($!)
        fi
    done
    for job in "${jobs[@]}"; do wait "$job"; done
    # What fatbins.py moved out of the libraries goes back into them.
    find "$root/usr" -name '*.entries' | while read -r one; do
        one=${one%.entries}
        chroot "$root" /usr/bin/python3 /checks/tools/gpu/fatbins.py restore "${one#"$root"}"
        chroot "$root" /usr/bin/python3 /checks/tools/gpu/fatbins.py compact "${one#"$root"}"
        echo "restored ${one##*/}"
    done
    chroot "$root" /usr/sbin/ldconfig
    if [ -z "${GPU_NO_COMPILE:-}" ]; then
        mount_all
        chroot "$root" /usr/bin/python3 -m compileall -q -j 0 /usr/lib/python3 /usr/lib/python3.13 \
            /usr/local/lib/python3.13 >/dev/null 2>&1 || true
    fi
}

mount_all() {
    local name
    for name in dev proc sys; do
        if ! grep -q " $root/$name " /proc/mounts; then
            mount --rbind "/$name" "$root/$name" 2>/dev/null || fallback "$name"
        fi
    done
}

fallback() {  # where nothing can be mounted
    local node
    case $1 in
        dev)
            mkdir -p "$root/dev/shm"
            chmod 1777 "$root/dev/shm"
            for node in /dev/null /dev/zero /dev/random /dev/urandom /dev/nvidia*; do
                if [ -c "$node" ] && [ ! -e "$root$node" ]; then
                    mknod -m 666 "$root$node" c $((0x$(stat -c %t "$node"))) $((0x$(stat -c %T "$node"))) ||
                        echo "no $node"
                fi
            done
            for node in /dev/nvidia-caps/*; do
                if [ -c "$node" ]; then
                    mkdir -p "$root/dev/nvidia-caps"
                    mknod -m 666 "$root$node" c $((0x$(stat -c %t "$node"))) $((0x$(stat -c %T "$node"))) || true
                fi
            done
            ;;
        proc)
            mount -t proc proc "$root/proc" 2>/dev/null || {
                # Some of what the driver's libraries read.
                mkdir -p "$root/proc/self"
                cp -r /proc/driver "$root/proc/" 2>/dev/null || true
                cat /proc/devices >"$root/proc/devices" || true
                cat /proc/cpuinfo >"$root/proc/cpuinfo" || true
                cat /proc/meminfo >"$root/proc/meminfo" || true
                cat /proc/modules >"$root/proc/modules" || true
                cat /proc/self/maps >"$root/proc/self/maps" || true
            }
            ;;
        sys) mount -t sysfs sysfs "$root/sys" 2>/dev/null || true ;;
    esac
    echo "$1 is not bound but copied" >&2
}

copy_driver() {
    local name path folder
    mkdir -p "$driver"
    for name in libcuda.so libnvidia-ptxjitcompiler.so libnvidia-ml.so libnvidia-nvvm libnvidia-gpucomp libcudadebugger; do
        {
            ldconfig -p | sed -n "s|.*=> \(.*/$name.*\)|\1|p"
            for folder in /usr/local/nvidia/lib64 /usr/lib/x86_64-linux-gnu /usr/lib64 ${host_path//:/ }; do
                find "$folder" -maxdepth 1 -name "$name*" 2>/dev/null || true
            done
        } | { grep -v -e /stubs/ -e i386 -e /lib32/ || true; } | while read -r path; do
            # The first folder that has a name wins; the CUDA toolkit's own drivers come last.
            if [ -s "$path" ] && [ ! -e "$driver/${path##*/}" ]; then
                cp -L "$path" "$driver/" || true
            fi
        done
    done
    if [ -e "$driver/libcuda.so.1" ] && [ ! -e "$driver/libcuda.so" ]; then
        ln -s libcuda.so.1 "$driver/libcuda.so"
    fi
    find "$driver" -type f -printf '%f ' >&2
    echo >&2
}

case ${1:-} in
    unpack)
        unpack "${2:-$(dirname "$0")/parts}"
        ;;
    run)
        shift
        mount_all
        if [ ! -e "$driver/libcuda.so.1" ]; then copy_driver; fi
        exec env PATH=/usr/bin:/usr/sbin HOME=/root LC_ALL=C.UTF-8 \
            LD_LIBRARY_PATH="/usr/lib/nvidia-driver${GPU_LIBRARIES:+:$GPU_LIBRARIES}" \
            CUDA_CACHE_PATH="${CUDA_CACHE_PATH:-/tmp/nv}" CUDA_CACHE_MAXSIZE=4294967296 \
            CUDA_MODULE_LOADING="${CUDA_MODULE_LOADING:-LAZY}" PYTHONPATH=/checks \
            chroot "$root" "$@"
        ;;
    *)
        sed -n '2,8s/^# \{0,1\}//p' "$0"
        exit 2
        ;;
esac
