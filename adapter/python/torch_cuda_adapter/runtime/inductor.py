"""Hands inductor's questions about "cuda" to what the platform registered with inductor under its own type.

inductor knows who generates code for a device by the type's name, in tables. While the adapter is active that name
is "cuda", so that the tables' entries for "cuda" are the platform's. A platform that registered nothing is left
with inductor's own way for CUDA, and its message.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from types import ModuleType
from typing import Any

from torch_cuda_adapter.platforms import Platform
from torch_cuda_adapter.runtime.imports import after_import
from torch_cuda_adapter.runtime.journal import Journal

_CUDA = "cuda"


def change(platform: Platform, journal: Journal) -> None:
    """Makes the platform's entries those of "cuda", now or when inductor is imported.

    Args:
        platform: the platform.
        journal: puts the tables back.
    """
    own = platform.table("device")["type"]
    after_import(
        "torch._dynamo.device_interface",
        lambda module: _change_interfaces(own, module, journal),
        journal,
    )
    after_import(
        "torch._inductor.codegen.common",
        lambda module: _change_tables(own, module, journal),
        journal,
    )
    after_import(
        "torch._inductor.codegen.wrapper",
        lambda module: _change_allocations(own, module, journal),
        journal,
    )
    after_import(
        "torch._inductor.scheduler",
        lambda module: _change_backends(own, module, journal),
        journal,
    )
    after_import(
        "torch._inductor.cudagraph_utils",
        lambda module: _change_graphs(platform, module, journal),
        journal,
    )


def _change_interfaces(own: str, interfaces: ModuleType, journal: Journal) -> None:
    def take(name: str) -> None:
        kind, _, index = name.partition(":")
        # PyTorch's own for "cuda" come at first use, and would come after.
        if kind == own and interfaces._device_initialized:
            cuda = f"{_CUDA}:{index}" if index else _CUDA
            journal.set_item(interfaces.device_interfaces, cuda, interfaces.device_interfaces[name])

    def take_all() -> None:
        for name in list(interfaces.device_interfaces):
            take(str(name))

    original = interfaces.init_device_reg

    @functools.wraps(original)
    def init_device_reg() -> None:
        original()
        take_all()

    journal.set_attribute(interfaces, "init_device_reg", init_device_reg)
    _follow(interfaces, "register_interface_for_device", take, journal)
    take_all()


def _change_tables(own: str, common: ModuleType, journal: Journal) -> None:
    def take_operations(name: str) -> None:
        if name == own:
            overrides = common.device_op_overrides_dict
            journal.set_item(overrides, _CUDA, overrides[own])

    def take_backend(name: str) -> None:
        if name == own:
            # What is registered by default is registered once, where nothing is: again, when this is taken away.
            if _CUDA not in common.device_codegens:
                journal.on_restore(_registration(common).cache_clear)
            journal.set_item(common.device_codegens, _CUDA, common.device_codegens[own])
            _change_kinds(own, journal)

    # They import inductor's own when there is none.
    common.get_device_op_overrides("cpu")
    _follow(common, "register_device_op_overrides", take_operations, journal)
    _follow(common, "register_backend_for_device", take_backend, journal)
    if own in common.device_op_overrides_dict:
        take_operations(own)
    if own in common.device_codegens:
        take_backend(own)


def _registration(common: ModuleType) -> Any:
    """The function that registers inductor's own, once: in later versions another than the one that is called."""
    return getattr(common, "_init_builtin_backend_registration", common.init_backend_registration)


def _change_kinds(own: str, journal: Journal) -> None:
    # Those in the list have device guards, Triton, and memory laid out for it: "cuda" is there if its own name is.
    from torch._inductor import utils

    kinds: list[str] = utils.GPU_TYPES
    if own in kinds:
        return
    # Later versions take the list from the interfaces, once: it has no "cuda" if these were the platform's then.
    place = kinds.index(_CUDA) if _CUDA in kinds else 0
    if _CUDA in kinds:
        kinds.remove(_CUDA)
    journal.on_restore(lambda: kinds.insert(place, _CUDA))


def _follow(module: ModuleType, name: str, action: Callable[[str], None], journal: Journal) -> None:
    original = getattr(module, name)

    @functools.wraps(original)
    def register(device: Any, *args: Any, **kwargs: Any) -> None:
        original(device, *args, **kwargs)
        action(device if isinstance(device, str) else device.type)

    journal.set_attribute(module, name, register)


def _registered(own: str) -> bool:
    from torch._inductor.codegen import common

    return own in common.device_codegens


def _change_allocations(own: str, wrapper: ModuleType, journal: Journal) -> None:
    code: Any = wrapper.PythonWrapperCodegen
    original = code.make_allocation

    @functools.wraps(original)
    def make_allocation(
        self: Any, name: str, device: Any, dtype: Any, shape: Any, stride: Any
    ) -> str:
        if device.type != _CUDA or not _registered(own):
            return str(original(self, name, device, dtype, shape, stride))
        # The short way of "cuda" is CUDA's allocator.
        sizes, strides = (self.codegen_python_shape_tuple(numbers) for numbers in (shape, stride))
        return f"{name} = empty_strided({sizes}, {strides}, device='{device}', dtype={dtype})"

    journal.set_attribute(code, "make_allocation", make_allocation)


def _change_backends(own: str, scheduler: ModuleType, journal: Journal) -> None:
    original = scheduler.Scheduler.create_backend

    @functools.wraps(original)
    def create_backend(self: Any, device: Any) -> Any:
        if device.type != _CUDA or not _registered(own) or scheduler.is_gpu(_CUDA):
            return original(self, device)
        # Without the question for Triton and for CUDA's compute capability.
        scheduler.V.graph.add_device_info(device)
        return scheduler.get_scheduling_for_device(_CUDA)(self)

    journal.set_attribute(scheduler.Scheduler, "create_backend", create_backend)


def _change_graphs(platform: Platform, graphs: ModuleType, journal: Journal) -> None:
    original = graphs.check_multiple_devices_or_any_cpu_nodes

    @functools.wraps(original)
    def check(devices: Any) -> str | None:
        found: str | None = original(devices)
        if found is None:
            # inductor's graphs share the memory of CUDA's allocator, by functions that are in no other module.
            found = graphs.format_default_skip_message(
                f"inductor's graphs are CUDA's, and the device is {platform.name}'s"
            )
        return found

    journal.set_attribute(graphs, "check_multiple_devices_or_any_cpu_nodes", check)
