"""PyTorch's own operators, from the native_functions.yaml that torchgen brings."""

from __future__ import annotations

import dataclasses
import functools
import pathlib
from collections.abc import Mapping

import torchgen
from torchgen.gen import get_grouped_native_functions, parse_native_yaml
from torchgen.model import DispatchKey, NativeFunction, NativeFunctionsGroup

from router.codegen import versions


@dataclasses.dataclass(frozen=True)
class Upstream:
    """All operators of this PyTorch.

    Attributes:
      version: its minor one, such as "2.15".
      functions: by name with overload, such as "add.out".
      with_cuda: names of those that have a kernel for CUDA.
      with_cpu: names of those that have one for the CPU, or that are made of other operators.
      tags: the names that `tags` may have.
    """

    version: str
    functions: Mapping[str, NativeFunction]
    with_cuda: frozenset[str]
    with_cpu: frozenset[str]
    tags: frozenset[str]

    def group(self, name: str) -> NativeFunctionsGroup:
        """The variants of a structured operator.

        Args:
          name: of one of them.
        """
        wanted = self.functions[name].func.signature()
        alike = [f for f in self.functions.values() if f.func.signature() == wanted]
        (group,) = get_grouped_native_functions(alike)
        assert isinstance(group, NativeFunctionsGroup), name
        return group


@functools.cache
def read(version: str) -> Upstream:
    """Reads torchgen's copy of native_functions.yaml, which takes seconds.

    Args:
      version: of the PyTorch that this torchgen is of, which does not say it.
    """
    folder = pathlib.Path(torchgen.__file__).parent / "packaged" / "ATen" / "native"
    tags = str(folder / "tags.yaml")
    parsed = parse_native_yaml(str(folder / "native_functions.yaml"), tags)
    functions = {str(f.func.name): f for f in parsed.native_functions}

    def served(keys: tuple[DispatchKey, ...]) -> frozenset[str]:
        def has_kernel(f: NativeFunction) -> bool:
            return any(parsed.backend_indices[key].has_kernel(f) for key in keys)

        return frozenset(
            name
            for name, f in functions.items()
            if has_kernel(f)
            or (f.structured_delegate and has_kernel(functions[str(f.structured_delegate)]))
        )

    composite = (
        DispatchKey.CompositeExplicitAutograd,
        DispatchKey.CompositeExplicitAutogradNonFunctional,
        DispatchKey.CompositeImplicitAutograd,
    )
    major_and_minor = versions.minor(version)
    return Upstream(
        ".".join(map(str, major_and_minor)),
        functions,
        served((DispatchKey.CUDA,)),
        served((DispatchKey.CPU, *composite)),
        frozenset().union(*(f.tags for f in functions.values())),
    )
