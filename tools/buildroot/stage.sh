#!/bin/bash
# One stage of the recipe, run as root inside the root that is being made:
#
#   stage.sh sources     APT sources: trixie, and forky and sid behind it
#   stage.sh SECTION     installs a section of packages.txt
#   stage.sh finish      checks that everything a build needs is there
#
# bazelw runs it by chroot and the Dockerfile by RUN, with the same files beside
# it. Each stage can be run again after it was interrupted.
set -euo pipefail

BUILDROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
ROOT=${STAGE_ROOT:-}
APT_ETC=$ROOT/etc/apt
STATE=$ROOT/var/lib/torch_cuda
export DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8
# shellcheck source=recipe.sh
. "$BUILDROOT/recipe.sh"
# shellcheck source=mirror.sh
. "$BUILDROOT/mirror.sh"
# shellcheck source=host.sh
. "$BUILDROOT/host.sh"

# Writes a deb822 source: $1 types, $2 suite, $3 components, $4 address.
source_entry() {
  cat <<END
Types: $1
URIs: $4
Suites: $2
Components: $3
Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg

END
}

# Takes the suites in motion although their Release files are past their date, as
# a closed network's mirror may hold them; their signatures still count.
take_old_suites() {
  sed -i '/^Suites: \(forky\|sid\)$/a Check-Valid-Until: no' \
    "$APT_ETC/sources.list.d/torch-cuda.sources"
}

# Points APT at the mirrors it already uses, for all the suites of packages.txt
# and the security updates of trixie; forky and sid only serve what is asked from
# them by name.
stage_sources() {
  local mirror security suite all="main contrib non-free non-free-firmware"
  mirror=$(mirror_address) || { echo "no Debian mirror in $APT_ETC" >&2 && exit 1; }
  security=$(security_address) || security=
  {
    source_entry deb trixie "$all" "$mirror"
    [[ -z $security ]] || source_entry deb trixie-security "$all" "$security"
    source_entry deb-src trixie main "$mirror"
    source_entry deb forky main "$mirror"
    source_entry deb sid main "$mirror"
  } >"$APT_ETC/torch-cuda.sources"
  rm -f "$APT_ETC/sources.list" "$APT_ETC"/sources.list.d/*
  mv "$APT_ETC/torch-cuda.sources" "$APT_ETC/sources.list.d/torch-cuda.sources"
  for suite in forky sid; do
    printf 'Package: *\nPin: release n=%s\nPin-Priority: %d\n\n' \
      "$suite" "$([[ $suite == forky ]] && echo 100 || echo 90)"
  done >"$APT_ETC/preferences.d/torch-cuda"
  cat >"$APT_ETC/apt.conf.d/90torch-cuda" <<END
APT::Install-Recommends "false";
APT::Keep-Downloaded-Packages "true";
Acquire::Retries "3";
Acquire::Languages "none";
END
  # Authorities that the host was given (bazelw copies them here) also go into
  # Java's store, from which Bazel's downloader reads.
  if command -v update-ca-certificates >/dev/null; then update-ca-certificates; fi
  apt-get update || {
    echo "trying once more, with Release files of forky and sid that are past their date" >&2
    take_old_suites
    apt-get update
  }
}

# Installs a section ($1). The index of a suite in motion can lag behind its
# pool, so that a listed package is not found: a fresh index, then the next
# suite, are tried before giving up. Trixie is not asked by name: its security
# updates would not count.
stage_install() {
  local suite suites packages from
  read -ra suites <<<"$(recipe_suites "$1")"
  mapfile -t packages < <(recipe_packages "$1")
  # Java's packages link their manual pages, which dpkg.cfg leaves out, here.
  mkdir -p "$ROOT/usr/share/man/man1"
  # Finishes what an interrupted run left half unpacked.
  dpkg --configure -a
  apt-get --yes --fix-broken install
  for suite in "${suites[@]}"; do
    from=(--target-release "$suite")
    [[ $suite != trixie ]] || from=()
    if apt-get --yes "${from[@]}" install "${packages[@]}"; then return; fi
    apt-get update
    if apt-get --yes "${from[@]}" install "${packages[@]}"; then return; fi
    echo "suite $suite cannot supply section $1 now" >&2
  done
  return 1
}

# Checks the root, and writes the identity of its tool chain: of every package
# whose version can change what a compiler makes, which Bazel does not see.
stage_finish() {
  local missing
  missing=$(host_missing)
  if [[ -n $missing ]]; then
    printf 'the finished root lacks: %s\n' "${missing//$'\n'/, }" >&2
    return 1
  fi
  mkdir -p "$STATE"
  dpkg-query --show --showformat '${Package} ${Version}\n' |
    grep -E '^(binutils|g\+\+|gcc|cpp|lib.*-dev|libc6|libstdc|linux-libc|python3|libpython3|pybind11|libtorch|nvidia|libcu|libnv|bazel)' |
    sort | sha256sum | cut -c1-12 >"$STATE/toolchain"
}

case "${1:?usage: stage.sh sources|SECTION|finish}" in
  sources) stage_sources ;;
  finish) stage_finish ;;
  *) stage_install "$1" ;;
esac
