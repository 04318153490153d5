"""PyTorch's operators and their CUDA kernels, as torchgen reads them from native_functions.yaml.

What lives here: finding torchgen in a PyTorch tree, and a small typed view of what it parsed. Choosing operators
is selection.py's, writing sources is generate.py's.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

BACKENDS: tuple[str, ...] = (
    "CUDA",
    "SparseCUDA",
    "SparseCsrCUDA",
    "QuantizedCUDA",
    "NestedTensorCUDA",
)
"""The dispatch keys that a CUDA build of PyTorch adds kernels for."""

COMPOSITES: tuple[str, ...] = (
    "CompositeImplicitAutograd",
    "CompositeExplicitAutograd",
    "CompositeExplicitAutogradNonFunctional",
)
"""The dispatch keys whose kernels call other operators and so work on every device."""


class TorchgenError(Exception):
    """The PyTorch tree has no torchgen that can be used."""


@dataclass(frozen=True)
class Kernel:
    """The C++ function behind an operator for one dispatch key.

    Attributes:
        name: `abs_out`, as native_functions.yaml has it.
        structured: whether it is a TORCH_IMPL_FUNC rather than a plain function of at::native.
        ufunc: whether torchgen itself writes it (UfuncCUDA_*.cu).
    """

    name: str
    structured: bool
    ufunc: bool = False


@dataclass(frozen=True)
class Operator:
    """One overload of one operator.

    Attributes:
        name: the dispatcher's name without namespace: `add_.Tensor`, `relu`.
        base: the name without its overload: `add_`.
        stem: the family that its in-place and out variants share: `add`.
        overload: `Tensor`; empty for the default overload.
        kernels: the CUDA kernels by dispatch key, one of BACKENDS.
        composites: the names of the kernels that serve every device.
        native: torchgen's NativeFunction.
    """

    name: str
    base: str
    stem: str
    overload: str
    kernels: Mapping[str, Kernel]
    composites: tuple[str, ...]
    native: Any


class Operators:
    """Everything in a native_functions.yaml.

    Attributes:
        gen: the module torchgen.gen of the tree.
        grouped: torchgen's groups and single functions, in its order.
        backend_indices: torchgen's kernel tables by DispatchKey.
    """

    def __init__(self, pytorch_root: Path) -> None:
        """Parses the tree's native_functions.yaml (about 5 s).

        Args:
            pytorch_root: the folder that holds `torchgen` and `aten`.

        Raises:
            TorchgenError: there is no torchgen in it, another one was imported before, or it cannot read the tree's
                operators.
        """
        self.root = pytorch_root.absolute()
        self.gen: Any = _import_torchgen(self.root)
        model: Any = importlib.import_module("torchgen.model")
        self._group_type: type = model.NativeFunctionsGroup
        self._key: Any = model.DispatchKey
        native = self.root / "aten/src/ATen/native"
        try:
            parsed: Any = self.gen.parse_native_yaml(
                str(native / "native_functions.yaml"),
                str(native / "tags.yaml"),
                {self._key.MPS, self._key.XPU},
            )
            grouped: list[Any] = list(
                self.gen.get_grouped_native_functions(parsed.native_functions)
            )
        except (AssertionError, KeyError, RuntimeError, TypeError, ValueError) as error:
            # torchgen's own checks are assertions.
            raise TorchgenError(
                f"torchgen cannot read {native / 'native_functions.yaml'}: {error}"
            ) from error
        self.backend_indices: Mapping[Any, Any] = parsed.backend_indices
        self.grouped: list[Any] = grouped
        self._by_name = {op.name: op for unit in self.grouped for op in self._read(unit)}

    def __iter__(self) -> Iterator[Operator]:
        return iter(self._by_name.values())

    def __getitem__(self, name: str) -> Operator:
        return self._by_name[name]

    def __contains__(self, name: object) -> bool:
        return name in self._by_name

    def dispatch_key(self, backend: str) -> Any:
        """torchgen's DispatchKey of that name."""
        return self._key.parse(backend)

    def is_group(self, unit: Any) -> bool:
        """Whether an element of `grouped` is a functional/in-place/out group."""
        return isinstance(unit, self._group_type)

    def is_structured(self, unit: Any, backend: str) -> bool:
        """Whether a group's functions share one structured kernel for a backend."""
        if not self.is_group(unit) or not unit.structured:
            return False
        kernel = self.backend_indices[self.dispatch_key(backend)].get_kernel(unit)
        return kernel is not None and bool(kernel.structured)

    def members(self, unit: Any) -> list[Any]:
        """The NativeFunctions of an element of `grouped`."""
        return list(unit.functions()) if self.is_group(unit) else [unit]

    def _read(self, unit: Any) -> Iterator[Operator]:
        for function in self.members(unit):
            name = function.func.name
            kernels = {
                backend: kernel
                for backend in BACKENDS
                if (kernel := self._kernel(unit, function, backend)) is not None
            }
            composites = tuple(
                kernel.kernel
                for key in COMPOSITES
                if (kernel := self.backend_indices[self.dispatch_key(key)].get_kernel(function))
            )
            base = str(name.name)
            yield Operator(
                name=str(name),
                base=base,
                stem=base.removesuffix("_") if name.name.inplace else base,
                overload=name.overload_name,
                kernels=kernels,
                composites=composites,
                native=function,
            )

    def _kernel(self, unit: Any, function: Any, backend: str) -> Kernel | None:
        if function.manual_kernel_registration:
            return None
        index = self.backend_indices[self.dispatch_key(backend)]
        if self.is_structured(unit, backend):
            ufunc = backend == "CUDA" and bool(unit.out.ufunc_inner_loop)
            return Kernel(index.get_kernel(unit).kernel, structured=True, ufunc=ufunc)
        kernel = index.get_kernel(function)
        return None if kernel is None else Kernel(kernel.kernel, structured=False)


def _import_torchgen(root: Path) -> ModuleType:
    """Imports torchgen.gen from a PyTorch tree and from nowhere else."""
    if not (root / "torchgen/gen.py").is_file():
        raise TorchgenError(
            f"{root} has no torchgen/gen.py; --pytorch-root is the folder that has it"
        )
    if str(root) not in sys.path:
        sys.path.insert(0, str(root))
    module = importlib.import_module("torchgen.gen")
    found = Path(str(module.__file__))
    if found != root / "torchgen/gen.py":
        raise TorchgenError(f"torchgen was already imported from {found}; need the one of {root}")
    return module
