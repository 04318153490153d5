#!/usr/bin/env bash
# NVRTC: a kernel that sets a graph's condition compiles with -rdc=true only.
#
# Version: nvidia-cuda-nvrtc 13.5.37 (PyPI).
# Behaviour: the type cudaGraphConditionalHandle is known without a header, the function cudaGraphSetConditional that
# it is for is not: "identifier is undefined". With -rdc=true it is declared, and the PTX has it as an external
# function for the driver or a linker to supply.
# Expected: type and function are declared together, or a message that names the option.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet nvidia-cuda-nvrtc==13.5.37
"$folder/venv/bin/python" - "$folder" <<'PYTHON'
import ctypes, pathlib, sys

library = next(pathlib.Path(sys.argv[1]).rglob("libnvrtc.so.13"))
nvrtc = ctypes.CDLL(str(library))
TYPE = b'extern "C" __global__ void k(cudaGraphConditionalHandle h, unsigned v) { }'
CALL = TYPE.replace(b"{ }", b"{ cudaGraphSetConditional(h, v); }")


def compile(source: bytes, *options: bytes) -> int:
    program = ctypes.c_void_p()
    assert nvrtc.nvrtcCreateProgram(ctypes.byref(program), source, b"k.cu", 0, None, None) == 0
    array = (ctypes.c_char_p * len(options))(*options)
    status = nvrtc.nvrtcCompileProgram(program, len(options), array)
    size = ctypes.c_size_t()
    nvrtc.nvrtcGetProgramLogSize(program, ctypes.byref(size))
    log = ctypes.create_string_buffer(size.value)
    nvrtc.nvrtcGetProgramLog(program, log)
    print(options, "status", status, log.value.decode().split("\n")[0])
    return status


ARCH = b"--gpu-architecture=compute_80"
seen = [compile(TYPE, ARCH), compile(CALL, ARCH), compile(CALL, ARCH, b"-rdc=true")]
if seen != [0, 6, 0]:
    sys.exit("the behaviour has changed")
PYTHON
