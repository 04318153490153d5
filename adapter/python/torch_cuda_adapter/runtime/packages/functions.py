"""Functions of a platform's packages, as CUDA programs call them: keywords that they do not know, and those that they lack."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Any

from torch_cuda_adapter.platforms import Platform
from torch_cuda_adapter.runtime import imports
from torch_cuda_adapter.runtime.journal import Journal
from torch_cuda_adapter.runtime.packages import flash_attention

_COMPOSED = {"flash_attention_forward": flash_attention.forward_of}


def change(platform: Platform, journal: Journal) -> None:
    """Completes modules when a program imports them.

    Args:
        platform: its table `functions` says what.
        journal: puts them back.
    """
    for name, entry in platform.table("functions").items():
        imports.after_import(name, functools.partial(_complete, entry, journal), journal)


def _complete(entry: dict[str, Any], journal: Journal, module: ModuleType) -> None:
    for name, keywords in entry.get("optional_keywords", {}).items():
        function = getattr(module, name, None)
        unknown = [word for word in keywords if _refuses(function, word)]
        if callable(function) and unknown:
            journal.set_attribute(module, name, without(function, unknown))
    for name, recipe in entry.get("composed", {}).items():
        if not hasattr(module, name):
            journal.set_attribute(module, name, _COMPOSED[recipe](module))


def without(function: Callable[..., Any], keywords: Sequence[str]) -> Callable[..., Any]:
    """A function that takes keywords and does not hand them on.

    Args:
        function: it does not take them.
        keywords: their names.
    """

    @functools.wraps(function)
    def called(*args: Any, **options: Any) -> Any:
        for word in keywords:
            options.pop(word, None)
        return function(*args, **options)

    return called


def _refuses(function: Any, keyword: str) -> bool:
    """Whether a function's signature is known and has no place for a keyword."""
    try:
        parameters = inspect.signature(function).parameters
    except (TypeError, ValueError):
        return False
    takes_any = any(found.kind is found.VAR_KEYWORD for found in parameters.values())
    return keyword not in parameters and not takes_any
