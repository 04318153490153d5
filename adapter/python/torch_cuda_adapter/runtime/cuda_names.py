"""What stands for a name of `torch.cuda` on a platform."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from types import CodeType, ModuleType
from typing import Any

from torch_cuda_adapter.errors import refusal
from torch_cuda_adapter.platforms import Platform
from torch_cuda_adapter.runtime import composed
from torch_cuda_adapter.runtime.cuda_build import COMMUNICATION
from torch_cuda_adapter.runtime.platform_modules import inside, look_up

# Their functions are names of torch.cuda itself.
_MERGED = ("", "graphs", "memory", "random", "streams")


class CudaNames:
    """Finds what takes the place of `torch.cuda`'s functions and classes.

    Args:
        platform: its table `cuda` names what is called otherwise there, or is not there.
        namespace: the platform's counterpart of `torch.cuda`, such as `torch.musa`.
    """

    def __init__(self, platform: Platform, namespace: ModuleType) -> None:
        self._platform = platform
        self._namespace = namespace
        self._table = platform.table("cuda")
        self._composed = composed.functions(namespace)

    def find(self, module: str, name: str, original: Any) -> Any:
        """What takes the place of a function or class.

        Args:
            module: where it is below `torch.cuda`, such as "memory"; empty for itself.
            name: of the function or class.
            original: it itself.

        Returns:
            The platform's, one composed of the platform's, or one that refuses with an
            `UnavailableError`; `original` where that needs nothing of CUDA's bindings.
        """
        full = f"{module}.{name}" if module else name
        spelled = (full, name) if module in _MERGED else (full,)
        for key in spelled:
            if key in self._table.get("unavailable", {}):
                return self._refusal(full, self._table["unavailable"][key], original)
            if key in self._table.get("names", {}):
                found = self._named(self._table["names"][key])
                if found is not None:
                    return self._with_keywords(spelled, found, original)
        for key in spelled:
            found = inside(self._namespace, key)
            # Names beginning with _ are nobody's contract: the same name may be anything.
            if found is not None and isinstance(found, type) == isinstance(original, type):
                return self._with_keywords(spelled, found, original)
            if key in self._composed:
                return self._composed[key]
        if needs_bindings(original):
            return self._refusal(
                full, f"{self._platform.table('device')['namespace']} has no {full}", original
            )
        return original

    def _named(self, path: str) -> Any:
        found = inside(self._namespace, path)
        return found if found is not None else look_up(path)

    def _refusal(self, name: str, reason: str, original: Any) -> Callable[..., Any]:
        refuse = refusal(f"torch.cuda.{name}", self._platform.name, reason)
        if isinstance(original, type):
            # Who asks `isinstance` needs a class.
            members = {
                "__new__": refuse,
                "__doc__": refuse.__doc__,
                "__module__": original.__module__,
            }
            return type(original.__name__, (), members)
        if hasattr(original, "__wrapped__"):
            # torch.compile looks for what is inside of decorated functions.
            refuse.__wrapped__ = original.__wrapped__  # type: ignore[attr-defined]
        return refuse

    def _with_keywords(self, keys: Sequence[str], target: Any, original: Any) -> Any:
        table: Mapping[str, Mapping[str, str]] = self._table.get("keywords", {})
        renamed = next((table[key] for key in keys if key in table), None)
        return target if renamed is None else _renaming(target, renamed, original)


def needs_bindings(thing: Any) -> bool:
    """Whether a function or class of `torch.cuda` calls CUDA's bindings, which are not there."""
    if isinstance(thing, type):
        if any(
            base.__name__.startswith(("_Cuda", "_CUDA", "_MemPool")) for base in thing.__mro__[1:]
        ):
            return True
        return any(needs_bindings(member) for member in vars(thing).values() if callable(member))
    while hasattr(thing, "__wrapped__"):
        thing = thing.__wrapped__
    code = getattr(thing, "__code__", None)
    return isinstance(code, CodeType) and any(_is_binding(name) for name in _names_in(code))


def _is_binding(name: str) -> bool:
    return name.startswith(("_cuda_", "_nccl_")) or name in _OTHER_BINDINGS


_OTHER_BINDINGS = frozenset(
    {
        "_get_device_properties",
        *COMMUNICATION,
        # NVIDIA's GPUs, which may be there as well, and are not the device.
        "_get_pynvml_handler",
        "pynvml",
    }
)


def _names_in(code: CodeType) -> set[str]:
    inner = (_names_in(value) for value in code.co_consts if isinstance(value, CodeType))
    return set(code.co_names).union(*inner)


def _parameters(thing: Any) -> Mapping[str, inspect.Parameter]:
    """Of a function or class by name; nothing where that is not known, or where it takes any."""
    try:
        found = inspect.signature(thing).parameters
    except (TypeError, ValueError):
        return {}
    takes_any = any(one.kind is inspect.Parameter.VAR_KEYWORD for one in found.values())
    return {} if takes_any else found


def _renaming(target: Any, renamed: Mapping[str, str], original: Any) -> Any:
    """`target` with other names for some of its keywords; its own names stay good.

    Keywords that only CUDA's has, such as those of a later PyTorch than the platform's, may have their defaults.
    """
    known = _parameters(target)
    defaults = {
        name: parameter.default
        for name, parameter in _parameters(original).items()
        if known and name not in known and name not in renamed
    }

    def rename(options: dict[str, Any]) -> dict[str, Any]:
        return {
            renamed.get(name, name): value
            for name, value in options.items()
            if name not in defaults or value is not defaults[name]
        }

    if isinstance(target, type):

        def construct(self: Any, *args: Any, **options: Any) -> None:
            super(renaming, self).__init__(*args, **rename(options))

        renaming: Any = type(target)(
            target.__name__,
            (target,),
            {"__init__": construct, "__module__": target.__module__, "__doc__": target.__doc__},
        )
        return renaming

    def call(*args: Any, **options: Any) -> Any:
        return target(*args, **rename(options))

    call.__name__ = call.__qualname__ = getattr(target, "__name__", "call")
    call.__doc__ = target.__doc__
    return call
