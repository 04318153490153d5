#!/bin/bash
# cuobjdump -xptx all writes several texts to one file, and says nothing of those that are lost.
#
# Versions: nvidia-cuda-nvcc 13.5.37, nvidia-cuda-cuobjdump 13.5.37.
# Seen: a fat binary with two texts for sm_80 under one identifier, as nvcc names sources. cuobjdump says that it extracts
# file 1 and file 2, both under the name id.sm_80.ptx, ends with 0, and leaves the second alone. Without an identifier the
# files are numbered.
# Expected: two files.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check --no-deps \
  nvidia-cuda-nvcc==13.5.37 nvidia-cuda-cuobjdump==13.5.37
cd "$folder"
tools=$(dirname "$(find "$folder/venv" -name fatbinary)")
for kernel in one two; do
  printf '%s\n' '.version 8.8' '.target sm_80' '.address_size 64' ".visible .entry $kernel() { ret; }" > $kernel.ptx
done
for identifier in --ident=id.cu ''; do
  mkdir out && cd out
  "$tools/fatbinary" -64 $identifier --create=../packed \
    --image3=kind=ptx,sm=80,file=../one.ptx --image3=kind=ptx,sm=80,file=../two.ptx
  "$tools/cuobjdump" -xptx all ../packed
  ls
  if [ -n "$identifier" ]; then
    [ "$(ls)" = id.sm_80.ptx ]
    grep --quiet 'two()' id.sm_80.ptx
  else
    [ "$(find . -type f | wc --lines)" = 2 ]
  fi
  cd .. && rm -r out
done
