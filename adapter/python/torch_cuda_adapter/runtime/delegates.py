"""Lets functions and classes do what others do, also for who took them before.

`from torch.cuda import current_stream, Stream` keeps the object. So a function gets other code, and a
class another metaclass; both stay the objects that they are.
"""

from __future__ import annotations

import functools
from types import CodeType, FunctionType
from typing import Any

from torch_cuda_adapter import _native
from torch_cuda_adapter.runtime.journal import Journal

_TARGETS: dict[type, Any] = {}
_PLACE = "the target"


def delegate(original: Any, target: Any, journal: Journal) -> None:
    """Lets a function or a class do what another one does.

    Args:
        original: a Python function, decorated or not, or a class.
        target: what is called in its place; for a class, a class whose instances count as its own.
        journal: puts it back.
    """
    if isinstance(original, type):
        _delegate_class(original, target, journal)
        return
    # Caches and the like: what they call in the end.
    while not isinstance(original, FunctionType):
        wrapped = getattr(original, "__wrapped__", None)
        if wrapped is None:
            return
        clear = getattr(original, "cache_clear", None)
        if clear is not None:
            clear()
            journal.on_restore(clear)
        original = wrapped
    _delegate_function(original, target, journal)


def copied(function: FunctionType) -> FunctionType:
    """The function as it is at present, which no later delegation changes."""
    copy = FunctionType(
        function.__code__,
        function.__globals__,
        function.__name__,
        function.__defaults__,
        function.__closure__,
    )
    copy.__kwdefaults__ = function.__kwdefaults__
    return copy


def _delegate_function(function: FunctionType, target: Any, journal: Journal) -> None:
    template = _template(len(function.__code__.co_freevars))
    constants = tuple(target if value is _PLACE else value for value in template.co_consts)
    code = template.replace(
        co_consts=constants,
        co_name=function.__code__.co_name,
        co_qualname=function.__code__.co_qualname,
    )
    journal.set_attribute(function, "__code__", code)
    journal.set_attribute(function, "__defaults__", None)
    journal.set_attribute(function, "__kwdefaults__", None)


@functools.cache
def _template(variables: int) -> CodeType:
    """Code that calls its constant `_PLACE`, with as many free variables as a function has to keep."""
    names = [f"v{index}" for index in range(variables)]
    lines = [
        "def outer():",
        *(f"    {name} = None" for name in names),
        "    def function(*args, **kwargs):",
        f"        target = {_PLACE!r}",
        "        return target(*args, **kwargs)",
        *(f"        {name}" for name in names),
        "    return function",
    ]
    scope: dict[str, Any] = {}
    exec(compile("\n".join(lines), __file__, "exec"), scope)  # noqa: S102
    code: CodeType = scope["outer"]().__code__
    return code.replace(
        co_consts=tuple(_PLACE if value == _PLACE else value for value in code.co_consts)
    )


def _delegate_class(original: type, target: Any, journal: Journal) -> None:
    kind = type(original)
    standing = _standing(kind)
    if standing is None:
        return
    _TARGETS[original] = target
    journal.on_restore(lambda: _TARGETS.pop(original, None))
    _native.set_metaclass(original, standing)
    journal.on_restore(lambda: _native.set_metaclass(original, kind))


class _Standing(type):
    """Classes in whose place others stand."""

    def __new__(mcs, name: str, bases: tuple[type, ...], namespace: dict[str, Any]) -> Any:
        real = tuple(_TARGETS.get(base, base) for base in bases)
        # A platform's class has a metaclass of its own, or `type`.
        return type(real[0])(name, real, namespace)

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        target = _TARGETS.get(cls)
        return super().__call__(*args, **kwargs) if target is None else target(*args, **kwargs)

    def __instancecheck__(cls, instance: Any) -> bool:
        target = _TARGETS.get(cls)
        return type.__instancecheck__(cls, instance) or (
            isinstance(target, type) and isinstance(instance, target)
        )

    def __subclasscheck__(cls, subclass: type) -> bool:
        target = _TARGETS.get(cls)
        return type.__subclasscheck__(cls, subclass) or (
            isinstance(target, type) and issubclass(subclass, target)
        )

    def __getattribute__(cls, name: str) -> Any:
        target = _TARGETS.get(cls)
        if isinstance(target, type) and not name.startswith("__") and hasattr(target, name):
            return getattr(target, name)
        return type.__getattribute__(cls, name)


@functools.cache
def _standing(kind: type) -> type | None:
    """What takes the place of a metaclass; None for one of which nothing is known."""
    if kind is type:
        return _Standing
    if kind.__module__ == "pybind11_builtins":
        # Classes of a build with CUDA; it adds no members to what a class has.
        return type("_Standing", (_Standing, kind), {})
    return None
