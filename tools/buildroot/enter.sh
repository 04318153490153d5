# shellcheck shell=bash
# What of the host is seen inside the build root: which folders and files, and
# which environment variables.
#
# The PID namespace stays the host's, so that Bazel's server outlives a call. The
# next call enters the server's own mount namespace: Bazel takes a server in
# another one for a server whose folder was deleted, and would start a new one.

PROC=${BAZELW_PROC:-/proc}

# Programs and libraries of the host, which do not exist inside.
HOST_ONLY_ENV=(
  BASH_ENV ENV CC CXX CPP LD AR CFLAGS CXXFLAGS CPPFLAGS LDFLAGS CPATH
  C_INCLUDE_PATH CPLUS_INCLUDE_PATH LIBRARY_PATH LD_LIBRARY_PATH LD_PRELOAD
  PKG_CONFIG_PATH PYTHONPATH PYTHONHOME PYTHONSTARTUP PYTHONUSERBASE VIRTUAL_ENV
  CONDA_PREFIX JAVA_HOME CUDA_HOME CUDA_PATH PERL5LIB MANPATH OLDPWD
  LANG LANGUAGE LC_ALL LC_CTYPE LC_MESSAGES LC_NUMERIC LC_TIME LC_COLLATE
)
ROOT_PATH_VARIABLE=PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
# Variables that name files of certificate authorities.
CA_ENV=(
  PIP_CERT SSL_CERT_FILE REQUESTS_CA_BUNDLE CURL_CA_BUNDLE GIT_SSL_CAINFO
  NODE_EXTRA_CA_CERTS
)

# Prints the local folders and files that pip's settings name: "find-links" and
# "cert" in its files and in PIP_* variables, and file:// indexes (the folder
# around them: an index links to files beside it).
pip_paths() {
  local word file
  {
    for file in /etc/pip.conf /etc/xdg/pip/pip.conf "$HOME/.pip/pip.conf" \
      "$HOME/.config/pip/pip.conf" "${PIP_CONFIG_FILE:-}"; do
      if [[ -f $file ]]; then
        printf '%s\n' "$file"
        sed 's/^[^=]*=//' "$file"
      fi
    done
    env | sed -n 's/^PIP_[A-Z_]*=//p'
  } | tr -s '[:blank:]' '\n' | while read -r word; do
    case "$word" in
      file:///*) word=${word#file://} && dirname "${word%/}" ;;
      /*) printf '%s\n' "${word%/}" ;;
    esac
  done
}

# Prints what of a variable ($1) the build sees: "--repo_env=NAME=VALUE" among
# the arguments of Bazel (the rest) wins over the environment.
build_variable() {
  local name=$1 value=${!1:-} argument
  shift
  for argument in "$@"; do
    [[ $argument != "--repo_env=$name="* ]] || value=${argument#"--repo_env=$name="}
  done
  printf '%s\n' "$value"
}

# Prints the folder of a Python interpreter ($1) with its libraries, and that of
# the interpreter behind it when it belongs to a virtual environment.
python_prefixes() {
  [[ $1 == /* ]] || return 0
  dirname "$(dirname "$1")"
  dirname "$(dirname "$(readlink -f "$1")")"
}

# Prints the paths of the host to show inside the root at the same place, sorted,
# without what lies in another one; arguments are those of Bazel.
entry_paths() {
  local name path parent=
  {
    printf '%s\n' "$WORKSPACE" "$CACHE" "$HOME" /tmp "${TMPDIR:-}" \
      /etc/resolv.conf /etc/hosts /etc/ssl/certs/ca-certificates.crt
    pip_paths
    for name in "${CA_ENV[@]}"; do printf '%s\n' "${!name:-}"; done
    build_variable PYTORCH_SOURCE_DIR "$@"
    build_variable REAL_RULES "$@"
    python_prefixes "$(build_variable TORCH_CUDA_PYTHON "$@")"
    tr ':' '\n' <<<"${TORCH_CUDA_BIND:-}"
  } | LC_ALL=C sort -u | while read -r path; do
    case "$path" in
      # Nothing of the system itself.
      "" | [!/]* | / | /usr | /usr/bin | /usr/lib | /etc | /var | /boot | /run) continue ;;
      /bin | /sbin | /lib | /lib32 | /lib64 | /libx32) continue ;;
      /dev | /dev/* | /proc | /proc/* | /sys | /sys/*) continue ;;
    esac
    [[ -e $path ]] || continue
    [[ -n $parent && $path == "$parent"/* ]] && continue
    [[ -d $path ]] && parent=$path
    printf '%s\n' "$path"
  done
}

# Succeeds when all user IDs of a process (folder $1 below /proc) are those of the
# caller, and its user namespace too. Who owns the folder says less: it is root
# for any process that does not let itself be dumped.
is_ours() {
  local ids id
  id=$(id -u)
  ids=$(sed -n 's/^Uid:[[:space:]]*//p' "$1/status" 2>/dev/null) || return 1
  [[ $(tr -s '[:blank:]' ' ' <<<"$ids") == "$id $id $id $id" ]] || return 1
  [[ $(readlink "$1/ns/user") == "$(readlink "$PROC/self/ns/user")" ]]
}

# Prints the PID of a Bazel server of the caller that lives in root $1 and sees
# what entry $2 stands for (bazelrc.sh puts that on its command line); nothing
# when there is none. Anybody can put these words on a command line, and a root
# user who enters such a process runs what that shows as /usr/bin/env.
server_in_root() {
  local file
  grep -sl -- "-Dbazelw.entry=$2" "$PROC"/[0-9]*/cmdline | while read -r file; do
    file=${file%/cmdline}
    if [[ $(readlink "$file/root") == "$1" ]] && is_ours "$file"; then
      basename "$file"
      break
    fi
  done
}

# Replaces bazelw by a command, run inside a root:
#   enter_root ROOT ENTRY ENTRY_PATHS COMMAND...
# ENTRY_PATHS are entry_paths' lines, ENTRY their identity. The working folder stays the same when it
# can be seen inside, else it is the clone.
enter_root() {
  local root=$1 entry=$2 cwd=$WORKSPACE path drop=() paths server
  mapfile -t paths <<<"$3"
  shift 3
  for path in "${paths[@]}"; do
    if [[ $PWD == "$path" || $PWD == "$path"/* ]]; then cwd=$PWD; fi
  done
  for path in "${HOST_ONLY_ENV[@]}"; do drop+=(--unset="$path"); done
  [[ $(id -u) == 0 ]] ||
    die "entering the build root needs root: run 'sudo ./bazelw ...'."
  export LANG=C.UTF-8
  [[ ! -e /etc/ssl/certs/ca-certificates.crt ]] ||
    export SSL_CERT_FILE=${SSL_CERT_FILE:-/etc/ssl/certs/ca-certificates.crt}
  # grep finds nothing where no server runs, which is no failure.
  server=$(server_in_root "$root" "$entry") || true
  if [[ -n $server ]]; then
    exec nsenter --target "$server" --mount --root /usr/bin/env --chdir="$cwd" \
      "${drop[@]}" LANG=C.UTF-8 "$ROOT_PATH_VARIABLE" /usr/bin/env "$@"
  fi
  exec unshare --mount bash "$BUILDROOT/chroot.sh" "$root" "$cwd" "${paths[@]}" -- \
    /usr/bin/env "${drop[@]}" LANG=C.UTF-8 "$ROOT_PATH_VARIABLE" "$@"
}
