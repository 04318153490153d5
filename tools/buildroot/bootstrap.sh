#!/bin/bash
# The first stage of a build root, run on the host as root:
#
#   bootstrap.sh TREE MIRROR SECURITY
#
# makes a minimal Debian 13 in the new folder TREE out of the packages at MIRROR
# and, where it is not empty, of the security updates at SECURITY.
# (In the Dockerfile, the base image takes this stage's place.)
set -euo pipefail

BUILDROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=mirror.sh
. "$BUILDROOT/mirror.sh"
tree=$1 sources=("$2")
[[ -z $3 ]] || sources+=("deb $3 trixie-security main contrib non-free non-free-firmware")

if ! command -v mmdebstrap >/dev/null; then
  export DEBIAN_FRONTEND=noninteractive
  apt-get --yes --no-install-recommends install mmdebstrap ||
    { apt-get update && apt-get --yes --no-install-recommends install mmdebstrap; }
fi

proxies=$(mktemp)
trap 'rm -f "$proxies"' EXIT
mirror_proxies >"$proxies"
if [[ -e /etc/ssl/certs/ca-certificates.crt ]]; then
  # Only used by APT inside the root, while its own authorities may lack the
  # host's; mmdebstrap's APT runs on the host.
  authorities=/var/lib/torch_cuda/host-authorities.crt
fi

rm -rf --one-file-system "$tree"
mmdebstrap --variant=apt --include=ca-certificates \
  --components=main,contrib,non-free,non-free-firmware \
  --dpkgopt="$BUILDROOT/dpkg.cfg" --aptopt="$proxies" \
  trixie "$tree" "${sources[@]}"

mkdir -p "$tree/var/lib/torch_cuda"
if [[ -n ${authorities:-} ]]; then
  cp -L /etc/ssl/certs/ca-certificates.crt "$tree$authorities"
  echo "Acquire::https::CaInfo \"$authorities\";" \
    >"$tree/etc/apt/apt.conf.d/91torch-cuda-host"
fi
if compgen -G '/usr/local/share/ca-certificates/*.crt' >/dev/null; then
  cp -L /usr/local/share/ca-certificates/*.crt "$tree/usr/local/share/ca-certificates/"
fi
