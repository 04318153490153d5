#!/bin/bash
# Runs a command in a root. Called in a mount namespace of its own, so that the
# mounts made here are seen by nothing else and vanish with the last process:
#
#   chroot.sh ROOT CWD [PATH | PATH:PATH_IN_ROOT]... -- COMMAND...
#
# shows each PATH of the host at the same (or the other) place in ROOT and runs
# COMMAND in folder CWD of it.
set -euo pipefail

root=$1 cwd=$2
shift 2
while [[ $1 != -- ]]; do
  source=${1%%:*} target=$root${1##*:}
  shift
  if [[ -d $source ]]; then
    mkdir -p "$target"
  elif [[ -e $source ]]; then
    # A link would lead the mount out of the root.
    [[ ! -L $target ]] || rm -f "$target"
    [[ -e $target ]] || { mkdir -p "$(dirname "$target")" && : >"$target"; }
  else
    continue
  fi
  mount --rbind "$source" "$target"
done
shift
# Last, so that a home folder that holds the root does not show them twice.
for source in /proc /dev /sys; do
  mkdir -p "$root$source"
  mount --rbind "$source" "$root$source"
done
exec chroot "$root" /usr/bin/env --chdir="$cwd" "$@"
