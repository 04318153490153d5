#!/bin/bash
# NVRTC with two -arch options takes the number of the last, and machine code from either.
#
# Version: nvidia-cuda-nvrtc 13.5.37.
# Seen: "-arch=sm_80 -arch=compute_90" gives machine code for sm_90, which neither option asks for. The log has a warning
# with the numbers 80 and 90, and status 0.
# Expected: the last option alone, so PTX for compute_90 and no machine code, or an error.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check nvidia-cuda-nvrtc==13.5.37
"$folder/venv/bin/python" - "$folder/venv" <<'PYTHON'
import ctypes, pathlib, sys

nvrtc = ctypes.CDLL(str(next(pathlib.Path(sys.argv[1]).rglob("libnvrtc.so.13"))))


def architecture_of_code(*options):
    """80 for sm_80, from the flags of the ELF file; 0 where there is no machine code."""
    program, size = ctypes.c_void_p(), ctypes.c_size_t()
    nvrtc.nvrtcCreateProgram(ctypes.byref(program), b"__global__ void k() {}", b"x.cu", 0, None, None)
    assert nvrtc.nvrtcCompileProgram(program, len(options), (ctypes.c_char_p * len(options))(*options)) == 0
    nvrtc.nvrtcGetCUBINSize(program, ctypes.byref(size))
    code = ctypes.create_string_buffer(max(size.value, 64))
    nvrtc.nvrtcGetCUBIN(program, code)
    found = code.raw[49] if size.value else 0
    print(b" ".join(options).decode(), "-> machine code for", found or "nothing")
    return found


assert architecture_of_code(b"-arch=sm_80") == 80
assert architecture_of_code(b"-arch=compute_90") == 0
assert architecture_of_code(b"-arch=sm_80", b"-arch=compute_90") == 90
assert architecture_of_code(b"-arch=compute_90", b"-arch=sm_80") == 80
PYTHON
