# shellcheck shell=bash
# The settings of Bazel that depend on the machine; all others are in the clone's
# .bazelrc. They are written to a file that Bazel is given by --bazelrc.

# Succeeds when the user's own rc files say where the disk cache is.
user_has_disk_cache() {
  grep -qs -- '--disk_cache' "$HOME/.bazelrc" "$WORKSPACE/user.bazelrc"
}

# Prints how many actions may run at once: one a core, but only as many as there
# are 2 GB of memory for (what nvcc takes for most files).
build_jobs() {
  local cores memory=$1
  cores=$(nproc)
  memory=$((memory / 2))
  ((memory >= 1)) || memory=1
  ((memory < cores)) && echo "$memory" || echo "$cores"
}

# Prints GB of memory of this machine, or of its container when that has less.
memory_gb() {
  local limit
  limit=$(cat /sys/fs/cgroup/memory.max 2>/dev/null || echo max)
  awk -v limit="$limit" '/^MemTotal:/ {
    kb = $2; if (limit != "max" && limit / 1024 < kb) kb = limit / 1024
    print int(kb / 1000000) }' /proc/meminfo
}

# Prints the rc file for output key $1, disk cache key $2 and an entry $3: a word
# that stands for everything that a running server sees of the host, so that
# Bazel replaces the server when it changes.
bazelrc_text() {
  local name memory jobs
  memory=$(memory_gb)
  jobs=$(build_jobs "$memory")
  echo "# Written by bazelw; docs/build-root.md explains it. Changes are lost."
  echo "startup --output_user_root=$CACHE/bazel/out-$1"
  echo "startup --host_jvm_args=-Dbazelw.entry=$3"
  user_has_disk_cache || echo "common --disk_cache=$CACHE/bazel/disk-$2"
  ((jobs >= $(nproc))) || echo "common --jobs=$jobs"
  # By name, not by value: an index address can hold a password.
  for name in $(compgen -e | grep -E '^(PIP|NPM_CONFIG|npm_config)_[A-Za-z_]+$' | sort) \
    "${CA_ENV[@]}" SSL_CERT_DIR; do
    [[ -z ${!name:-} ]] || echo "common --repo_env=$name"
  done | sort -u
}

# Writes the rc file, with the arguments of bazelrc_text, and prints its path. Each
# entry has its own: another clone's bazelw may write at the same time, and a
# server with its entry would show that clone what this one sees.
write_bazelrc() {
  local file=$CACHE/bazel/bazelw-$1-$3.rc text
  text=$(bazelrc_text "$@")
  mkdir -p "$CACHE/bazel"
  if [[ ! -e $file || $(<"$file") != "$text" ]]; then
    printf '%s\n' "$text" >"$file.$$"
    mv "$file.$$" "$file"
  fi
  printf '%s\n' "$file"
}
