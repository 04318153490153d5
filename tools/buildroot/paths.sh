# shellcheck shell=bash
# Where bazelw keeps things. Everything is under one folder outside the clone:
#
#   root-HASH/             a finished build root; HASH is the recipe's
#   root-HASH.partial/     one being made
#   debs/                  packages downloaded for it, deleted when it is finished
#   logs/                  what the stages printed
#   bazel/out-KEY/         Bazel's output_user_root
#   bazel/disk-KEY/        Bazel's disk cache
#   bazel/bazelw-KEY-ENTRY.rc
#                          the settings of bazelrc.sh

CACHE=${TORCH_CUDA_CACHE:-${XDG_CACHE_HOME:-${HOME:-/root}/.cache}/torch_cuda}
[[ $CACHE == /* ]] || CACHE=$PWD/$CACHE

# Prints the folder of the build root that belongs to this clone's recipe.
# TORCH_CUDA_BUILD_ROOT names another one, which is used as it is.
root_path() { printf '%s\n' "${TORCH_CUDA_BUILD_ROOT:-$CACHE/root-$(recipe_hash)}"; }

# Succeeds when a root ($1) is there and finished. Only a finished root ever gets
# a name without ".partial", so a folder of that name is enough.
root_is_finished() { [[ $1 != *.partial && -x $1/usr/bin/env ]]; }

# Prints the finished roots of other recipes than the one of root $1.
other_roots() {
  local path
  for path in "$CACHE"/root-*; do
    [[ $path =~ /root-[0-9a-f]{12}$ && $path != "$1" && -d $path ]] && printf '%s\n' "$path"
  done
  return 0
}

# Succeeds when a process lives in root $1 (a Bazel server, a shell).
root_in_use() {
  local link
  for link in /proc/[0-9]*/root; do
    [[ $(readlink "$link" 2>/dev/null) == "$1" ]] && return 0
  done
  return 1
}

# Prints the size of folder $1 for people, e.g. "3.9G".
size_of() { du -sxh "$1" 2>/dev/null | cut -f1; }
