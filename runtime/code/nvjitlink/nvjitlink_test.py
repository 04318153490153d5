"""What NVIDIA's nvJitLink, which needs no GPU, takes, refuses and says, the library in its place does, too.

The libraries are those of CUDA 12.8 and 13.5. What is different on purpose:

- Machine code is refused, as the device runs none.
- NVIDIA's of 12.8 and 13.5 link what is defined twice, or otherwise than it is declared, and write a message to the
  standard error output alone; here it is refused, as by NVIDIA's of 12.4.
- An architecture of one digit ends the program in NVIDIA's of 13.5.
"""

from __future__ import annotations

import ctypes
import multiprocessing
import os
import pathlib
import pickle
import random
import re
import tempfile
import unittest
from collections.abc import Iterator, Sequence
from concurrent import futures
from dataclasses import dataclass, field

from runtime.code.nvjitlink import cases

_NONE = 0
_CUBIN = 1
_PTX = 2
_LTO_IR = 3
_FAT_BINARY = 4
_OBJECT = 5
_LIBRARY = 6
_INDEX = 7
_ANY = 10
_TYPES = (_NONE, _CUBIN, _PTX, _LTO_IR, _FAT_BINARY, _OBJECT, _LIBRARY, _INDEX, 8, 9, _ANY, 11, -1)

_INVALID_INPUT = 3

_SEED = 58
_DRAWS = 600

# What is linked, and with which options.
_Inputs = tuple[Sequence[tuple[int, bytes]], Sequence[str]]


@dataclass
class _Outcome:
    """What came of a link.

    Attributes:
        statuses: of the calls, up to the first one that failed.
        messages: of the linker.
        code: what was linked, as text.
        results: of asking for machine code, PTX and LTO IR.
        has_link: whether there is a link.
        has_log: whether it says something of an error.
    """

    statuses: list[int] = field(default_factory=list)
    messages: list[str] = field(default_factory=list)
    code: str = ""
    results: list[int] = field(default_factory=list)
    has_link: bool = False
    has_log: bool = False


class _Library:
    def __init__(self, path: str) -> None:
        self._library = ctypes.CDLL(os.path.realpath(path))
        self.outputs = ["LinkedCubin", "LinkedPtx"]
        if self.version() >= (13, 0):
            self.outputs.append("LinkedLTOIR")

    def has(self, name: str) -> bool:
        """Whether there is such a function."""
        return hasattr(self._library, name)

    def _call(self, name: str, *arguments: object) -> int:
        status: int = getattr(self._library, "nvJitLink" + name)(*arguments)
        return status

    def _text(self, handle: ctypes.c_void_p, what: str) -> str:
        size = ctypes.c_size_t()
        if self._call(f"Get{what}Size", handle, ctypes.byref(size)) != 0:
            return ""
        buffer = ctypes.create_string_buffer(size.value + 1)
        self._call(f"Get{what}", handle, buffer)
        return buffer.value.decode(errors="replace")

    def version(self) -> tuple[int, int]:
        major, minor = ctypes.c_uint(), ctypes.c_uint()
        self._call("Version", ctypes.byref(major), ctypes.byref(minor))
        return major.value, minor.value

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
            log = self._text(handle, "ErrorLog")
            text = said.read().decode() + log
        outcome.messages = re.findall(r"error   : .*", text)
        outcome.has_link = bool(handle.value)
        outcome.has_log = bool(log)
        for what in self.outputs:
            size = ctypes.c_size_t()
            outcome.results.append(self._call(f"Get{what}Size", handle, ctypes.byref(size)))
        outcome.code = self._text(handle, "LinkedCubin" if "-ptx" not in options else "LinkedPtx")
        self._call("Destroy", ctypes.byref(handle))
        return outcome


def _link_in_child(library: _Library, link: _Inputs) -> _Outcome:
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        with os.fdopen(writing, "wb") as pipe:
            pickle.dump(library.link(*link), pipe)
            pipe.flush()
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        content = pipe.read()
    os.waitpid(child, 0)
    outcome: _Outcome = pickle.loads(content)
    return outcome


def _link_by_real(links: Sequence[_Inputs]) -> list[_Outcome]:
    library = _Library(os.environ["REAL"])
    return [_link_in_child(library, link) for link in links]


def _fresh(links: Sequence[_Inputs]) -> list[_Outcome]:
    """What NVIDIA's library makes of links, each in a process that has linked nothing before.

    That of 12.8 spoils the heap with some options that it refuses, that of 13.5 ends where something is defined twice
    and LTO IR was linked before.
    """
    with futures.ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        return pool.submit(_link_by_real, links).result()


def _lto_ir(source: str) -> bytes:
    """Compiles CUDA C++ with NVIDIA's NVRTC to LTO IR."""
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
        for name, library in (("NVJITLINK", "REAL"), ("NVRTC", "REAL_NVRTC")):
            folder = pathlib.Path(os.environ[library]).resolve().parent
            os.environ[f"TORCH_CUDA_{name}_PATH"] = str(folder)

    def test_what_is_taken_refused_and_said(self) -> None:
        links = [
            [(_PTX, (cases.HEAD + text).encode() + b"\0") for text in texts]
            for texts in cases.CASES.values()
        ]
        reals = _fresh([(inputs, ["-arch=sm_80"]) for inputs in links])
        for about, inputs, real in zip(cases.CASES, links, reals, strict=True):
            with self.subTest(about):
                own = self.own.link(inputs)
                self.assertEqual(own.messages, real.messages)
                if about in cases.REFUSED_HERE:
                    self.assertTrue(own.messages)
                    self.assertEqual(own.statuses[-1], _INVALID_INPUT)
                    self.assertEqual(real.statuses[-1], 0)
                else:
                    self.assertEqual(own.statuses, real.statuses)

    def _compare(
        self, inputs: Sequence[tuple[int, bytes]], options: Sequence[str] = ("-arch=sm_80",)
    ) -> _Outcome:
        """Both libraries give the same statuses; returns what came of our own."""
        own, real = self.own.link(inputs, options), self.real.link(inputs, options)
        self._check(own, real)
        return own

    def _check(self, own: _Outcome, real: _Outcome) -> None:
        self.assertEqual(own.statuses, real.statuses)
        if own.statuses[-1] == 0:
            self.assertEqual(own.results, real.results)
        self.assertEqual(own.has_link, real.has_link)
        if real.statuses[-1] != 0 and real.has_log:
            self.assertTrue(own.has_log)

    def _draw_options(self) -> Iterator[list[str]]:
        drawn = random.Random(_SEED)
        for _ in range(_DRAWS):
            options = []
            if drawn.random() < 0.95:
                prefix, number = (
                    drawn.choice(cases.PREFIXES),
                    drawn.choice((80, 80, drawn.choice(cases.NUMBERS))),
                )
                options.append(f"-arch={prefix}{number}{drawn.choice(cases.SUFFIXES)}")
            for _ in range(drawn.randrange(4)):
                options.append(drawn.choice(cases.NAMES) + drawn.choice(cases.VALUES))
            for common in ("-lto", "-ptx", "-g", "-O3"):
                if drawn.random() < 0.15:
                    options.append(common)
            drawn.shuffle(options)
            yield options

    def test_options(self) -> None:
        refused = 0
        drawn = list(self._draw_options())
        for options, real in zip(drawn, _fresh([([], options) for options in drawn]), strict=True):
            with self.subTest(options):
                own = self.own.link([], options)
                self._check(own, real)
                refused += own.statuses[0] != 0
        self.assertGreater(refused, _DRAWS // 3)
        self.assertLess(refused, _DRAWS * 9 // 10)

    def test_types_of_inputs(self) -> None:
        lto_ir = _lto_ir('extern "C" __global__ void k(int* p) { *p = 3; }')
        texts = {
            "PTX": (cases.HEAD + ".visible .entry k() { ret; }").encode(),
            "LTO IR": lto_ir,
            "nonsense": b"something else",
            "nothing": b"",
        }
        for kind in _TYPES:
            for about, data in texts.items():
                for options in (
                    ["-arch=sm_80"],
                    ["-arch=sm_80", "-lto"],
                    ["-arch=sm_80", "-lto", "-ptx"],
                ):
                    with self.subTest(kind=kind, about=about, options=options):
                        self._compare([(kind, data)], options)

    def test_what_is_taken_for_ptx(self) -> None:
        for about, text in cases.TEXTS.items():
            for kind in (_PTX, _ANY):
                with self.subTest(about=about, kind=kind):
                    self._compare([(kind, text.encode())])

    def test_names_with_versions(self) -> None:
        major, minor = self.real.version()
        for function in (
            "Create",
            "Destroy",
            "AddData",
            "AddFile",
            "Complete",
            "GetErrorLog",
            "GetLinkedCubinSize",
        ):
            for number in range(minor + 1):
                name = f"__nvJitLink{function}_{major}_{number}"
                self.assertTrue(self.real.has(name), name)
                self.assertTrue(self.own.has(name), name)
        library = ctypes.CDLL(os.path.realpath(os.environ["OWN"]))
        for number in range(minor + 1):
            link = ctypes.c_void_p()
            options = (ctypes.c_char_p * 1)(b"-arch=sm_80")
            create = getattr(library, f"__nvJitLinkCreate_{major}_{number}")
            self.assertEqual(create(ctypes.byref(link), 1, options), 0)
            complete = getattr(library, f"__nvJitLinkComplete_{major}_{number}")
            self.assertEqual(complete(link), 0)
            destroy = getattr(library, f"__nvJitLinkDestroy_{major}_{number}")
            self.assertEqual(destroy(ctypes.byref(link)), 0)

    def test_a_limit_on_registers_is_in_the_linked_text(self) -> None:
        kernel = (cases.HEAD + ".visible .entry k() { ret; }").encode()
        for options, said in ((["-maxrregcount=38"], True), ([], False)):
            outcome = self.own.link([(_PTX, kernel)], ["-arch=sm_80", *options])
            self.assertEqual(outcome.statuses, [0, 0, 0])
            self.assertEqual(".maxnreg 38" in outcome.code, said)

    def test_version(self) -> None:
        self.assertEqual(self.own.version(), self.real.version())

    def test_intermediate_code_and_ptx(self) -> None:
        """LTO IR and PTX call each other; the PTX that comes of it is one that NVIDIA's takes."""
        f_lto = (_LTO_IR, _lto_ir('extern "C" __device__ int foo(int x) { return x + 42; }'))
        unused = (_LTO_IR, _lto_ir('extern "C" __device__ int unused(int x) { return x - 7; }'))
        k_lto = (
            _LTO_IR,
            _lto_ir(
                'extern "C" __device__ int foo(int); extern "C" __global__ void k2(int* p) { *p = foo(3); }'
            ),
        )
        f_ptx = (_PTX, (cases.HEAD + ".visible " + cases.FOO).encode())
        k_ptx = (_PTX, (cases.HEAD + cases.CALLER).encode())
        other = (
            _PTX,
            (cases.HEAD + cases.CALLER.replace("foo", "bar").replace("k(", "k3(")).encode(),
        )
        for inputs in (
            *(
                [f_lto, k_lto],
                [k_lto, f_ptx],
                [f_ptx, k_lto],
                [f_lto, k_ptx],
                [k_ptx, f_lto],
                [f_lto, k_lto, k_ptx],
            ),
            *(
                [k_ptx, unused, f_lto],
                [k_lto],
                [f_lto],
                [k_ptx],
                [f_ptx, k_ptx],
                [k_ptx, unused],
                [k_lto, unused],
            ),
            *([f_lto, f_ptx, k_ptx], [other, f_lto, k_ptx], [k_ptx, k_lto, f_lto, unused]),
        ):
            for options in (
                [],
                ["-lto"],
                ["-dlto", "-O3"],
                ["-lto", "-ptx"],
                ["-lto", "-maxrregcount=40"],
            ):
                with self.subTest(inputs=[kind for kind, _ in inputs], options=options):
                    outcome = self._compare(inputs, ["-arch=sm_80", *options])
                    if outcome.statuses[-1] == 0 and "-ptx" not in options:
                        again = self.real.link([(_PTX, outcome.code.encode())])
                        self.assertEqual(again.statuses, [0, 0, 0])
                        self.assertNotIn("torch_cuda", outcome.code)
                        self.assertNotIn("unused", outcome.code)
                        for name, kernel in (("k", k_ptx), ("k2", k_lto)):
                            self.assertEqual(f".entry {name}(" in outcome.code, kernel in inputs)

    def test_a_function_that_ptx_alone_calls_is_kept(self) -> None:
        f_lto = (_LTO_IR, _lto_ir('extern "C" __device__ int foo(int x) { return x + 42; }'))
        outcome = self.own.link(
            [f_lto, (_PTX, (cases.HEAD + cases.CALLER).encode())], ["-arch=sm_80", "-lto"]
        )
        self.assertEqual(outcome.statuses, [0, 0, 0, 0])
        self.assertRegex(outcome.code, r"(?s)\.visible \.func .*foo\b.*\{.*, 42;")

    def test_what_has_no_code_for_a_device(self) -> None:
        """Libraries such as libcudadevrt, and objects of the host, are linked with LTO IR, too."""
        lto_ir = (_LTO_IR, _lto_ir('extern "C" __global__ void k(int* p) { *p = 3; }'))
        host = b"\x7fELF\x02\x01\x01" + bytes(9) + b"\1\0\x3e\0" + bytes(44)
        library = b"!<arch>\n" + f"{'x.o/':48}{len(host):<10}`\n".encode() + host
        for kind, data in ((_OBJECT, host), (_LIBRARY, library), (_ANY, host), (_ANY, library)):
            with self.subTest(kind=kind, size=len(data)):
                self.assertEqual(self.own.link([(kind, data)]).statuses, [0, 0, 0])
                outcome = self.own.link([(kind, data), lto_ir], ["-arch=sm_80", "-lto"])
                self.assertEqual(outcome.statuses, [0, 0, 0, 0])
                self.assertIn(".entry k(", outcome.code)

    def test_what_nvrtc_gives_for_machine_code(self) -> None:
        """It is PTX, and takes the place of a cubin only."""
        begin = b"// PTX in place of machine code, by torch_cuda\n.version 7.0\n.target sm_80\n.address_size 64\n"
        called = begin + b".visible .func (.reg .b32 r) f() { mov.b32 r, 42; ret; }\n\0"
        caller = (
            begin + b".extern .func (.reg .b32 r) f();\n.visible .entry k() {\n"
            b".reg .b32 x; call (x), f, (); ret; }\n\0"
        )
        for kind in (_CUBIN, _OBJECT, _ANY):
            with self.subTest(kind=kind):
                outcome = self.own.link([(kind, called), (kind, caller)])
                self.assertEqual(outcome.statuses, [0, 0, 0, 0])
                self.assertRegex(outcome.code, r"(?s)\.entry k\b.*42|42.*\.entry k\b")
        for kind in (_PTX, _LTO_IR, _FAT_BINARY, _LIBRARY):
            self.assertNotEqual(self.own.link([(kind, called)]).statuses[1], 0)

    def test_machine_code_is_refused(self) -> None:
        cubin = b"\x7fELF" + bytes(14) + b"\xbe\0" + bytes(44)
        for kind in (_ANY, _CUBIN, _OBJECT):
            self.assertEqual(self.own.link([(kind, cubin)]).statuses, [0, _INVALID_INPUT])


if __name__ == "__main__":
    unittest.main()
