#!/usr/bin/env bash
# cudaGraphKernelNodeCopyAttributes: source and destination change places between the headers of CUDA 12 and 13.
#
# Versions: nvidia-cuda-runtime-cu12 12.9.79, nvidia-cuda-runtime 13.5.37 (PyPI).
# Behaviour: CUDA 12's header declares (hSrc, hDst), CUDA 13's declares (hDst, hSrc). Name and types are the same, so
# neither compiler nor linker notices; a program that is compiled again copies the attributes the other way round, if
# each runtime does what its header says.
# Expected: one order, as cuGraphKernelNodeCopyAttributes (dst, src) of the driver has in both.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
pip="$folder/venv/bin/pip"
"$pip" install --quiet --no-deps --target "$folder/12" nvidia-cuda-runtime-cu12==12.9.79
"$pip" install --quiet --no-deps --target "$folder/13" nvidia-cuda-runtime==13.5.37

order() {  # The parameters of the runtime's function in the header below a folder.
  local header
  header=$(find "$1" -name cuda_runtime_api.h | head -n 1)
  grep -A 2 'CUDARTAPI cudaGraphKernelNodeCopyAttributes(' "$header" | grep -oE 'h(Src|Dst)' | paste -sd ' '
}

twelve=$(order "$folder/12")
thirteen=$(order "$folder/13")
echo "CUDA 12: $twelve"
echo "CUDA 13: $thirteen"
[[ "$twelve" == "hSrc hDst" && "$thirteen" == "hDst hSrc" ]] || { echo "the behaviour has changed"; exit 1; }
