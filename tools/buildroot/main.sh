#!/bin/bash
# What ./bazelw does: choose between this machine and the build root, make the
# root when it is not there, run Bazel. docs/build-root.md describes it.
set -euo pipefail

BUILDROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
WORKSPACE=$(cd "$BUILDROOT/../.." && pwd)
export HOME=${HOME:-/root}
for part in messages recipe paths mirror host enter bazelrc provision doctor; do
  # shellcheck source=/dev/null
  . "$BUILDROOT/$part.sh"
done

# Prints "host" when Bazel runs on this machine, else "root". TORCH_CUDA_BUILD
# forces one of them.
choose_place() {
  local missing
  case "${TORCH_CUDA_BUILD:-auto}" in
    host | root) echo "$TORCH_CUDA_BUILD" ;;
    auto)
      missing=$(host_missing)
      [[ -z $missing ]] && echo host || echo root
      ;;
    *) die "TORCH_CUDA_BUILD=$TORCH_CUDA_BUILD: use host, root or auto." ;;
  esac
}

# Prints what outputs of a place ($2; root $1) are kept under.
output_key() {
  [[ $2 == root ]] || { echo host && return; }
  basename "$1" | sed 's/^root-//'
}

# Prints what cached results are kept under: Bazel does not see the compilers and
# headers of a root, so roots that differ in them must not share results.
cache_key() {
  [[ $2 == root ]] || { echo host && return; }
  cat "$1/var/lib/torch_cuda/toolchain" 2>/dev/null || output_key "$@"
}

main() {
  local place root paths entry rc
  root=$(root_path)
  place=$(choose_place)
  case "${1:-}" in
    doctor) doctor "$root" "$place" && return ;;
    prune) prune "$root" && return ;;
  esac
  if [[ $place == root ]]; then
    provision "$root"
    paths=$(entry_paths "$@")
    entry=$(printf '%s\n' "$root" "$paths" | sha256sum | cut -c1-12)
  else
    paths='' entry=host
  fi
  if [[ ${1:-} == shell ]]; then
    shift
    (($# > 0)) || set -- bash
    [[ $place == root ]] || exec "$@"
    enter_root "$root" "$entry" "$paths" "$@"
  fi
  rc=$(write_bazelrc "$(output_key "$root" "$place")" "$(cache_key "$root" "$place")" "$entry")
  [[ $PWD == "$WORKSPACE" || $PWD == "$WORKSPACE"/* ]] || cd "$WORKSPACE"
  set -- bazel --bazelrc="$rc" "$@"
  [[ $place == root ]] || exec "$@"
  enter_root "$root" "$entry" "$paths" "$@"
}

main "$@"
