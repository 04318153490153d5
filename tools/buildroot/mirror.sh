# shellcheck shell=bash
# Where Debian packages come from: the APT configuration of this machine (or,
# when stage.sh reads this file, of the root). No address is written down here.

# Prints the address of a mirror of Debian's main archive, without its last
# slash; fails when APT is configured with none (or is not there).
mirror_address() {
  local found list
  # Without --no-release-info, APT is silent until it has fetched its lists once.
  found=$(apt-get indextargets --no-release-info \
    --format '$(REPO_URI) $(RELEASE) $(COMPONENT)' 'Created-By: Packages' 2>/dev/null | awk '
      $3 == "main" && $2 ~ /^(sid|unstable|testing|(old)*stable|buster|bullseye|bookworm|trixie|forky|duke)$/ {
        print $1; exit }') || return 1
  # Cloud images list their mirrors in a file; any of them will do.
  case "$found" in
    mirror+file:*)
      list=${found#mirror+file:}
      list="/${list#"${list%%[!/]*}"}"
      found=$(awk '/^[a-z]/ { print $1; exit }' "${list%/}" 2>/dev/null)
      ;;
  esac
  [[ -n $found ]] || return 1
  printf '%s\n' "${found%/}"
}

# Prints the address of the archive of Debian's security updates that APT uses,
# without its last slash; fails when APT uses none.
security_address() {
  local found
  found=$(apt-get indextargets --no-release-info \
    --format '$(REPO_URI) $(RELEASE) $(COMPONENT)' 'Created-By: Packages' 2>/dev/null |
    awk '$3 == "main" && $2 ~ /^[a-z]+-security$/ { print $1; exit }') || return 1
  [[ -n $found ]] || return 1
  printf '%s\n' "${found%/}"
}

# Succeeds when the mirror ($1) has Debian 13, or suite $2 of it; asked through APT's own helper,
# which knows the proxies and authorities that APT is configured with.
mirror_answers() {
  local helper scratch rc=0
  helper=$(command -v apt-helper || echo /usr/lib/apt/apt-helper)
  scratch=$(mktemp -d) || return 1
  timeout 60 "$helper" download-file "$1/dists/${2:-trixie}/InRelease" \
    "$scratch/InRelease" >/dev/null 2>&1 || rc=1
  rm -rf "$scratch"
  return "$rc"
}

# Prints the proxy settings of APT as lines for an apt.conf file.
mirror_proxies() {
  apt-config dump 2>/dev/null |
    grep -E '^Acquire::(http|https|ftp)::Proxy(::[^ ]*)? "[^"]+";$' || true
}
