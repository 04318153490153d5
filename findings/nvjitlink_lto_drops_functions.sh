#!/bin/bash
# One kernel in LTO IR, whichever, makes nvJitLink drop the functions that PTX needs of it.
#
# Versions: nvidia-nvjitlink 13.5.37, nvidia-cuda-nvrtc 13.5.37.
# Seen: f.ltoir defines f, k.ptx calls it; "-lto" links both. With a third input, LTO IR with a kernel that has nothing
# to do with either, the same link fails (6): "Undefined reference to 'f'".
# Expected: that an input which defines something more takes nothing away.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check nvidia-nvjitlink==13.5.37 nvidia-cuda-nvrtc==13.5.37
"$folder/venv/bin/python" - "$folder/venv" <<'PYTHON'
import ctypes, pathlib, sys


def load(name):
    return ctypes.CDLL(str(next(pathlib.Path(sys.argv[1]).rglob(name))))


nvrtc, linker = load("libnvrtc.so.13"), load("libnvJitLink.so.13")
PTX, LTO_IR = 2, 3


def compiled(source, *options, what):
    program, size = ctypes.c_void_p(), ctypes.c_size_t()
    nvrtc.nvrtcCreateProgram(ctypes.byref(program), source, b"x.cu", 0, None, None)
    options = [b"-arch=compute_80", b"-rdc=true", *options]
    assert nvrtc.nvrtcCompileProgram(program, len(options), (ctypes.c_char_p * len(options))(*options)) == 0
    getattr(nvrtc, f"nvrtcGet{what}Size")(program, ctypes.byref(size))
    code = ctypes.create_string_buffer(size.value)
    getattr(nvrtc, f"nvrtcGet{what}")(program, code)
    return code.raw


def linked(inputs):
    link, size = ctypes.c_void_p(), ctypes.c_size_t()
    names = [b"in%d" % number for number in range(len(inputs))]
    assert linker.nvJitLinkCreate(ctypes.byref(link), 2, (ctypes.c_char_p * 2)(b"-arch=sm_80", b"-lto")) == 0
    for name, (kind, data) in zip(names, inputs):
        assert linker.nvJitLinkAddData(link, kind, data, ctypes.c_size_t(len(data)), name) == 0
    status = linker.nvJitLinkComplete(link)
    linker.nvJitLinkGetErrorLogSize(link, ctypes.byref(size))
    log = ctypes.create_string_buffer(size.value + 1)
    linker.nvJitLinkGetErrorLog(link, log)
    return status, log.value.decode()


f = (LTO_IR, compiled(b'extern "C" __device__ int f(int x) { return x + 42; }', b"-dlto", what="LTOIR"))
k = (PTX, compiled(b'extern "C" __device__ int f(int); extern "C" __global__ void k(int* p) { *p = f(3); }', what="PTX"))
other = (LTO_IR, compiled(b'extern "C" __global__ void unrelated(int* p) { *p = 1; }', b"-dlto", what="LTOIR"))
alone, beside = linked([f, k]), linked([f, k, other])
print("f.ltoir, k.ptx:", alone)
print("f.ltoir, k.ptx, unrelated.ltoir:", beside)
assert alone[0] == 0
assert beside[0] == 6 and "Undefined reference to 'f'" in beside[1]
PYTHON
