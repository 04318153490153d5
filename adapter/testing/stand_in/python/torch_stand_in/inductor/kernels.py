"""Compiles inductor's C++ and launches it in the stream that is the current one of its device.

A launch comes back at once. What the kernel reads and writes of the device stays as it is until it has run, by the
rule that the device's memory has for all kernels: a block that is freed is given again to work of the same stream.
Memory of the CPU has no such rule, so that a kernel which reads a number there is waited for.
"""

from __future__ import annotations

import ctypes
import functools
import pathlib
from collections.abc import Callable
from typing import Any

import torch
from torch._inductor.async_compile import AsyncCompile, get_compile_threads
from torch._inductor.codecache import CppPythonBindingsCodeCache, LambdaFuture
from torch._inductor.utils import clear_on_fresh_inductor_cache

from torch_stand_in import _device, _streams
from torch_stand_in._native import functions as native

_LIBRARY = pathlib.Path(__file__).parents[1] / "lib" / "libstand_in.so"

# As stand_kernels.h declares it, whose names would meet those of inductor's code.
_LAUNCH = """
#include <stdexcept>
#include <string>
#include <tuple>

namespace stand_in_launch {
struct Size { unsigned x, y, z; };
using Launch = int (*)(const Size*, const Size*, size_t, void*,
                       void (*)(void*), void (*)(void*), void*);
using Message = const char* (*)();

template <class... Parameters, class... Arguments>
void launch(void (*function)(Parameters...), uintptr_t launch, uintptr_t message,
            uintptr_t stream, Arguments... arguments) {
  struct Call {
    void (*function)(Parameters...);
    std::tuple<Parameters...> arguments;
  };
  const Size one{1, 1, 1};
  const auto status = reinterpret_cast<Launch>(launch)(
      &one, &one, 0, reinterpret_cast<void*>(stream),
      [](void* data) {
        auto* call = static_cast<Call*>(data);
        std::apply(call->function, call->arguments);
      },
      [](void* data) { delete static_cast<Call*>(data); },
      new Call{function, std::tuple<Parameters...>(arguments...)});
  if (status != 0) {
    throw std::runtime_error(std::string("stand-in error: ") +
                             reinterpret_cast<Message>(message)());
  }
}
} // namespace stand_in_launch
"""


_loaded: dict[str, Any] = {}


@clear_on_fresh_inductor_cache
class _Cache(CppPythonBindingsCodeCache):
    """Kernels with a binding that launches them."""

    cache = _loaded
    cache_clear = staticmethod(_loaded.clear)
    call_entry_function = "stand_in_launch::launch(kernel, %s);Py_RETURN_NONE;"


@functools.cache
def _runtime() -> tuple[int, int]:
    library = ctypes.CDLL(str(_LIBRARY))
    launch, message = (
        ctypes.cast(getattr(library, name), ctypes.c_void_p).value
        for name in ("standLaunchKernel", "standGetLastErrorMessage")
    )
    assert launch is not None and message is not None
    return launch, message


def raw_stream(index: int) -> int:
    """The runtime's handle of a device's current stream."""
    return _streams.current_stream(index).stand_in_stream


def laid_out(tensor: torch.Tensor, strides: tuple[int, ...]) -> torch.Tensor:
    """The tensor, or a copy if its strides are others."""
    if tensor.stride() == strides:
        return tensor
    made = torch.empty_strided(tensor.size(), strides, dtype=tensor.dtype, device=tensor.device)
    return made.copy_(tensor)


def compile_for_stand_in(compiler: AsyncCompile, types: list[str], source: str) -> Any:
    """Compiles a kernel.

    Args:
      compiler: inductor's, whose threads compile.
      types: of the kernel's arguments, in C++.
      source: C++ code with a function `kernel`.

    Returns:
      A function of a device's number and the kernel's arguments; or a future of one.
    """
    parallel = get_compile_threads() > 1
    load = _Cache.load_pybinding_async(
        ["uintptr_t"] * 3 + types,
        source + _LAUNCH,
        submit_fn=compiler.submit if parallel else None,
    )
    future = LambdaFuture(lambda: _launcher(load()))
    return future if parallel else future.result()


def _launcher(launch: Callable[..., None]) -> Callable[..., None]:
    def call(index: int, *arguments: Any) -> None:
        on_host = any(isinstance(value, torch.Tensor) and value.is_cpu for value in arguments)
        if on_host and native.is_capturing():
            raise RuntimeError(
                "stand-in error: operation not permitted when a graph is captured: a compiled kernel reads a "
                "tensor of the CPU. Give it to the function as a tensor of the device"
            )
        with _device.device(index):
            launch(*_runtime(), raw_stream(index), *arguments)
        if on_host:
            _streams.current_stream(index).synchronize()

    return call
