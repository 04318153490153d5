"""What NVIDIA's NVRTC of CUDA 13 takes, refuses and gives, the library in its place does, too, by calling it.

What is different on purpose: for a real architecture the machine code is PTX, so nobody looks at options for ptxas
(-Xptxas=…).
"""

from __future__ import annotations

import ctypes
import os
import pathlib
import random
import tempfile
import unittest
from collections.abc import Sequence
from dataclasses import dataclass, field

_SOURCE = b"""
#ifdef BROKEN
undeclared
#endif
extern "C" __global__ void k(int* p) { *p = __CUDA_ARCH__; }
"""
_OUTPUTS = ("PTX", "CUBIN", "LTOIR", "OptiXIR", "TileIR")
_ARCHITECTURES = (
    *(
        "-arch=sm_80",
        "-arch=compute_80",
        "--gpu-architecture=sm_90a",
        "--gpu-architecture=compute_100f",
        "-arch=sm_70",
    ),
    *(
        "-arch=sm_99",
        "-arch=compute_99",
        "-arch=lto_80",
        "-arch=",
        "-arch=foo",
        "--gpu-architecture",
        "-arch=native",
    ),
)
_OPTIONS = (
    *(
        "-dlto",
        "-rdc=true",
        "-rdc=maybe",
        "-G",
        "-lineinfo",
        "-optix-ir",
        "-nonsense",
        "-DBROKEN",
        "-std=c++20",
    ),
    *(
        "-std=c++98",
        "--gen-opt-lto",
        "-maxrregcount=32",
        "-maxrregcount=x",
        "-default-device",
        "-ewp",
        "-w",
        "-fmad=false",
    ),
    *("-use_fast_math", "-lto", "", "--split-compile=0", "-I/nowhere", "-Xptxas", "-ptxas-options"),
)
_SEED = 58
_DRAWS = 150

_NO_PCH_CREATE_ATTEMPTED = 13
_CANCELLED = 16

_Callback = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)


@dataclass
class _Outcome:
    """What came of a program.

    Attributes:
        statuses: of compiling it, and of asking for each output.
        sizes: of the outputs.
        contents: of those, but for what is drawn anew each time.
        log: what the compiler said.
    """

    statuses: list[int] = field(default_factory=list)
    sizes: list[int] = field(default_factory=list)
    contents: list[bytes] = field(default_factory=list)
    log: str = ""


class _Info(ctypes.Structure):
    """nvrtcBundledHeadersInfo."""

    _fields_ = (
        ("available", ctypes.c_int),
        ("compressed", ctypes.c_size_t),
        ("uncompressed", ctypes.c_size_t),
        ("major", ctypes.c_int),
        ("minor", ctypes.c_int),
        ("files", ctypes.c_uint),
    )


class _Library:
    def __init__(self, path: str) -> None:
        self.library = ctypes.CDLL(os.path.realpath(path))

    def call(self, name: str, *arguments: object) -> int:
        status: int = getattr(self.library, "nvrtc" + name)(*arguments)
        return status

    def program(self) -> ctypes.c_void_p:
        program = ctypes.c_void_p()
        assert (
            self.call("CreateProgram", ctypes.byref(program), _SOURCE, b"x.cu", 0, None, None) == 0
        )
        return program

    def options(self, options: Sequence[str]) -> ctypes.Array[ctypes.c_char_p]:
        return (ctypes.c_char_p * len(options))(*[option.encode() for option in options])

    def compile(self, options: Sequence[str]) -> _Outcome:
        outcome = _Outcome()
        program = self.program()
        outcome.statuses.append(
            self.call("CompileProgram", program, len(options), self.options(options))
        )
        for output in _OUTPUTS:
            size = ctypes.c_size_t(12345)
            outcome.statuses.append(self.call(f"Get{output}Size", program, ctypes.byref(size)))
            outcome.sizes.append(size.value)
            content = ctypes.create_string_buffer(b"untouched", max(size.value, 16))
            outcome.statuses.append(self.call(f"Get{output}", program, content))
            outcome.contents.append(content.raw)
        size = ctypes.c_size_t()
        self.call("GetProgramLogSize", program, ctypes.byref(size))
        log = ctypes.create_string_buffer(size.value + 1)
        self.call("GetProgramLog", program, log)
        outcome.log = log.value.decode()
        outcome.statuses.append(self.call("GetPCHCreateStatus", program))
        assert self.call("DestroyProgram", ctypes.byref(program)) == 0
        return outcome


class NvrtcTest(unittest.TestCase):
    def setUp(self) -> None:
        os.environ["TORCH_CUDA_NVRTC_PATH"] = str(pathlib.Path(os.environ["REAL"]).resolve().parent)
        self.own = _Library(os.environ["OWN"])
        self.real = _Library(os.environ["REAL"])

    def _compare(self, options: Sequence[str]) -> _Outcome:
        own, real = self.own.compile(options), self.real.compile(options)
        self.assertEqual(own.statuses, real.statuses)
        self.assertEqual(bool(own.log), bool(real.log))
        for output, mine, theirs in zip(_OUTPUTS, own.sizes, real.sizes, strict=True):
            if output == "CUBIN":
                self.assertEqual(mine > 0, theirs > 0)
            else:
                self.assertEqual(mine, theirs)
        ptx, code = own.contents[0], own.contents[1]
        self.assertEqual(ptx, real.contents[0])
        if own.sizes[1]:
            self.assertRegex(code[: -len(ptx)], rb"^// [^\n]*\n$")
            self.assertTrue(code.endswith(ptx))
        else:
            self.assertEqual(code[:9], b"untouched")
        return own

    def test_options(self) -> None:
        drawn = random.Random(_SEED)
        with_code = refused = 0
        for _ in range(_DRAWS):
            options: list[str] = []
            while not options or drawn.random() < 0.3:
                architecture = drawn.choice(
                    _ARCHITECTURES[:4] if drawn.random() < 0.6 else _ARCHITECTURES
                )
                options.append(architecture)
                if architecture == "--gpu-architecture":
                    options.append(drawn.choice(("sm_80", "compute_80", "foo")))
            options += [drawn.choice(_OPTIONS) for _ in range(drawn.randrange(3))]
            with self.subTest(options):
                outcome = self._compare(options)
                with_code += outcome.sizes[1] > 0
                refused += outcome.statuses[0] != 0
        self.assertGreater(with_code, _DRAWS // 10)
        self.assertGreater(refused, _DRAWS // 10)

    def test_version_and_architectures(self) -> None:
        versions = []
        for library in (self.own, self.real):
            major, minor, count = ctypes.c_int(), ctypes.c_int(), ctypes.c_int()
            library.call("Version", ctypes.byref(major), ctypes.byref(minor))
            library.call("GetNumSupportedArchs", ctypes.byref(count))
            architectures = (ctypes.c_int * count.value)()
            library.call("GetSupportedArchs", architectures)
            versions.append((major.value, minor.value, list(architectures)))
        self.assertEqual(versions[0], versions[1])

    def test_a_program_that_is_compiled_again_keeps_its_code(self) -> None:
        """NVIDIA's, too: the machine code is that of the last time that there was some."""
        had = []
        for library in (self.own, self.real):
            program = library.program()
            sizes = []
            for options in (
                ["-arch=compute_80"],
                ["-arch=sm_80"],
                ["-arch=compute_90"],
                ["-arch=sm_90", "-dlto"],
                ["-arch=foo"],
                ["-arch=sm_90"],
            ):
                library.call("CompileProgram", program, len(options), library.options(options))
                size = ctypes.c_size_t()
                self.assertEqual(library.call("GetCUBINSize", program, ctypes.byref(size)), 0)
                sizes.append(size.value)
            library.call("DestroyProgram", ctypes.byref(program))
            had.append([size > 0 for size in sizes])
            # The same code, not that of another architecture.
            self.assertEqual(len(set(sizes[1:5])), 1)
        self.assertEqual(had[0], had[1])
        self.assertEqual(had[0], [False, True, True, True, True, True])

    def test_what_is_no_place_or_no_program(self) -> None:
        size = ctypes.c_size_t()
        for library in (self.own, self.real):
            program = library.program()
            self.assertEqual(library.call("GetCUBINSize", None, ctypes.byref(size)), 4)
            self.assertEqual(library.call("GetCUBINSize", program, None), 3)
            self.assertEqual(library.call("GetCUBIN", program, None), 3)
            library.call("DestroyProgram", ctypes.byref(program))

    def test_a_callback_cancels(self) -> None:
        for library in (self.own, self.real):
            program = library.program()
            calls: list[int | None] = []

            @_Callback
            def cancel(payload: int | None, _: int | None, calls: list[int | None] = calls) -> int:
                calls.append(payload)
                return 1

            self.assertEqual(
                library.call("SetFlowCallback", program, cancel, ctypes.c_void_p(58)), 0
            )
            options = library.options(["-arch=sm_80"])
            self.assertEqual(library.call("CompileProgram", program, 1, options), _CANCELLED)
            self.assertEqual(calls[:1], [58])
            library.call("DestroyProgram", ctypes.byref(program))

    def test_precompiled_headers(self) -> None:
        for library in (self.own, self.real):
            size = ctypes.c_size_t()
            self.assertEqual(library.call("GetPCHHeapSize", ctypes.byref(size)), 0)
            self.assertGreater(size.value, 0)
            self.assertEqual(library.call("SetPCHHeapSize", ctypes.c_size_t(1 << 28)), 0)
            self.assertEqual(library.call("GetPCHHeapSize", ctypes.byref(size)), 0)
            self.assertEqual(size.value, 1 << 28)
            program = library.program()
            library.call("CompileProgram", program, 1, library.options(["-arch=sm_80"]))
            self.assertEqual(library.call("GetPCHCreateStatus", program), _NO_PCH_CREATE_ATTEMPTED)
            self.assertEqual(library.call("GetPCHHeapSizeRequired", program, ctypes.byref(size)), 0)
            library.call("DestroyProgram", ctypes.byref(program))

    def test_bundled_headers(self) -> None:
        found = []
        for library in (self.own, self.real):
            info, log = _Info(), ctypes.c_char_p()
            self.assertEqual(
                library.call("GetBundledHeadersInfo", ctypes.byref(info), ctypes.byref(log)), 0
            )
            with tempfile.TemporaryDirectory() as folder:
                place = str(pathlib.Path(folder) / "headers")
                status = library.call("InstallBundledHeaders", place.encode(), 0, ctypes.byref(log))
                files = sorted(
                    str(file.relative_to(place)) for file in pathlib.Path(place).rglob("*.h")
                )
                removed = library.call("RemoveBundledHeaders", place.encode(), ctypes.byref(log))
                found.append(
                    (info.available, info.major, info.minor, info.files, status, files, removed)
                )
        self.assertEqual(found[0], found[1])
        self.assertEqual(found[0][4], 0)
        self.assertIn("cuda_fp16.h", [pathlib.Path(file).name for file in found[0][5]])


if __name__ == "__main__":
    unittest.main()
