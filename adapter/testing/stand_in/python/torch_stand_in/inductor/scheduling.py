"""Which kernels there are: inductor's for the CPU, each of one thread and without vectors, as the stand-in's streams are the threads."""

from __future__ import annotations

from typing import Any

from torch._inductor import config
from torch._inductor.codegen.cpp import CppScheduling, KernelGroup
from torch._inductor.virtualized import V

_MARK = "async_compile.cpp_pybinding("
_COMPILE = "compile_for_stand_in(async_compile, "


def _plain() -> Any:
    # An error in a kernel could not leave a parallel region. inductor's vectors know only what it lowers for the CPU.
    # Of all devices but the CPU it takes kernels to be Triton's, with types, unless "cuda_backend" is another.
    return config.patch({"cpp.threads": 1, "cpp.simdlen": 1, "cuda_backend": "cpp"})


class StandInKernelGroup(KernelGroup):
    """Kernels that become one function."""

    def call_kernel(self, wrapper: Any, kernel_name: str) -> None:
        """Calls it with the number of the device before its own arguments."""
        _, arguments, types = self.args.cpp_argdefs()
        device = self.scheduled_nodes[0].get_device()
        wrapper.generate_kernel_call(
            kernel_name,
            [str(device.index or 0), *arguments],
            gpu=False,
            triton=False,
            arg_types=["int", *types],
        )


class StandInScheduling(CppScheduling):
    """inductor's scheduling for C++."""

    def reset_kernel_group(self) -> None:
        """Begins a function."""
        self.kernel_group = StandInKernelGroup()

    def codegen_node(self, node: Any) -> None:
        """Generates the loops of a node."""
        with _plain():
            super().codegen_node(node)

    def define_kernel(self, src_code: str, nodes: Any, kernel_args: Any = None) -> str:
        """Has the kernel compiled by `kernels.compile_for_stand_in`, and gives its name."""
        wrapper = V.graph.wrapper_code
        define = wrapper.define_kernel

        def define_ours(kernel_name: str, kernel_body: str, *args: Any, **kwargs: Any) -> None:
            define(kernel_name, kernel_body.replace(_MARK, _COMPILE, 1), *args, **kwargs)

        vars(wrapper)["define_kernel"] = define_ours
        try:
            return str(super().define_kernel(src_code, nodes, kernel_args))
        finally:
            del vars(wrapper)["define_kernel"]
