"""What NVIDIA's nvJitLink, which needs no GPU, takes, refuses and says of PTX, the library in its place does, too."""

from __future__ import annotations

import ctypes
import os
import pathlib
import re
import tempfile
import unittest
from collections.abc import Sequence
from dataclasses import dataclass, field

_PTX = 2
_LTO_IR = 3
_ANY = 10

_HEAD = ".version 7.0\n.target sm_80\n.address_size 64\n"
_CALLER = (
    ".extern .func (.param .b32 r) foo(.param .b32 a);\n.visible .entry k(.param .u64 p) {\n"
    ".reg .b64 %d<3>; .reg .b32 %r<4>; ld.param.u64 %d1, [p]; mov.b32 %r1, 3;\n"
    "{ .param .b32 a; .param .b32 r; st.param.b32 [a], %r1; call (r), foo, (a); ld.param.b32 %r2, [r]; }\n"
    "st.global.b32 [%d1], %r2; ret; }\n"
)
_FOO = ".func (.param .b32 r) foo(.param .b32 a) { .reg .b32 %r<3>; ld.param.b32 %r1, [a]; st.param.b32 [r], %r1; ret; }\n"
_USER = ".extern .global .u32 x; .visible .global .u64 y = x;"

# Inputs by what they are about.
_CASES = {
    "nothing": [],
    "an empty input": [""],
    "a function of another input": [_CALLER, ".visible " + _FOO],
    "a function of an input before": [".visible " + _FOO, _CALLER],
    "an undefined function": [_CALLER],
    "an undefined function that nobody calls": [".extern .func nobody();"],
    "a function of libcudadevrt that nobody calls": [
        ".extern .func (.param .b64 r) cudaCGGetIntrinsicHandle(.param .b32 s);"
    ],
    "two functions": [_CALLER, ".visible " + _FOO, ".visible " + _FOO],
    "other parameters": [_CALLER, ".visible .func foo(.param .b32 a) { ret; }"],
    "parameters of other sizes": [
        _CALLER,
        ".visible .func (.param .b64 r) foo(.param .b64 a) { ret; }",
    ],
    "a static function": [_CALLER, _FOO],
    "a static function beside": [_CALLER, ".visible " + _FOO, _FOO],
    "weak functions": [_CALLER, ".weak " + _FOO, ".weak " + _FOO],
    "a strong function behind a weak one": [_CALLER, ".weak " + _FOO, ".visible " + _FOO],
    "a weak function behind a strong one": [_CALLER, ".visible " + _FOO, ".weak " + _FOO],
    "two kernels": [".visible .entry k() { ret; }", ".visible .entry k() { ret; }"],
    "static kernels": [".entry k() { ret; }", ".entry k() { ret; }"],
    "two variables": [".visible .global .u32 x;", ".visible .global .u32 x;"],
    "a variable of another input": [_USER, ".visible .global .u32 x;"],
    "a variable of another size": [_USER, ".visible .global .u64 x;"],
    "a variable of another space": [_USER, ".visible .const .u32 x;"],
    "an undefined variable": [_USER],
    "an undefined variable that nobody reads": [".extern .global .u32 x;"],
    "an array without a size": [
        ".extern .global .u32 x[]; .visible .global .u64 y = x;",
        ".visible .global .u32 x[7];",
    ],
    "common variables": [".common .global .u32 x;", ".common .global .u32 x;"],
    "common variables of several sizes": [".common .global .u32 x;", ".common .global .u64 x;"],
    "a strong variable behind a common one": [
        ".common .global .u32 x;",
        ".visible .global .u32 x = 5;",
    ],
    "a common variable behind a strong one": [
        ".visible .global .u32 x = 5;",
        ".common .global .u32 x;",
    ],
    "weak variables": [".weak .global .u32 x = 5;", ".weak .global .u32 x = 6;"],
    "weak variables of several sizes": [".weak .global .u32 x = 5;", ".weak .global .u64 x = 6;"],
    "a variable with a function's name": [".visible " + _FOO, ".visible .global .u32 foo = 33;"],
    "dynamic shared memory": [
        ".extern .shared .b8 s[]; .visible .entry a() { .reg .b32 r; mov.b32 r, s; ret; }",
        ".extern .shared .align 16 .b8 s[]; .visible .entry b() { .reg .b32 r; mov.b32 r, s; ret; }",
    ],
    "shared memory of another input": [
        ".visible .shared .b8 s[4]; .visible .entry a() { .reg .b32 r; mov.b32 r, s; ret; }",
        ".extern .shared .b8 s[4]; .visible .entry b() { .reg .b32 r; mov.b32 r, s; ret; }",
    ],
    "what is no PTX": ["nonsense\n"],
}


@dataclass
class _Outcome:
    """What came of a link.

    Attributes:
        statuses: of the calls, up to the first one that failed.
        messages: of the linker.
        ptx: what was linked.
    """

    statuses: list[int] = field(default_factory=list)
    messages: list[str] = field(default_factory=list)
    ptx: str = ""


class _Library:
    def __init__(self, path: str) -> None:
        self._library = ctypes.CDLL(os.path.realpath(path))

    def _call(self, name: str, *arguments: object) -> int:
        status: int = getattr(self._library, "nvJitLink" + name)(*arguments)
        return status

    def _text(self, handle: ctypes.c_void_p, what: str) -> str:
        size = ctypes.c_size_t()
        if self._call(f"Get{what}Size", handle, ctypes.byref(size)) != 0:
            return ""
        buffer = ctypes.create_string_buffer(size.value + 1)
        self._call(f"Get{what}", handle, buffer)
        return buffer.value.decode()

    def version(self) -> tuple[int, int]:
        major, minor = ctypes.c_uint(), ctypes.c_uint()
        self._call("Version", ctypes.byref(major), ctypes.byref(minor))
        return major.value, minor.value

    def create(self, options: Sequence[str]) -> int:
        handle = ctypes.c_void_p()
        array = (ctypes.c_char_p * len(options))(*[option.encode() for option in options])
        status = self._call("Create", ctypes.byref(handle), len(options), array)
        if status == 0:
            self._call("Destroy", ctypes.byref(handle))
        return status

    def link(
        self, inputs: Sequence[tuple[int, bytes]], options: Sequence[str] = ("-arch=sm_80",)
    ) -> _Outcome:
        outcome = _Outcome()
        handle = ctypes.c_void_p()
        array = (ctypes.c_char_p * len(options))(*[option.encode() for option in options])
        # NVIDIA's writes what it finds to the standard error output.
        with tempfile.TemporaryFile() as said:
            before = os.dup(2)
            os.dup2(said.fileno(), 2)
            try:
                outcome.statuses.append(
                    self._call("Create", ctypes.byref(handle), len(options), array)
                )
                # NVIDIA's looks at the names again when it is done.
                names = [f"in{number}".encode() for number in range(len(inputs))]
                for name, (kind, data) in zip(names, inputs, strict=True):
                    if outcome.statuses[-1] == 0:
                        size = ctypes.c_size_t(len(data))
                        outcome.statuses.append(
                            self._call("AddData", handle, kind, data, size, name)
                        )
                if outcome.statuses[-1] == 0:
                    outcome.statuses.append(self._call("Complete", handle))
            finally:
                ctypes.CDLL(None).fflush(None)
                os.dup2(before, 2)
                os.close(before)
            said.seek(0)
            text = said.read().decode() + self._text(handle, "ErrorLog")
        outcome.messages = re.findall(r"error   : .*", text)
        if outcome.statuses[-1] == 0:
            outcome.ptx = self._text(handle, "LinkedPtx")
        self._call("Destroy", ctypes.byref(handle))
        return outcome


def _lto_ir(source: str) -> bytes:
    """Compiles CUDA C++ with NVIDIA's NVRTC."""
    nvrtc = ctypes.CDLL(os.path.realpath(os.environ["REAL_NVRTC"]))
    program = ctypes.c_void_p()
    nvrtc.nvrtcCreateProgram(ctypes.byref(program), source.encode(), b"x.cu", 0, None, None)
    options = (ctypes.c_char_p * 3)(b"-arch=compute_80", b"-dlto", b"-rdc=true")
    assert nvrtc.nvrtcCompileProgram(program, 3, options) == 0
    size = ctypes.c_size_t()
    nvrtc.nvrtcGetLTOIRSize(program, ctypes.byref(size))
    code = ctypes.create_string_buffer(size.value)
    nvrtc.nvrtcGetLTOIR(program, code)
    nvrtc.nvrtcDestroyProgram(ctypes.byref(program))
    return code.raw


class NvJitLinkTest(unittest.TestCase):
    def setUp(self) -> None:
        self.own = _Library(os.environ["OWN"])
        self.real = _Library(os.environ["REAL"])
        # Where LTO IR becomes PTX.
        os.environ["TORCH_CUDA_NVJITLINK_PATH"] = str(
            pathlib.Path(os.environ["REAL"]).resolve().parent
        )

    def test_what_is_taken_refused_and_said(self) -> None:
        for about, texts in _CASES.items():
            with self.subTest(about):
                inputs = [(_PTX, (_HEAD + text).encode() + b"\0") for text in texts]
                own, real = self.own.link(inputs), self.real.link(inputs)
                self.assertEqual(own.statuses, real.statuses)
                self.assertEqual(own.messages, real.messages)

    def test_options(self) -> None:
        for options in (
            [],
            ["-lto"],
            ["-arch=sm_80", "-nonsense"],
            ["-arch=sm_80", "-lto", "-ptx", "-O3", "-fma=1"],
        ):
            with self.subTest(options):
                self.assertEqual(self.own.create(options), self.real.create(options))

    def test_a_limit_on_registers_is_in_the_linked_text(self) -> None:
        kernel = (_HEAD + ".visible .entry k() { ret; }").encode()
        for options, said in ((["-maxrregcount=38"], True), ([], False)):
            outcome = self.own.link([(_PTX, kernel)], ["-arch=sm_80", *options])
            self.assertEqual(outcome.statuses, [0, 0, 0])
            self.assertEqual(".maxnreg 38" in outcome.ptx, said)

    def test_version(self) -> None:
        self.assertEqual(self.own.version(), self.real.version())

    def test_intermediate_code_is_linked_with_ptx(self) -> None:
        kernel = _lto_ir(
            'extern "C" __device__ int foo(int); extern "C" __global__ void k(int* p) { *p = foo(3); }'
        )
        outcome = self.own.link(
            [(_LTO_IR, kernel), (_PTX, (_HEAD + ".visible " + _FOO).encode())],
            ["-arch=sm_80", "-lto"],
        )
        self.assertEqual(outcome.statuses, [0, 0, 0, 0])
        self.assertIn(".entry k(", outcome.ptx)
        self.assertIn("foo(.param .b32 a) {", outcome.ptx)
        self.assertNotIn(".extern", outcome.ptx)
        self.assertEqual(
            self.own.link([(_LTO_IR, b"nonsense")], ["-arch=sm_80", "-lto"]).statuses[:2], [0, 0]
        )

    def test_machine_code_is_refused(self) -> None:
        self.assertEqual(self.own.link([(_ANY, b"something")]).statuses, [0, 3])


if __name__ == "__main__":
    unittest.main()
