# shellcheck shell=bash
# Makes the build root: checks that it can be made, runs the stages one by one in
# root-HASH.partial, and renames that at the end.
#
# A stage leaves a stamp when it is done. After an interruption the next call
# continues at the first stage without one; the minimal system of the first stage
# is always made from scratch. What a stage starts lives in a PID namespace of
# its own, so that it ends with bazelw, whichever way that ends.

NEEDED_GB=12
STAGE_PID=

# Prints GB free for folder $1, which need not exist yet.
free_gb() {
  local path=$1
  while [[ ! -d $path ]]; do path=$(dirname "$path"); done
  df -Pk "$path" | awk 'NR == 2 { print int($4 / 1000000) }'
}

# Ends bazelw, in one line, when a root cannot be made here; prints nothing and
# sets MIRROR and, where APT uses one, SECURITY otherwise.
provision_preflight() {
  local free why="no Bazel 7 with its packages on this machine"
  [[ $(uname -m) == x86_64 ]] ||
    die "$why, and the build root needs an x86_64 machine (this is $(uname -m))."
  [[ $(id -u) == 0 ]] ||
    die "$why, and making the build root needs root: run 'sudo ./bazelw ...' or install what './bazelw doctor' lists."
  MIRROR=$(mirror_address) ||
    die "$why, and APT names no Debian mirror: add one (suite bookworm or newer, component main) to /etc/apt/sources.list, or use tools/buildroot/Dockerfile."
  mirror_answers "$MIRROR" ||
    die "$why, and the Debian mirror of this machine's APT does not serve Debian 13: check the network with 'apt-get update', or use tools/buildroot/Dockerfile."
  SECURITY=$(security_address) || SECURITY=
  if [[ -n $SECURITY ]] && ! mirror_answers "$SECURITY" trixie-security; then
    say "the archive of security updates that this machine's APT names does not serve Debian 13: the build root is made without them (to have them, mend that and delete the root)."
    SECURITY=
  fi
  free=$(free_gb "$CACHE")
  ((free >= NEEDED_GB)) ||
    die "the build root needs $NEEDED_GB GB in $CACHE, $free GB are free: free some, or set TORCH_CUDA_CACHE to a folder on a larger disk."
  unshare --mount --pid --fork true 2>/dev/null ||
    die "the build root needs mount namespaces, which this container does not allow: start it with --privileged (or --cap-add SYS_ADMIN), or use tools/buildroot/Dockerfile."
}

# Runs a command so that it ends with bazelw; its output goes to $LOG.
supervised() {
  unshare --mount --pid --fork --kill-child --mount-proc "$@" \
    </dev/null >>"$LOG" 2>&1 &
  STAGE_PID=$!
  local rc=0
  wait "$STAGE_PID" || rc=$?
  STAGE_PID=
  return "$rc"
}

# Ends what runs, and bazelw, after a signal ($1 the exit status).
interrupted() {
  [[ -z $STAGE_PID ]] || kill -KILL "$STAGE_PID" 2>/dev/null || true
  say "interrupted; the next call continues from the last finished stage."
  exit "$1"
}

# Runs a stage ($1) of root tree $2.
run_stage() {
  case "$1" in
    bootstrap) supervised bash "$BUILDROOT/bootstrap.sh" "$2" "$MIRROR" "$SECURITY" ;;
    *) supervised bash "$BUILDROOT/chroot.sh" "$2" / \
      /etc/resolv.conf "$CACHE/debs:/var/cache/apt/archives" \
      "$BUILDROOT:/var/lib/torch_cuda/recipe" -- \
      /usr/bin/env --ignore-environment HOME=/root TERM=dumb \
      PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
      http_proxy="${http_proxy:-}" https_proxy="${https_proxy:-}" no_proxy="${no_proxy:-}" \
      /bin/bash /var/lib/torch_cuda/recipe/stage.sh "$1" ;;
  esac
}

# Prints what a stage ($1) does, for its progress line.
stage_title() {
  case "$1" in
    bootstrap) echo "minimal Debian 13" ;;
    sources) echo "package lists" ;;
    finish) echo "check" ;;
    *) recipe_title "$1" ;;
  esac
}

# Runs all stages that tree $1 lacks. A stage that fails on a tree that an
# earlier call left behind is not trusted: everything is made again, once.
run_stages() {
  local tree=$1 stages stage started rc count=0 inherited=no
  local stamps=$tree/var/lib/torch_cuda/stages
  [[ -d $stamps ]] && inherited=yes
  mapfile -t stages < <(echo bootstrap && echo sources && recipe_sections && echo finish)
  for stage in "${stages[@]}"; do
    count=$((count + 1))
    if [[ -e $stamps/$stage ]]; then
      say "[$count/${#stages[@]}] $(stage_title "$stage"): done earlier"
      continue
    fi
    say "[$count/${#stages[@]}] $(stage_title "$stage") ..."
    started=$SECONDS rc=0
    echo "=== $stage" >>"$LOG"
    run_stage "$stage" "$tree" || rc=$?
    if ((rc != 0)) && [[ $inherited == yes ]]; then
      say "that failed on what an interrupted run left; starting over."
      rm -rf --one-file-system "$tree"
      run_stages "$tree"
      return
    elif ((rc != 0)); then
      tail -n 15 "$LOG" | sed 's/^/    /' >&2
      die "stage '$stage' failed (exit $rc): the lines above end its log $LOG; the next call tries this stage again."
    fi
    mkdir -p "$stamps" && touch "$stamps/$stage"
    say "[$count/${#stages[@]}] $(stage_title "$stage"): $(duration $((SECONDS - started)))"
  done
}

# Makes root $1 unless it is there; calls that come meanwhile wait.
provision() {
  local root=$1 lock other begun=$SECONDS
  root_is_finished "$root" && return
  [[ -z ${TORCH_CUDA_BUILD_ROOT:-} ]] ||
    die "TORCH_CUDA_BUILD_ROOT=$root is not a build root: unset it, and bazelw makes one."
  [[ $(id -u) != 0 ]] || mkdir -p "$CACHE/logs" "$CACHE/debs/partial"
  if [[ ! -w $CACHE ]]; then provision_preflight; fi
  exec {lock}>"$CACHE/lock"
  if ! flock --nonblock "$lock"; then
    say "another bazelw is making the build root in $CACHE; waiting for it."
    flock "$lock"
  fi
  if ! root_is_finished "$root"; then
    provision_preflight
    LOG=$CACHE/logs/provision-$(date -u +%Y%m%dT%H%M%S).log
    trap 'interrupted 130' INT
    trap 'interrupted 143' TERM HUP
    say "making the build root once: about 7 minutes and 3 GB to download; log: $LOG"
    for other in "$CACHE"/root-*.partial; do
      [[ $other == "$root.partial" ]] || rm -rf --one-file-system "$other"
    done
    run_stages "$root.partial"
    sync --file-system "$root.partial"
    mv "$root.partial" "$root"
    trap - INT TERM HUP
    rm -rf --one-file-system "$CACHE/debs"
    say "build root ready after $(duration $((SECONDS - begun))): $root ($(size_of "$root"))"
    for other in $(other_roots "$root"); do
      say "an older root is still there: $other ($(size_of "$other")); './bazelw prune' deletes it."
    done
  fi
  # A Bazel server started later must not keep the lock.
  exec {lock}>&-
}

# Deletes the roots of other recipes than that of root $1, and their Bazel output.
prune() {
  local other key
  for other in $(other_roots "$1"); do
    if root_in_use "$other"; then
      say "in use, left: $other (end the Bazel server or shell in it first)"
      continue
    fi
    say "deleting $other ($(size_of "$other"))"
    key=${other##*/root-}
    rm -rf --one-file-system "$other" "$CACHE/bazel/out-$key" "$CACHE/bazel/bazelw-$key-"*.rc
  done
}
