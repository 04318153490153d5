#!/bin/bash
# Runs a command in a root. Called in a mount namespace of its own, so that the
# mounts made here are seen by nothing else and vanish with the last process:
#
#   chroot.sh ROOT CWD [PATH | PATH:PATH_IN_ROOT]... -- COMMAND...
#
# shows each PATH of the host at the same (or the other) place in ROOT and runs
# COMMAND in folder CWD of it.
set -euo pipefail

# As many as the kernel follows in one path.
MOST_LINKS=40

# Prints where a path ($2) of root $1 is, seen from outside: links on the way are
# followed as a process inside follows them, for which ROOT is the top. mount and
# mkdir would follow them to the host's own folders.
place_in_root() {
  local root=$1 rest=$2/ path='' part link links=0
  while [[ -n $rest ]]; do
    part=${rest%%/*} rest=${rest#*/}
    case "$part" in
      '' | .) ;;
      ..) path=${path%/*} ;;
      *)
        path=$path/$part
        [[ -L $root$path ]] || continue
        links=$((links + 1))
        if ((links > MOST_LINKS)); then
          echo "bazelw: error: $2 cannot be shown in $root: too many links." >&2
          return 1
        fi
        link=$(readlink "$root$path")
        rest=$link/$rest
        if [[ $link == /* ]]; then path=''; else path=${path%/*}; fi
        ;;
    esac
  done
  printf '%s\n' "$root$path"
}

root=$1 cwd=$2
shift 2
while [[ $1 != -- ]]; do
  source=${1%%:*}
  target=$(place_in_root "$root" "${1##*:}")
  shift
  if [[ -d $source ]]; then
    mkdir -p "$target"
  elif [[ -e $source ]]; then
    [[ -e $target ]] || { mkdir -p "$(dirname "$target")" && : >"$target"; }
  else
    continue
  fi
  mount --rbind "$source" "$target"
done
shift
# Last, so that a home folder that holds the root does not show them twice.
for source in /proc /dev /sys; do
  target=$(place_in_root "$root" "$source")
  mkdir -p "$target"
  mount --rbind "$source" "$target"
done
exec chroot "$root" /usr/bin/env --chdir="$cwd" "$@"
