"""The Python code that allocates memory and calls kernels and operators."""

from __future__ import annotations

from typing import Any

import torch
from torch._inductor import ir
from torch._inductor.codegen.wrapper import PythonWrapperCodegen, SubgraphPythonWrapperCodegen


class StandInWrapper(PythonWrapperCodegen):
    """inductor's, that names the device which memory is of."""

    @staticmethod
    def create(
        is_subgraph: bool, subgraph_name: str | None, parent_wrapper: PythonWrapperCodegen | None
    ) -> PythonWrapperCodegen:
        """The code of a graph, or of a graph in it."""
        if is_subgraph:
            return StandInSubgraphWrapper(subgraph_name, parent_wrapper)
        return StandInWrapper()

    def write_header(self) -> None:
        """Imports what the lines call."""
        super().write_header()
        self.imports.writeline(
            "from torch_stand_in.inductor.kernels import compile_for_stand_in, laid_out"
        )

    def generate_extern_kernel_alloc(self, extern_kernel: Any, args: Any) -> None:
        """An operator of PyTorch's. The CPU's choose strides of their own, which inductor foresees for the CPU only."""
        super().generate_extern_kernel_alloc(extern_kernel, args)
        layout = extern_kernel.layout
        if isinstance(layout, ir.Layout):
            name = extern_kernel.get_name()
            strides = self.codegen_python_shape_tuple(layout.stride)
            self.writeline(f"{name} = laid_out({name}, {strides})")

    def make_allocation(
        self, name: str, device: torch.device, dtype: torch.dtype, shape: Any, stride: Any
    ) -> str:
        """A line that allocates: nothing else says which of the devices it is."""
        if device.type != "stand_in":
            return str(super().make_allocation(name, device, dtype, shape, stride))
        sizes, strides = (self.codegen_python_shape_tuple(numbers) for numbers in (shape, stride))
        return (
            f"{name} = empty_strided({sizes}, {strides}, "
            f"device=device('stand_in', {device.index or 0}), dtype={dtype})"
        )


class StandInSubgraphWrapper(SubgraphPythonWrapperCodegen):
    """The same of a graph in a graph."""

    make_allocation = StandInWrapper.make_allocation
