"""FlashAttention's inner function, which gives partial results with their log-sum-exp, made of the public one."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from types import ModuleType
from typing import Any

from torch_cuda_adapter.errors import UnavailableError

# What says that a feature is not used.
_UNUSED = (None, False, (-1, -1), [-1, -1])
_ZERO = ("dropout_p", "softcap", "attention_chunk", "sm_margin", "window_size_left")


def forward_of(module: ModuleType) -> Callable[..., tuple[Any, Any, None, None]]:
    """`_flash_attn_forward` for a module that has `flash_attn_func`.

    Args:
        module: its `flash_attn_func` takes `return_softmax_lse`, and then returns the log-sum-exp of the scores as
            well, [batch, heads, rows] in float32.

    Returns:
        The function: the result, its log-sum-exp, and twice None, for what only training with dropout has.
    """
    name = f"{module.__name__}._flash_attn_forward"

    def _flash_attn_forward(q: Any, k: Any, v: Any, *rest: Any, **options: Any) -> Any:
        function = getattr(module, "flash_attn_func", None)
        if function is None:
            raise UnavailableError(
                f"{name}: {module.__name__} has no flash_attn_func to make it of"
            )
        if any(value is not None for value in rest):
            raise UnavailableError(f"{name}: found arguments after q, k and v; give them by name")
        sides = [options.pop(f"window_size_{side}", -1) for side in ("left", "right")]
        if sides != [-1, -1]:
            options["window_size"] = tuple(sides)
        options.pop("return_softmax", None)
        known = inspect.signature(function).parameters
        takes_any = any(found.kind is found.VAR_KEYWORD for found in known.values())
        for word in [word for word in options if word not in known and not takes_any]:
            value = options.pop(word)
            if not _is_unused(word, value):
                raise UnavailableError(f"{name}: {module.__name__}.flash_attn_func takes no {word}")
        options["return_softmax_lse"] = True
        returned = function(q, k, v, **options)
        if not isinstance(returned, tuple) or len(returned) < 2 or returned[1] is None:
            raise UnavailableError(
                f"{name}: {module.__name__}.flash_attn_func returned no log-sum-exp, which partial results need"
            )
        return returned[0], returned[1], None, None

    return _flash_attn_forward


def _is_unused(word: str, value: Any) -> bool:
    if word in _ZERO:
        return value is None or value == 0
    return any(value is unused or value == unused for unused in _UNUSED)
