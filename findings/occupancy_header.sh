#!/bin/bash
# cuda_occupancy.h of nvidia-cuda-runtime-cu12 12.8.90 and 12.9.79 (PyPI): cudaOccAvailableDynamicSMemPerBlock forgets the
# 1 KiB that the system reserves in each block from compute capability 8.0 on. It promises more dynamic shared memory than
# lets the asked number of blocks fit: cudaOccMaxActiveBlocksPerMultiprocessor of the same header then answers one block
# less. The header of nvidia-cuda-runtime 13.5.37 subtracts it.
#
# One would expect: with the shared memory that the first function tells for N blocks, the second tells at least N.
# Exit status: 0 where it is as said here, else 1.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cat > "$folder/ask.cpp" << 'CODE'
#include <cuda_occupancy.h>

#include <cstdio>

int main() {
  cudaOccDeviceProp a100;
  a100.computeMajor = 8;
  a100.maxThreadsPerBlock = 1024;
  a100.maxThreadsPerMultiprocessor = 2048;
  a100.regsPerBlock = a100.regsPerMultiprocessor = 65536;
  a100.warpSize = 32;
  a100.sharedMemPerBlock = 48 << 10;
  a100.sharedMemPerMultiprocessor = 164 << 10;
  a100.numSms = 108;
  a100.sharedMemPerBlockOptin = 163 << 10;
  a100.reservedSharedMemPerBlock = 1 << 10;
  cudaOccFuncAttributes kernel;
  kernel.maxThreadsPerBlock = 1024;
  kernel.numRegs = 16;
  kernel.shmemLimitConfig = FUNC_SHMEM_LIMIT_OPTIN;
  kernel.maxDynamicSharedSizeBytes = 163 << 10;
  kernel.numBlockBarriers = 1;
  const cudaOccDeviceState state;
  for (int blocks = 1; blocks <= 4; ++blocks) {
    std::size_t bytes = 0;
    cudaOccResult result;
    cudaOccAvailableDynamicSMemPerBlock(&bytes, &a100, &kernel, &state, blocks, 128);
    cudaOccMaxActiveBlocksPerMultiprocessor(&result, &a100, &kernel, &state, 128, bytes);
    std::printf("%d:%zu:%d ", blocks, bytes, result.activeBlocksPerMultiprocessor);
  }
}
CODE
python3 -m venv "$folder/venv"
status=0
check() { # PACKAGE==VERSION FOLDER EXPECTED (blocks asked for, bytes told, blocks that fit with them)
  "$folder/venv/bin/pip" install --quiet --disable-pip-version-check --no-deps --target "$folder/$2" "$1"
  header=$(find "$folder/$2" -name cuda_occupancy.h -printf '%h\n' | head -1)
  g++ -std=c++17 -w -I "$header" "$folder/ask.cpp" -o "$folder/ask"
  found=$("$folder/ask")
  echo "$1: blocks:bytes:fitting ${found% }"
  [ "${found% }" = "$3" ] || status=1
}
check nvidia-cuda-runtime-cu12==12.8.90 v128 "1:166912:1 2:83968:1 3:55936:2 4:41984:3"
check nvidia-cuda-runtime-cu12==12.9.79 v129 "1:166912:1 2:83968:1 3:55936:2 4:41984:3"
check nvidia-cuda-runtime==13.5.37 v135 "1:166912:1 2:82944:2 3:54912:3 4:40960:4"
exit $status
