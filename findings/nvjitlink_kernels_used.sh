#!/bin/bash
# nvJitLink's -kernels-used=NAME keeps every kernel whose name has NAME in it, and drops all of them for a C++ name.
#
# Versions: nvidia-nvjitlink 13.5.37, nvidia-cuda-nvrtc 13.5.37.
# Seen: of the kernels k, kk, xk and ns::cpp(int*), "-kernels-used=k" keeps k, kk and xk, "-kernels-used=cpp" the mangled
# _ZN2ns3cppEPi. "-kernels-used=ns::cpp(int*)" and a name that nobody has drop all kernels, with status 0 and no message.
# Expected (nvJitLink.h: "Pass list of kernels that are used; any not in the list can be removed"): names, matched as a
# whole, and a word on one that is not found.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check nvidia-nvjitlink==13.5.37 nvidia-cuda-nvrtc==13.5.37
"$folder/venv/bin/python" - "$folder/venv" <<'PYTHON'
import ctypes, pathlib, re, sys


def load(name):
    return ctypes.CDLL(str(next(pathlib.Path(sys.argv[1]).rglob(name))))


nvrtc, linker = load("libnvrtc.so.13"), load("libnvJitLink.so.13")
SOURCE = b"""
extern "C" __global__ void k(int* p) { *p = 1; }
extern "C" __global__ void kk(int* p) { *p = 2; }
extern "C" __global__ void xk(int* p) { *p = 3; }
namespace ns { __global__ void cpp(int* p) { *p = 4; } }
"""
program, size = ctypes.c_void_p(), ctypes.c_size_t()
nvrtc.nvrtcCreateProgram(ctypes.byref(program), SOURCE, b"x.cu", 0, None, None)
options = (ctypes.c_char_p * 3)(b"-arch=compute_80", b"-rdc=true", b"-dlto")
assert nvrtc.nvrtcCompileProgram(program, 3, options) == 0
nvrtc.nvrtcGetLTOIRSize(program, ctypes.byref(size))
code = ctypes.create_string_buffer(size.value)
nvrtc.nvrtcGetLTOIR(program, code)


def kernels(used):
    link = ctypes.c_void_p()
    options = [b"-arch=sm_80", b"-lto", b"-ptx", b"-kernels-used=" + used]
    assert linker.nvJitLinkCreate(ctypes.byref(link), 4, (ctypes.c_char_p * 4)(*options)) == 0
    assert linker.nvJitLinkAddData(link, 3, code, ctypes.c_size_t(len(code)), b"x") == 0
    assert linker.nvJitLinkComplete(link) == 0
    linker.nvJitLinkGetErrorLogSize(link, ctypes.byref(size))
    assert size.value <= 1
    linker.nvJitLinkGetLinkedPtxSize(link, ctypes.byref(size))
    text = ctypes.create_string_buffer(size.value)
    linker.nvJitLinkGetLinkedPtx(link, text)
    found = re.findall(r"\.entry (\w+)", text.value.decode())
    print(f"-kernels-used={used.decode()}: {found}")
    return found


assert kernels(b"k") == ["k", "kk", "xk"]
assert kernels(b"kk") == ["kk"]
assert kernels(b"cpp") == ["_ZN2ns3cppEPi"]
assert kernels(b"ns::cpp(int*)") == []
assert kernels(b"nobody") == []
PYTHON
