"""Finds CUDA among PyTorch's dispatch keys, backends and types of devices: as an argument, and as an enumerator.

`TORCH_LIBRARY_IMPL(ops, CUDA, m)` registers kernels for a key, and `c10::DispatchKey::SparseCUDA` names one.
"""

from __future__ import annotations

from collections.abc import Sequence

from torch_cuda_adapter.sources.tokenizer import KEYWORDS, SILENT, Kind, Token

_MACROS = frozenset({"TORCH_LIBRARY_IMPL", "STABLE_TORCH_LIBRARY_IMPL"})
_CUDA = "CUDA"
# What comes before the device in the names of keys and backends.
_FUNCTIONALITIES = frozenset(
    {"", "Autograd", "Autocast", "NestedTensor", "Quantized", "Sparse", "SparseCsr"}
)
_NAMESPACES = ("at", "c10", "torch")
# The enumerations, by the names before an enumerator.
_ENUMERATIONS = frozenset(
    {
        ("DispatchKey",),
        ("DeviceType",),
        *(
            (space, *names)
            for space in _NAMESPACES
            for names in (("DispatchKey",), ("DeviceType",), ("Backend",), ("Device", "Type"))
        ),
    }
)


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
    before = _before(tokens, index, 4)
    if [token.spelling for token in before[:3:2]] != [",", "("] or len(before) < 4:
        return None
    if before[1].kind is not Kind.IDENTIFIER or before[3].spelling not in _MACROS:
        return None
    return name.removesuffix(_CUDA) + key


def translated_enumerator(tokens: Sequence[Token], index: int, key: str) -> str | None:
    """What becomes of a name behind `DispatchKey::` and its like.

    Args:
        tokens: of the whole text.
        index: of the name.
        key: the platform's dispatch key, such as "PrivateUse1".

    Returns:
        "SparsePrivateUse1" for "SparseCUDA"; None for other names, and for enumerations that are not
        known to be PyTorch's.
    """
    name = tokens[index].spelling
    if not name.endswith(_CUDA) or name.removesuffix(_CUDA) not in _FUNCTIONALITIES:
        return None
    names: list[str] = []
    before = _before(tokens, index, 8)
    while len(before) > 1 and before[0].text == "::" and _is_name(before[1]):
        names.insert(0, before[1].spelling)
        before = before[2:]
    return name.removesuffix(_CUDA) + key if tuple(names) in _ENUMERATIONS else None


def _is_name(token: Token) -> bool:
    return token.kind is Kind.IDENTIFIER and token.spelling not in KEYWORDS


def _before(tokens: Sequence[Token], index: int, count: int) -> list[Token]:
    """The tokens before an index that are not silent, the last first."""
    found: list[Token] = []
    while index > 0 and len(found) < count:
        index -= 1
        if tokens[index].kind not in SILENT:
            found.append(tokens[index])
    return found
