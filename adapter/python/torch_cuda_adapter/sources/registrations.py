"""Finds the dispatch key in `TORCH_LIBRARY_IMPL(ops, CUDA, m)`, for which kernels are registered."""

from __future__ import annotations

from collections.abc import Sequence

from torch_cuda_adapter.sources.tokenizer import SILENT, Kind, Token

_MACROS = frozenset({"TORCH_LIBRARY_IMPL", "STABLE_TORCH_LIBRARY_IMPL"})
_CUDA = "CUDA"


def translated_key(tokens: Sequence[Token], index: int, key: str) -> str | None:
    """What becomes of a name that is the second argument of such a macro.

    Args:
        tokens: of the whole text.
        index: of the name.
        key: the platform's dispatch key, such as "PrivateUse1".

    Returns:
        "AutogradPrivateUse1" for "AutogradCUDA"; None for keys of other devices and other names.
    """
    name = tokens[index].spelling
    if not name.endswith(_CUDA):
        return None
    before: list[Token] = []
    while index > 0 and len(before) < 4:
        index -= 1
        if tokens[index].kind not in SILENT:
            before.append(tokens[index])
    if [token.spelling for token in before[:3:2]] != [",", "("] or len(before) < 4:
        return None
    if before[1].kind is not Kind.IDENTIFIER or before[3].spelling not in _MACROS:
        return None
    return name.removesuffix(_CUDA) + key
