"""What an operator or a kernel file leads to, read from the sources.

What lives here: following names from function to function, over what source_index.py found. An operator's function
may be compiled into libtorch_cpu and call a dispatch stub that a .cu file fills; a kernel file may refer to another;
both may call operators through the dispatcher. Names are not resolved by type, so what is said errs towards too much.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from aten_cuda.codegen.operators import Operator, Operators
from aten_cuda.codegen.source_index import Function, SourceIndex, Use

ATEN = "aten/src/ATen/"

# Where functions of at::native and what they call are defined, below ATEN.
_SHARED = (
    "*.cpp",
    "*.h",
    "native/*.cpp",
    "native/*.h",
    "native/utils/*.h",
    "native/nested/*.cpp",
    "native/nested/*.h",
    "native/quantized/*.cpp",
    "native/quantized/*.h",
    "native/sparse/*.cpp",
    "native/sparse/*.h",
    "native/transformers/*.cpp",
    "native/transformers/*.h",
)
_CUDA = (
    "cuda/**/*.cpp",
    "cuda/**/*.cu",
    "cuda/**/*.cuh",
    "cuda/**/*.h",
    "native/cuda/**/*.cpp",
    "native/cuda/**/*.cu",
    "native/cuda/**/*.cuh",
    "native/cuda/**/*.h",
    "native/cudnn/*.cpp",
    "native/miopen/*.cpp",
    "native/quantized/cudnn/*.cpp",
    "native/*/cuda/*.cpp",
    "native/*/cuda/*.cu",
    "native/*/cuda/*.cuh",
    "native/*/cuda/*.h",
    "native/transformers/cuda/flash_attn/flash_api.*",
)
_HEADERS = (".h", ".cuh")

# Linear algebra is a library of its own; what loads it when it is first called fills the stubs until then.
_LOADED_ON_DEMAND = "native/cuda/linalg/"
_LOADER = "native/cuda/LinearAlgebraStubs.cpp"

# Sources are read as a build without cuDNN compiles them. Then the first has the functions of the others, which are empty.
_WITHOUT_CUDNN = "native/cudnn/ConvPlaceholders.cpp"
_WITH_CUDNN = tuple(f"native/cudnn/{name}.cpp" for name in ("ConvShared", "Conv_v7", "Conv_v8"))


def is_read(path: str) -> bool:
    """Whether a file below the PyTorch tree is one whose functions are followed."""
    return path.startswith(ATEN) and bool(_read().fullmatch(path)) and "/hip/" not in path


@functools.cache
def _read() -> re.Pattern[str]:
    """The patterns of _SHARED and _CUDA as one expression; `**/` stands for any folders, or none."""
    words = {"**/": "(?:[^/]+/)*", "*": "[^/]*", ".": r"\."}
    parts = [
        re.sub(r"\*\*/|\*|\.", lambda found: words[str(found[0])], pattern)
        for pattern in (*_SHARED, *_CUDA)
    ]
    return re.compile(re.escape(ATEN) + f"(?:{'|'.join(parts)})")


def is_kernel_file(path: str) -> bool:
    """Whether a path below ATEN is a unit that profiles choose.

    All of native's CUDA units are, and cub's in ATen/cuda. Whatever else lies in ATen/cuda belongs to every build:
    profiles/defs.bzl, kernel_selected, says the same.
    """
    if path.endswith(_HEADERS):
        return False
    if path.startswith("native/"):
        return any(part in path for part in ("/cuda/", "/cudnn/", "/miopen/"))
    return path.startswith("cuda/cub")


@dataclass
class Needs:
    """What some functions lead to.

    Attributes:
        files: kernel files, below ATEN.
        stubs: dispatch stubs that some CUDA file fills.
        calls: names of operators called through the dispatcher.
        direct: names of operators called as at::cuda:: functions.
        via: for each file and stub, the function through which it was first reached.
    """

    files: set[str] = field(default_factory=set)
    stubs: set[str] = field(default_factory=set)
    calls: set[str] = field(default_factory=set)
    direct: set[str] = field(default_factory=set)
    via: dict[str, str] = field(default_factory=dict)


class Sources:
    """The sources of a PyTorch tree, ready to be asked what an operator needs."""

    def __init__(self, operators: Operators, index: SourceIndex) -> None:
        """Args:
        operators: what torchgen parsed.
        index: the sources, from `scan`.
        """
        self.operators = operators
        self.index = index
        self._by_base: dict[str, list[Operator]] = {}
        for op in operators:
            self._by_base.setdefault(op.base, []).append(op)
        self._stub_files: dict[str, set[str]] = {}
        for path, file in index.files.items():
            if is_kernel_file(_below_aten(path)):
                for stub in file.stubs:
                    self._stub_files.setdefault(stub, set()).add(_below_aten(path))
        # torchgen writes the kernels of ufuncs, and the registration of their stubs with them.
        self._ufunc_stubs = {
            f"{op.stem}_stub"
            for op in operators
            if any(kernel.ufunc for kernel in op.kernels.values())
        }

    @staticmethod
    def scan(operators: Operators) -> Sources:
        """Reads the sources of the tree that `operators` were read from (under a minute)."""
        found = (
            path.relative_to(operators.root).as_posix()
            for path in (operators.root / ATEN).rglob("*.*")
        )
        return Sources(operators, SourceIndex.scan(operators.root, filter(is_read, found)))

    def kernel_files(self) -> set[str]:
        """Every unit that a profile may name, below ATEN."""
        return {p for path in self.index.files if is_kernel_file(p := _below_aten(path))}

    def stub_files(self, stub: str) -> set[str]:
        """The kernel files that fill a dispatch stub; empty when no CUDA file does."""
        return self._stub_files.get(stub, set())

    def of_operator(self, op: Operator, backend: str) -> Needs:
        """What an operator's kernel for a backend needs, or its composite kernel where it has none.

        Raises:
            KeyError: no source defines the kernel; names it.
        """
        kernel = op.kernels.get(backend)
        if kernel is None:
            return self._follow(f for name in op.composites for f in self._exported(name))
        if kernel.ufunc:
            return Needs()
        name = f"structured_{kernel.name}" if kernel.structured else kernel.name
        found = self._exported(name)
        if not found:
            raise KeyError(f"{op.name}: no source defines its {backend} kernel {name}")
        return self._follow(found)

    def _exported(self, name: str) -> list[Function]:
        """The definitions of a function that other files can refer to."""
        return [f for f in self.index.functions.get(name, ()) if not f.local]

    def of_file(self, path: str) -> Needs:
        """What a kernel file's object refers to: other kernel files, and at::cuda:: functions."""
        file = self.index.files[ATEN + path]
        needs = Needs()
        pending: list[Function] = []
        for use in set(file.all_uses()):
            pending += self._targets(use, file.path, needs)
        needs = self._follow(pending, needs)
        if path.startswith(_LOADED_ON_DEMAND) and ATEN + _LOADER in self.index.files:
            needs.files.add(_LOADER)
        if path == _WITHOUT_CUDNN:
            needs.files.update(other for other in _WITH_CUDNN if ATEN + other in self.index.files)
        needs.files.discard(path)
        return needs

    def _follow(self, start: Iterable[Function], needs: Needs | None = None) -> Needs:
        """Everything reachable from functions; the bodies of other kernel files are not entered through links alone."""
        needs = needs or Needs()
        pending = list(start)
        seen: set[Function] = set()
        while pending:
            function = pending.pop()
            if function in seen:
                continue
            seen.add(function)
            below = _below_aten(function.file)
            if is_kernel_file(below):
                needs.files.add(below)
                needs.via.setdefault(below, function.name)
            for use in function.uses:
                stubs = len(needs.stubs)
                targets = self._targets(use, function.file, needs)
                if len(needs.stubs) > stubs:
                    needs.via.setdefault(use.name, function.name)
                for target in targets:
                    if target.file != function.file:
                        needs.via.setdefault(
                            _below_aten(target.file), f"{target.name} of {function.name}"
                        )
                pending += targets
        return needs

    def _targets(self, use: Use, file: str, needs: Needs) -> list[Function]:
        """The functions that a use may mean; notes stubs and operator calls in `needs`."""
        if use.name in self.index.stub_names:
            if self._stub_files.get(use.name) or use.name in self._ufunc_stubs:
                needs.stubs.add(use.name)
            return []
        operator = self._operator(use.name)
        if use.qualifier == "member":
            if operator:
                needs.calls.add(operator)
            return []
        found = self._visible(use, file)
        if operator:
            if use.qualifier in ("at::cuda", "cuda") and not found:
                needs.direct.add(operator)
            elif use.qualifier == "at" or (use.qualifier == "" and not found):
                needs.calls.add(operator)
        return found

    def _operator(self, function: str) -> str:
        """The operator (without overload) that an at:: function or a Tensor method calls; empty when none."""
        name = function.removesuffix("_symint")
        for suffix in ("", "_outf", "_out"):
            if name.endswith(suffix) and name.removesuffix(suffix) in self._by_base:
                return name.removesuffix(suffix)
        return ""

    def _visible(self, use: Use, file: str) -> list[Function]:
        """Definitions that a use in a file may mean: the file's own before those of others."""
        found = [
            f
            for f in self.index.functions.get(use.name, ())
            if (f.file == file or not f.local or f.file.endswith(_HEADERS))
            and not f.namespace.startswith("at::meta")
            and _qualifies(use.qualifier, f.namespace)
        ]
        own = [f for f in found if f.file == file]
        inline = [f for f in found if f.file.endswith(_HEADERS)]
        return own or inline or found


def _qualifies(qualifier: str, namespace: str) -> bool:
    """Whether `qualifier::name` may name something in a namespace."""
    space = namespace.replace("::(anonymous)", "").replace("(anonymous)", "")
    if not qualifier:
        return True
    return space == qualifier or space.endswith("::" + qualifier)


def _below_aten(path: str) -> str:
    return path.removeprefix(ATEN)
