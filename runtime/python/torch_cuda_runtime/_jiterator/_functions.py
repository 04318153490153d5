"""A function of torch.cuda.jiterator in C++, compiled for the host.

It is compiled once for each type, by the user's compiler, and kept in the user's cache folder.
"""

from __future__ import annotations

import ctypes
import dataclasses
import hashlib
import os
import pathlib
import platform
import re
import shlex
import subprocess
import tempfile
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from torch_cuda_runtime import _toolchain
from torch_cuda_runtime._errors import Unusable
from torch_cuda_runtime._jiterator import _cache

if TYPE_CHECKING:
    Number = bool | int | float | complex

_PRELUDE = pathlib.Path(__file__).with_name("prelude.h")
_ENTRY = "torch_cuda_jiterated"
_REPLAY = "torch_cuda_replay"
_COMPLEX = "std::complex"
# Integers wrap around as a GPU's do. What a processor answers with a signal, or otherwise than a GPU, ends the call.
_FLAGS = (
    *("-std=c++17", "-O2", "-fPIC", "-w", "-DNDEBUG", "-fvisibility=hidden"),
    *("-fno-fast-math", "-fwrapv", "-ffp-contract=off", "-fno-strict-aliasing", "-fno-exceptions"),
    "-fsanitize=integer-divide-by-zero,signed-integer-overflow,shift-exponent,float-cast-overflow,return",
)
# With fast mathematics, which CXX may ask for, a library that is loaded has all of the process round denormals to zero.
_LINK = ("-shared", "-fno-fast-math")
# What the prelude's `guarded` returns.
_FAULTS = {
    1: "divides an integer by zero, or the least integer by -1",
    2: "shifts an integer by a negative count, or by all of its bits or more",
    3: "converts a floating-point number to an integer type that it is outside of",
    4: "ends without returning a value",
}
_IDENTIFIER = re.compile(r"[A-Za-z_]\w*")


@dataclasses.dataclass(frozen=True)
class Function:
    """One instance of a function of the user's.

    Attributes:
        source: in CUDA C++, of one element.
        name: of the template in it.
        by_reference: it returns through its last arguments.
        type: that it is instantiated with, and of all tensors; in C++.
        inputs: how many tensors it takes.
        outputs: how many it makes.
        numbers: the types of further arguments, in C++.
    """

    source: str
    name: str
    by_reference: bool
    type: str
    inputs: int
    outputs: int
    numbers: tuple[str, ...]

    def program(self) -> str:
        """The whole source: the user's, and a loop over elements."""
        outs = range(self.outputs)
        ins = range(self.inputs)
        extras = list(enumerate(self.numbers))
        at = [f"torch_cuda_at[{i}]" for i in range(self.outputs + self.inputs + len(extras))]
        # A byte of a tensor of bool may be anything but 0 where it is true.
        read = "unsigned char" if self.type == "bool" else self.type
        values = [f"torch_cuda_in{i}" for i in ins] + [f"torch_cuda_extra{i}" for i, _ in extras]
        if self.by_reference:
            values += [f"torch_cuda_out{i}" for i in outs]
        call = f"::{self.name}<{self.type}>({', '.join(values)})"
        lines = [
            self.source,
            "",
            '#line 1 "the loop over elements"',
            f'extern "C" __attribute__((visibility("default"))) int {_ENTRY}(',
            "    long long torch_cuda_count, void* const* torch_cuda_at, const long long* torch_cuda_step) {",
            *(
                f"  auto* const torch_cuda_to{i} = static_cast<{self.type}*>({at[i]});"
                for i in outs
            ),
            *(
                f"  const auto* const torch_cuda_from{i} = "
                f"static_cast<const {read}*>({at[self.outputs + i]});"
                for i in ins
            ),
            *(f"  const auto torch_cuda_step{i} = torch_cuda_step[{i}];" for i in ins),
            *(
                f"  const auto torch_cuda_number{i} = "
                f"*static_cast<const {kind}*>({at[self.outputs + self.inputs + i]});"
                for i, kind in extras
            ),
            "  return torch_cuda_prelude::guarded(torch_cuda_count, [=](long long torch_cuda_i) {",
            # Variables, because the function may take references.
            *(
                f"    {self.type} torch_cuda_in{i} = "
                f"torch_cuda_from{i}[torch_cuda_i * torch_cuda_step{i}]{' != 0' * (self.type == 'bool')};"
                for i in ins
            ),
            *(f"    {kind} torch_cuda_extra{i} = torch_cuda_number{i};" for i, kind in extras),
            *(f"    {self.type} torch_cuda_out{i}{{}};" for i in outs),
            f"    {call};" if self.by_reference else f"    torch_cuda_out0 = {call};",
            *(f"    torch_cuda_to{i}[torch_cuda_i] = torch_cuda_out{i};" for i in outs),
            "  });",
            "}",
            "",
        ]
        return "\n".join(['#line 1 "the source"', *lines])


@dataclasses.dataclass(frozen=True)
class Call:
    """Arguments where C++ can read them.

    Attributes:
        addresses: of the results, the inputs and the numbers: an array.
        steps: of each input, in elements: an array.
        numbers: what some of the addresses are of.
    """

    addresses: Any
    steps: Any
    numbers: tuple[Any, ...]


class Compiled:
    """A function that can be called.

    Args:
        function: what it was made of.
        library: path of the compiled library.

    Attributes:
        entry: its address.
        replay: the address of what a CUDA graph calls.

    Raises:
        OSError: the file is no such library.
    """

    def __init__(self, function: Function, library: pathlib.Path) -> None:
        self._function = function
        loaded = ctypes.CDLL(str(library))
        try:
            self._entry: Any = getattr(loaded, _ENTRY)
            replay: Any = getattr(loaded, _REPLAY)
        except AttributeError as error:
            raise OSError(f"{library} has no {_ENTRY} or no {_REPLAY}") from error
        self._entry.restype = ctypes.c_int
        self.entry = ctypes.cast(self._entry, ctypes.c_void_p).value
        self.replay = ctypes.cast(replay, ctypes.c_void_p).value

    def call(self, tensors: Sequence[int], steps: Sequence[int], numbers: Sequence[Number]) -> Call:
        """Puts arguments where C++ can read them.

        Args:
            tensors: addresses of the results, then of the inputs.
            steps: of each input, how far the next element is away: 1, or 0 where one stands for all.
            numbers: the further arguments.
        """
        held = tuple(map(_in_memory, numbers, self._function.numbers))
        addresses = [*tensors, *map(ctypes.addressof, held)]
        return Call(
            (ctypes.c_void_p * len(addresses))(*addresses),
            (ctypes.c_longlong * max(1, len(steps)))(*steps),
            held,
        )

    def __call__(self, count: int, call: Call) -> None:
        """Computes elements, without Python's lock.

        Args:
            count: of elements.
            call: with the arguments.

        Raises:
            RuntimeError: it computes what C++ leaves undefined.
        """
        fault = self._entry(ctypes.c_longlong(count), call.addresses, call.steps)
        if fault:
            raise RuntimeError(
                f"torch.cuda.jiterator: {self._function.name} {_FAULTS[fault]}. On a GPU the result is "
                "unspecified; the host, which computes it for a device that runs no code, refuses it"
            )

    @staticmethod
    def faults() -> Any:
        """What is said of each fault, as an array of C."""
        texts = [b"", *(text.encode() for _, text in sorted(_FAULTS.items()))]
        return (ctypes.c_char_p * len(texts))(*texts)


def type_of(number: Number) -> str:
    """What a further argument is in C++.

    Args:
        number: of Python.
    """
    if isinstance(number, bool):
        return "bool"
    if isinstance(number, int):
        return "long long"
    return f"{_COMPLEX}<double>" if isinstance(number, complex) else "double"


def compiled(function: Function) -> Compiled:
    """Compiles a function, or takes it from the cache of the process or of the user.

    Threads that need the same at the same time may each compile it: nobody waits, and the result is the same.

    Args:
        function: what is needed.

    Returns:
        It, to be called.

    Raises:
        RuntimeError: there is no compiler, or it does not take the source; the text has what it said.
    """
    known = _known.get(function)
    if known is None:
        known = _known.setdefault(function, _make(function))
    return known


_known: dict[Function, Compiled] = {}


def _make(function: Function) -> Compiled:
    if _IDENTIFIER.fullmatch(function.name) is None:
        raise RuntimeError(
            f"torch.cuda.jiterator: found {function.name!r} as the name of a function; needed an identifier of C++"
        )
    try:
        compiler, version = _toolchain.compiler()
    except Unusable as error:
        raise RuntimeError(
            f"torch.cuda.jiterator: {function.name} is computed by the host, because the device runs no code, and is "
            f"compiled for it first: {error}"
        ) from error
    program = function.program()
    flags = [*_FLAGS]
    if _COMPLEX in function.type or any(_COMPLEX in kind for kind in function.numbers):
        flags.append("-DTORCH_CUDA_COMPLEX")
    content = [program, _PRELUDE.read_text(encoding="utf-8"), *compiler, version, *flags, *_LINK]
    key = hashlib.sha256("\0".join([*content, platform.machine()]).encode(errors="replace"))
    folder = _cache.private_folder()
    kept = None if folder is None else _cache.place(folder, key.hexdigest())
    if kept is not None and _cache.find(kept):
        try:
            return Compiled(function, kept)
        except OSError:
            pass  # another machine's: it is made again
    with tempfile.TemporaryDirectory(prefix="torch_cuda_jiterator-", dir=folder) as temporary:
        made = _compile(function, program, compiler, flags, pathlib.Path(temporary))
        if kept is not None and _cache.keep(made, kept):
            made = kept
        try:
            # What is loaded stays when the file is gone.
            return Compiled(function, made)
        except OSError as error:
            raise RuntimeError(
                f"torch.cuda.jiterator: found no library for this machine in what {shlex.join(compiler)} makes of "
                f"{function.name} ({error}); needed a compiler of C++ that makes one. To fix it: set CXX to g++ or "
                "clang++"
            ) from error


def _compile(
    function: Function,
    program: str,
    compiler: Sequence[str],
    flags: Sequence[str],
    folder: pathlib.Path,
) -> pathlib.Path:
    """Compiles and links; the second by itself, because with the checks it would ask for a library of theirs."""
    source = folder / "function.cpp"
    source.write_text(program, encoding="utf-8", errors="surrogateescape")
    unit, library = folder / "function.o", folder / "function.so"
    for arguments in (
        [*compiler, *flags, "-include", str(_PRELUDE), "-c", "-o", str(unit), str(source)],
        [*compiler, *_LINK, "-o", str(library), str(unit)],
    ):
        done = subprocess.run(
            arguments,
            env={**os.environ, "LC_ALL": "C"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
        )
        if done.returncode != 0:
            said = (done.stderr or done.stdout).strip() or f"it ended with status {done.returncode}"
            raise RuntimeError(
                f"torch.cuda.jiterator: {function.name} does not compile with T = {function.type}. The device runs "
                "no code, so that the host computes, with C++'s mathematics and those of CUDA's functions that "
                f"{_PRELUDE.name} of torch_cuda_runtime has. {shlex.join(compiler)} said:\n{said}"
            )
    return library


def _in_memory(number: Any, kind: str) -> Any:
    """A number where C++ can read it, as what `type_of` says."""
    if kind == "bool":
        return ctypes.c_bool(number)
    if kind == "long long":
        return ctypes.c_longlong(number)
    if kind == "double":
        return ctypes.c_double(number)
    return (ctypes.c_double * 2)(number.real, number.imag)
