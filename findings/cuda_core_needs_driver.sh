#!/bin/bash
# cuda-core compiles no PTX without a driver, although NVRTC needs none and the architecture is told.
#
# Versions: cuda-core 1.2.2, cuda-bindings 13.5.0, nvidia-cuda-nvrtc 13.5.37. On a machine without libcuda.so.1.
# Seen: Program(..., ProgramOptions(arch="sm_80")).compile("ptx") raises DynamicLibNotFoundError for the driver. The same
# NVRTC, called through cuda.bindings, compiles the same source.
# Expected: PTX, as numba-cuda's compile_ptx(cc=...) gives without a driver: builds and CI machines have no GPU.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check cuda-core==1.2.2 cuda-bindings==13.5.0 \
  nvidia-cuda-nvrtc==13.5.37
"$folder/venv/bin/python" - <<'PYTHON'
import ctypes
import sys

from cuda.bindings import nvrtc
from cuda.core import Program, ProgramOptions

try:
    ctypes.CDLL("libcuda.so.1")
except OSError:
    pass
else:
    sys.exit("this finding is about machines without a driver; this one has libcuda.so.1")
SOURCE = 'extern "C" __global__ void k(int* p) { *p = 1; }'
status, program = nvrtc.nvrtcCreateProgram(SOURCE.encode(), b"x.cu", 0, [], [])
(status,) = nvrtc.nvrtcCompileProgram(program, 1, [b"-arch=sm_80"])
status, size = nvrtc.nvrtcGetPTXSize(program)
print("NVRTC:", status, size, "bytes of PTX")
assert int(status) == 0 and size > 100
try:
    Program(SOURCE, "c++", ProgramOptions(arch="sm_80")).compile("ptx")
except Exception as error:
    print("cuda-core:", type(error).__name__, str(error)[:120])
    assert type(error).__name__ == "DynamicLibNotFoundError" and "driver" in str(error)
else:
    raise AssertionError("cuda-core compiled it")
PYTHON
