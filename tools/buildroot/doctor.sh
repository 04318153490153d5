# shellcheck shell=bash
# ./bazelw doctor: what was found on this machine, and what bazelw would use.

# Prints one line of the report: a name ($1) and what was found.
found() { printf '%-16s %s\n' "$1" "${*:2}"; }

# Prints the report; $1 the place of the build root, $2 "host" or "root".
doctor() {
  local missing mirror other disk
  missing=$(host_missing)
  found "bazel" "$(command -v bazel >/dev/null && (cd / && timeout 20 bazel --version 2>/dev/null </dev/null) || echo "none on this machine")"
  found "missing here" "$([[ -n $missing ]] && echo "${missing//$'\n'/, }" || echo nothing)"
  found "user" "$(id -un) ($([[ $(id -u) == 0 ]] && echo "can make and enter a build root" || echo "cannot make or enter a build root: that takes root"))"
  if mirror=$(mirror_address); then
    found "Debian mirror" "$(mirror_answers "$mirror" && echo "yes, with Debian 13" || echo "configured, but does not serve Debian 13 now")"
  else
    found "Debian mirror" "none in APT's configuration"
  fi
  found "mmdebstrap" "$(command -v mmdebstrap || echo "none; installed with apt-get when it is needed")"
  if root_is_finished "$1"; then
    found "build root" "$1 ($(size_of "$1"))"
  elif [[ -d $1.partial ]]; then
    found "build root" "$1.partial, unfinished: the next build continues it"
  else
    found "build root" "none yet; would be $1"
  fi
  for other in $(other_roots "$1"); do
    found "older root" "$other ($(size_of "$other")); './bazelw prune' deletes it"
  done
  found "free disk" "$(free_gb "$CACHE") GB for $CACHE (a build root needs $NEEDED_GB)"
  found "cores, memory" "$(nproc), $(memory_gb) GB: $(build_jobs "$(memory_gb)") jobs"
  disk=$(user_has_disk_cache && echo "as your own bazelrc says" || echo "$CACHE/bazel/disk-$(cache_key "$1" "$2")")
  found "disk cache" "$disk $([[ -d $disk ]] && echo "($(size_of "$disk"))" || true)"
  if [[ $2 == host ]]; then
    found "would use" "Bazel of this machine"
  elif root_is_finished "$1"; then
    found "would use" "Bazel in the build root"
  else
    found "would use" "Bazel in the build root, after making it (about 7 minutes)"
  fi
}
