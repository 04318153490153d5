#!/bin/bash
# fatbinary changes the PTX that it packs: comments and blanks are gone, and lines move.
#
# Versions: nvidia-cuda-nvcc 13.5.37, nvidia-cuda-cuobjdump 13.5.37.
# Seen: what cuobjdump takes out of a fat binary is not the file that went in, even with --compress-mode=none: no comment
# is left, blanks at the beginning of lines are gone, and a comment over several lines becomes one line. So the line of an
# error that the driver's compiler reports is not the line of the file that nvcc -ptx or --keep leaves, and a tool that
# keeps data in comments of PTX loses it.
# Expected: a container that gives back what was put in.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check --no-deps \
  nvidia-cuda-nvcc==13.5.37 nvidia-cuda-cuobjdump==13.5.37
cd "$folder"
tools=$(dirname "$(find "$folder/venv" -name fatbinary)")
printf '%s\n' '// written by my compiler' '/* over' 'three' 'lines */' '.version 8.8' '.target sm_80' '.address_size 64' \
  '.visible .entry k() {' '    ret; // here' '}' > in.ptx
"$tools/fatbinary" -64 --compress-mode=none --create=packed --image3=kind=ptx,sm=80,file=in.ptx
"$tools/cuobjdump" -xptx all packed > listing.txt
cat packed.1.sm_80.ptx
if grep 'my compiler\|lines\|here' packed.1.sm_80.ptx; then
  exit 1
fi
before=$(grep --line-number 'ret;' in.ptx | cut -d: -f1)
after=$(grep --line-number 'ret;' packed.1.sm_80.ptx | cut -d: -f1)
echo "line of ret: $before in the file, $after in the fat binary"
[ "$before" = 9 ] && [ "$after" = 7 ]
