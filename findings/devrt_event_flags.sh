#!/bin/bash
# cudaEventRecordWithFlags in a kernel compiles, and no library has it.
#
# Versions: nvidia-cuda-nvcc, nvidia-cuda-crt, nvidia-cuda-runtime and nvidia-nvvm 13.5.37.
# Seen: cuda_device_runtime_api.h declares the function for device code. nvcc compiles a kernel that calls it, and the link
# with libcudadevrt.a ends with "Undefined reference to '__cudaCDP2EventRecordWithFlags'". With cudaEventRecord in its place
# the same program links.
# Expected: a definition in libcudadevrt.a, or no declaration.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check nvidia-cuda-nvcc==13.5.37 nvidia-cuda-crt==13.5.37 \
  nvidia-cuda-runtime==13.5.37 nvidia-nvvm==13.5.37
toolkit=$(echo "$folder"/venv/lib/python3*/site-packages/nvidia/cu13)
cd "$folder"
program() {
  cat <<END
__global__ void record() {
  cudaEvent_t event;
  cudaEventCreateWithFlags(&event, cudaEventDisableTiming);
  $1;
}
int main() {
  record<<<1, 1>>>();
  return cudaDeviceSynchronize() != cudaSuccess;
}
END
}
link() {
  "$toolkit/bin/nvcc" -arch=sm_90 -rdc=true "$1" -o program -L"$toolkit/lib" -lcudadevrt 2>&1
}
program 'cudaEventRecord(event, 0)' > plain.cu
program 'cudaEventRecordWithFlags(event, 0, cudaEventRecordDefault)' > flags.cu
link plain.cu
echo "cudaEventRecord links"
if said=$(link flags.cu); then
  echo "cudaEventRecordWithFlags links now"
  exit 1
fi
echo "$said"
grep -q "Undefined reference to '__cudaCDP2EventRecordWithFlags'" <<< "$said"
