"""The errors of the adapter that a user can cause: a sentence that says what to do."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn


class AdapterError(Exception):
    """What was found, what is needed, what to type."""


class UnavailableError(AdapterError, NotImplementedError):
    """A function of CUDA's was called that the platform has nothing for."""


def refusal(name: str, platform: str, reason: str) -> Callable[..., Any]:
    """A function that stands for one of CUDA's that a platform has nothing for.

    Args:
        name: of CUDA's function, from `torch` on.
        platform: the platform's name.
        reason: why there is nothing for it, or what to use instead.

    Returns:
        A function that takes anything and raises an `UnavailableError` with all three; its docstring says the same.
    """
    text = f"{name}: {platform} has nothing for it: {reason}"

    def refuse(*args: Any, **kwargs: Any) -> NoReturn:
        raise UnavailableError(text)

    refuse.__name__ = refuse.__qualname__ = name.rpartition(".")[2]
    refuse.__doc__ = text
    return refuse
