# shellcheck shell=bash
# What bazelw says, always on stderr: stdout belongs to Bazel.

# Prints one line of progress.
say() { printf 'bazelw: %s\n' "$*" >&2; }

# Ends bazelw with one line that says what is missing and what to do.
die() {
  printf 'bazelw: error: %s\n' "$*" >&2
  exit 1
}

# Prints a number of seconds ($1) as "1 min 05 s".
duration() {
  if (($1 >= 60)); then printf '%d min %02d s' $(($1 / 60)) $(($1 % 60)); else printf '%d s' "$1"; fi
}
