#!/bin/bash
# tinygrad writes PTX for sm_100, sm_103 and sm_110 that no assembler takes.
#
# Versions: tinygrad 0.14.0, nvidia-cuda-nvcc 13.5.37 (ptxas).
# Seen: tinygrad chooses the PTX version by thresholds, 8.7 from sm_120 on and 7.8 from sm_89 on. So data centre GPUs of
# the Blackwell family get ".version 7.8" with ".target sm_100", which needs 8.6: ptxas refuses each kernel. sm_90 and
# sm_120 are right.
# Expected: the least version that has the target, or the newest.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check tinygrad==0.14.0
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check --no-deps nvidia-cuda-nvcc==13.5.37
cd "$folder"
ptxas=$(find "$folder/venv" -name ptxas)
assembles() {
  "$folder/venv/bin/python" - "$1" > kernel.ptx <<'PYTHON'
import sys

from tinygrad.runtime.support.compiler_cuda import PTXCompiler

HEAD = ".version VERSION\n.target TARGET\n.address_size 64\n"
print(PTXCompiler(sys.argv[1]).compile(HEAD + ".visible .entry k() { ret; }").decode())
PYTHON
  echo "$1: $(head --lines 1 kernel.ptx)"
  "$ptxas" --gpu-name="$1" kernel.ptx -o kernel.cubin
}
for right in sm_80 sm_90 sm_120; do
  assembles $right
done
for wrong in sm_100 sm_103 sm_110; do
  if assembles $wrong 2> errors.txt; then
    exit 1
  fi
  cat errors.txt
  grep --quiet 'ISA version\|version' errors.txt
done
