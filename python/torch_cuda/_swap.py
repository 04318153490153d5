"""The swap: turns an imported CPU-only torch into one with CUDA, all of it or nothing.

Everything is computed first, from the loaded bindings; then it is assigned. Modules stay the same
objects. Names stay upstream's: what `_CUDAC` holds is also on `torch._C`.
"""

from __future__ import annotations

import dataclasses
import sys
import types
from collections.abc import Callable, MutableMapping
from typing import Any

from torch_cuda import _compatibility, _cudnn
from torch_cuda._plan import Plan
from torch_cuda._references import Replacements, plan_references, remake_subclasses

# Our own functions on the bindings module, as opposed to upstream's.
_OWN_PREFIX = "_torch_cuda_"


@dataclasses.dataclass(frozen=True)
class TakenAtImport:
    """A name that a module of torch takes from `torch._C` while it is imported.

    Attributes:
      module: name of the module.
      name: the module's name for it; a CPU build has a stub there, or None.
      binding: its name on `torch._C`.
    """

    module: str
    name: str
    binding: str


TAKEN_AT_IMPORT = (
    TakenAtImport("torch.cuda", "_cudart", "_cudart"),
    TakenAtImport("torch.cuda", "_is_in_bad_fork", "_cuda_isInBadFork"),
    TakenAtImport("torch.cuda", "_CudaDeviceProperties", "_CudaDeviceProperties"),
    TakenAtImport("torch.cuda", "_exchange_device", "_cuda_exchangeDevice"),
    TakenAtImport("torch.cuda", "_maybe_exchange_device", "_cuda_maybeExchangeDevice"),
    TakenAtImport("torch.cuda", "has_magma", "_has_magma"),
    TakenAtImport("torch.cuda.nvtx", "_nvtx", "_nvtx"),
    TakenAtImport("torch.backends.cudnn", "_cudnn", "_cudnn"),
    TakenAtImport("torch.backends.cusparselt", "_cusparselt", "_cusparselt"),
    TakenAtImport("torch._dynamo.device_interface", "get_cuda_stream", "_cuda_getCurrentRawStream"),
)
"""Where the dummies themselves were taken (`from torch._C import _MemPool`), the search for
references finds them; this lists what it cannot find. The equivalence test in tests/wheel compares
every namespace with that of a torch whose bindings were there from the start."""


@dataclasses.dataclass(frozen=True)
class SkippedDefinition:
    """A function of which a module has two versions, and defined the one for CPU builds.

    Attributes:
      module: name of the module.
      function: name of the function.
      binding: the version for CUDA builds is defined when `torch._C` has this.
    """

    module: str
    function: str
    binding: str


SKIPPED_DEFINITIONS = (
    SkippedDefinition("torch.backends.cudnn", "_init", "_cudnn"),
    SkippedDefinition("torch.backends.cusparselt", "_init", "_cusparselt"),
)


@dataclasses.dataclass(frozen=True)
class Swap:
    """A swap that is ready to be made.

    Attributes:
      assignments: all the assignments.
      complete: the step after them: hooks, and what is not a Python name.
    """

    assignments: Plan
    complete: Callable[[], None]

    def apply(self) -> None:
        """Makes the swap.

        Raises:
          Exception: it failed; torch is as it was.
        """
        self.assignments.apply(self.complete)
        rules = sys.modules.get("torch._dynamo.trace_rules")
        if rules is not None:
            # Its caches know functions by identity, the replaced ones among them.
            rules.clear_lru_cache()


def upstream_names(bindings: types.ModuleType) -> dict[str, Any]:
    """What upstream's sources put on the bindings module.

    Args:
      bindings: the module `_CUDAC`.

    Returns:
      Name to object, without what every module has and without our own functions.
    """
    return {
        name: value
        for name, value in vars(bindings).items()
        if not name.startswith(("__", _OWN_PREFIX))
    }


def plan(bindings: types.ModuleType, cuda_version: str, cudnn_served: bool = True) -> Swap:
    """Computes the swap. Changes nothing.

    Args:
      bindings: the loaded module `_CUDAC`.
      cuda_version: the value for `torch.version.cuda`.
      cudnn_served: whether the device has the cuDNN that the bindings may have been built with.

    Returns:
      The swap, to be applied at once: what is imported in between is not in it.
    """
    torch = sys.modules["torch"]
    torch_c = torch._C
    names = upstream_names(bindings)
    withdraw_cudnn = bool(names.get("_has_cudnn")) and not cudnn_served
    if withdraw_cudnn:
        names = _cudnn.without(names)
    result = Plan()
    replacements = Replacements()

    for name, new in names.items():
        old = vars(torch_c).get(name)
        if isinstance(old, type | types.FunctionType):
            replacements.add(old, new)
    _find_stubs(names, replacements)
    for replacement in list(replacements):
        if isinstance(replacement.old, type) and isinstance(replacement.new, type):
            remake_subclasses(replacement.old, replacements)
    # First of all, or it would find what the plan itself holds to be able to go back.
    plan_references(replacements, result)
    for name, new in names.items():
        result.set_item(vars(torch_c), name, new)
    _plan_taken(names, result)
    _plan_skipped(names, result)
    _plan_cudnn_properties(names, result)
    _plan_device_check(torch.cuda, result)

    result.set_item(vars(torch.version), "cuda", cuda_version)
    result.set_item(vars(torch.cuda), "_CUDAC", bindings)
    result.set_item(sys.modules, "torch.cuda._CUDAC", bindings)
    if not withdraw_cudnn:
        return Swap(result, lambda: bindings._torch_cuda_complete(torch_c))

    set_enabled = torch_c._set_cudnn_enabled
    _cudnn.plan_switch(torch_c, type(sys.modules["torch.backends.cudnn"]), result)

    def complete() -> None:
        bindings._torch_cuda_complete(torch_c)
        _cudnn.turn_off(torch_c, set_enabled)

    return Swap(result, complete)


def _plan_device_check(cuda: types.ModuleType, result: Plan) -> None:
    """Puts our check of GPUs and kernels, which knows PTX, in the place of upstream's."""
    old = cuda._check_cubins
    result.set_item(vars(cuda), "_check_cubins", _compatibility.check_devices)
    for index, (call, stack) in enumerate(cuda._queued_calls):
        if call is old:
            result.set_position(cuda._queued_calls, index, (_compatibility.check_devices, stack))


def _namespace(module_name: str) -> MutableMapping[str, Any] | None:
    """The namespace that a module's functions see, or None where it is not imported."""
    module = sys.modules.get(module_name)
    if module is None:
        return None
    # torch.backends replaces some modules by an object that forwards to the module, `m`.
    inner = vars(module).get("m")
    return vars(inner if isinstance(inner, types.ModuleType) else module)


def _find_stubs(names: dict[str, Any], replacements: Replacements) -> None:
    """Adds the stubs that stand in for bindings, which others may have taken from there."""
    for taken in TAKEN_AT_IMPORT:
        namespace = _namespace(taken.module)
        if namespace is None or taken.binding not in names:
            continue
        stub = namespace[taken.name]
        if stub is not None and not isinstance(stub, bool):
            replacements.add(stub, names[taken.binding])


def _plan_taken(names: dict[str, Any], result: Plan) -> None:
    for taken in TAKEN_AT_IMPORT:
        namespace = _namespace(taken.module)
        if namespace is None or taken.binding not in names:
            continue
        new = names[taken.binding]
        result.set_item(namespace, taken.name, new)
        if taken.name == "get_cuda_stream":
            interface = namespace["CudaInterface"]
            result.set_attribute(interface, "get_raw_stream", staticmethod(new))


def _plan_skipped(names: dict[str, Any], result: Plan) -> None:
    for skipped in SKIPPED_DEFINITIONS:
        namespace = _namespace(skipped.module)
        if namespace is None or skipped.binding not in names:
            continue
        function = _other_definition(namespace, skipped.function)
        result.set_item(namespace, skipped.function, function)


def _other_definition(namespace: MutableMapping[str, Any], name: str) -> types.FunctionType:
    """Makes a function out of the branch that a module did not take.

    The code is read from the module's own (byte) code, and nothing of it is executed.

    Args:
      namespace: the module's.
      name: of a function that the module's code defines twice.

    Returns:
      The function that was not defined.

    Raises:
      LookupError: the module's code has no second definition.
    """
    current: types.FunctionType = namespace[name]
    module_code = namespace["__spec__"].loader.get_code(namespace["__name__"])
    for constant in module_code.co_consts:
        if (
            isinstance(constant, types.CodeType)
            and constant.co_name == name
            and constant.co_firstlineno != current.__code__.co_firstlineno
        ):
            return types.FunctionType(constant, namespace, name)  # type: ignore[arg-type]
    raise LookupError(f"{namespace['__name__']} defines {name} only once")


def _plan_cudnn_properties(names: dict[str, Any], result: Plan) -> None:
    """Plans `torch.backends.cudnn.benchmark_limit`, which exists where cuDNN does."""
    if not names.get("_has_cudnn"):
        return
    cudnn = type(sys.modules["torch.backends.cudnn"])
    # A property of the same kind as its neighbours.
    make = type(vars(cudnn)["benchmark"])
    getter, setter = (names[f"_cuda_{verb}_cudnn_benchmark_limit"] for verb in ("get", "set"))
    result.set_attribute(cudnn, "benchmark_limit", make(getter, setter))
