"""The last pass: what of CUDA is left in a translation, or was lost on the way, and nobody was told.

It asks no rule how a token was translated. It holds what was written against the source, token by
token: a name of CUDA's that was copied is left, one that is not there was lost, and so was an effect
that is not there, or there twice. Each of them is a finding, unless there is one already.
"""

from __future__ import annotations

import dataclasses
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet

from torch_cuda_adapter.sources import families
from torch_cuda_adapter.sources.effects import effects
from torch_cuda_adapter.sources.pieces import Piece
from torch_cuda_adapter.sources.report import Severity
from torch_cuda_adapter.sources.rules import Rules, Unsupported
from torch_cuda_adapter.sources.tokenizer import KEYWORDS, SILENT, Kind, Token

VERBATIM = frozenset({"pragma", "error", "warning", "line", "ident"})
"""The directives that are no code."""

_TORCH = frozenset({"at", "c10", "torch", "caffe2"})
# In PyTorch's namespaces, names are PyTorch's.
_IN_TORCH = re.compile(r"\w*(?:cuda|cudnn|cublas|cufft|cusolver|cusparse|nccl)\w*", re.IGNORECASE)
# A device, or a dispatch key, as programs pass them; and one in a program that is passed as a text.
_DEVICE = re.compile(r"cuda(?::\d*)?|[A-Za-z]*CUDA")
_QUOTED_DEVICE = re.compile(r"""(["'])cuda(?::\d*)?\1|\btorch\.cuda\.""")
_LIBRARY = re.compile(
    r"lib(?:cuda|cudart|nvrtc|nccl|cu(?:blas|blasLt|dnn|fft|rand|solver|sparse|pti))\.so[\d.]*"
)
_VARIABLE = re.compile(r"(?:CUDA|CUDNN|CUBLAS|NCCL|NVIDIA)_\w+")
_ENVIRONMENT = frozenset({"getenv", "secure_getenv", "setenv", "unsetenv", "putenv"})
_LOOKING_UP = frozenset({"dlsym", "dlvsym", "GetProcAddress", "cuGetProcAddress"})
# Functions whose first argument is the name of an operator.
_OPERATORS = frozenset({"impl", "def"})
_LEFT = "it names CUDA's, and no rule knows it here"
_LOST = "it has no place in the call that replaces the one around it"
_EFFECT = "it may have an effect, and the translation evaluates it {times} times"
_STRING = "a text that names CUDA's; texts are not translated"


@dataclasses.dataclass(frozen=True, slots=True)
class Remainder:
    """What is left or lost: the token, and what a finding says of it."""

    index: int
    name: str
    family: str
    severity: Severity
    reason: str


def remains(
    tokens: Sequence[Token],
    written: Sequence[Piece],
    rules: Rules,
    known: AbstractSet[int],
    opaque: AbstractSet[int],
) -> Iterator[Remainder]:
    """What is left of CUDA, or lost.

    Args:
        tokens: of the source.
        written: the translation.
        rules: of the platform.
        known: tokens that there are findings of, or that are not CUDA's though they look so.
        opaque: names behind which an effect may stand.
    """
    times = Counter(index for piece in written for index in piece.origin)
    copied = {
        piece.origin[0]
        for piece in written
        if len(piece.origin) == 1 and piece.text == tokens[piece.origin[0]].text
    }
    with_effect = set(effects(tokens, 0, len(tokens), opaque))
    for index, token in enumerate(tokens):
        if index in known or token.directive in VERBATIM or token.kind in SILENT:
            continue
        if index in with_effect and times[index] != 1:
            reason = _EFFECT.format(times=times[index])
            yield Remainder(index, token.spelling, "effects", Severity.UNSUPPORTED, reason)
        elif not times[index]:
            family = _family(tokens, index)
            if family is not None:
                yield Remainder(index, token.spelling, family, Severity.UNSUPPORTED, _LOST)
        elif index in copied:
            yield from _left(tokens, index, rules)


def own_namespaces(tokens: Sequence[Token]) -> frozenset[int]:
    """The tokens `cuda` that name a namespace of somebody's, and not one of PyTorch's.

    It is opened for itself, `namespace cuda {`, or is in one: `mine::cuda`.

    Args:
        tokens: of the whole text.
    """
    found = set()
    open_braces: list[str] = []
    places = [index for index, token in enumerate(tokens) if token.kind not in SILENT]
    for number, index in enumerate(places):
        before = [tokens[i].spelling for i in reversed(places[max(number - 2, 0) : number])]
        before += [""] * 2
        if tokens[index].text == "{":
            open_braces.append(before[0] if before[1] in ("namespace", "::") else "")
        elif tokens[index].text == "}" and open_braces:
            open_braces.pop()
        if tokens[index].spelling != "cuda" or tokens[index].kind is not Kind.IDENTIFIER:
            continue
        after = tokens[places[number + 1]].text if number + 1 < len(places) else ""
        if before[0] == "namespace" and after == "{" and not _TORCH & set(open_braces):
            found.add(index)
        is_named = re.fullmatch(r"\w+", before[1]) and before[1] not in KEYWORDS
        if before[0] == "::" and is_named and not _in_torch(tokens, index):
            found.add(index)
    return frozenset(found)


def _left(tokens: Sequence[Token], index: int, rules: Rules) -> Iterator[Remainder]:
    """What is to say of a token that was copied."""
    token = tokens[index]
    if token.kind is Kind.STRING:
        family = _family_of_string(tokens, index)
        if family is not None:
            # It may be a message: only who looks the function up needs it translated.
            is_function = _family_of_function(_content(token.spelling) or "") is not None
            doubtful = is_function and not _LOOKING_UP & set(_before(tokens, index))
            severity = Severity.ASSUMED if doubtful else Severity.UNKNOWN
            yield Remainder(index, token.spelling, family, severity, _STRING)
    elif token.kind is Kind.IDENTIFIER:
        answer = rules.identifier(token.spelling)
        if answer is not None:
            unsupported = isinstance(answer, Unsupported)
            severity = Severity.UNSUPPORTED if unsupported else Severity.UNKNOWN
            reason = answer.reason if isinstance(answer, Unsupported) else _LEFT
            yield Remainder(index, token.spelling, answer.family, severity, reason)
            return
        answer = rules.qualified([token.spelling, ""])[1] if _is_alias(tokens, index) else None
        if answer is not None:
            yield Remainder(index, token.spelling, answer.family, Severity.UNKNOWN, _LEFT)
        elif families.of_name(token.spelling) is None and _is_torchs(tokens, index):
            yield Remainder(index, token.spelling, "torch", Severity.UNKNOWN, _LEFT)
    elif token.text == "<" and (token.directive or _before(tokens, index)[0] == "import"):
        header = _header(tokens, index)
        family = families.of_header(header) if header else None
        if family is not None:
            yield Remainder(index, f"<{header}>", family, Severity.UNKNOWN, _LEFT)


def _family(tokens: Sequence[Token], index: int) -> str | None:
    """The family of what a token names; None where it is not CUDA's."""
    if tokens[index].kind is Kind.STRING:
        return _family_of_string(tokens, index)
    if tokens[index].kind is not Kind.IDENTIFIER:
        return None
    return families.of_name(tokens[index].spelling)


def _family_of_string(tokens: Sequence[Token], index: int) -> str | None:
    """The family of what a string names, as a whole, with those behind it that it is joined with."""
    text = _content(tokens[index].spelling)
    if text is None:
        return None
    return _family_of_text(tokens, index, text) or _family_of_text(
        tokens, index, text + _joined(tokens, index)
    )


def _joined(tokens: Sequence[Token], index: int) -> str:
    """What is in the strings right behind a string."""
    text = ""
    for token in tokens[index + 1 :]:
        content = _content(token.spelling) if token.kind is Kind.STRING else None
        if content is None and token.kind not in SILENT:
            return text
        text += content or ""
    return text


def _family_of_text(tokens: Sequence[Token], index: int, text: str) -> str | None:
    """The family of what a text names that stands at an index."""
    before = _before(tokens, index)
    opened_by = before[1] if before[0] == "(" else ""
    if _DEVICE.fullmatch(text) and opened_by not in _OPERATORS or _QUOTED_DEVICE.search(text):
        return "devices"
    if _LIBRARY.fullmatch(text) or (_VARIABLE.fullmatch(text) and opened_by in _ENVIRONMENT):
        return "runtime"
    return families.of_header(text) or _family_of_function(text)


def _family_of_function(text: str) -> str | None:
    """The family of a function of CUDA's libraries, by its name."""
    family = families.of_name(text) if re.fullmatch(r"[a-z]\w*", text) else None
    return None if family in ("devices", "kernels", "half") else family


def _content(literal: str) -> str | None:
    """What is between the quotes of a string; None for a character."""
    match = re.fullmatch(
        r'(?:u8|[uUL])?(?:R"([^()\\\s]*)\((.*)\)\1"|"(.*)")\w*', literal, re.DOTALL
    )
    if match is None:
        return None
    return match[2] if match[3] is None else match[3].replace('\\"', '"')


def _is_torchs(tokens: Sequence[Token], index: int) -> bool:
    """Whether a name is in a namespace of PyTorch's and speaks of CUDA."""
    return _IN_TORCH.fullmatch(tokens[index].spelling) is not None and _in_torch(tokens, index)


def _in_torch(tokens: Sequence[Token], index: int) -> bool:
    """Whether one of PyTorch's namespaces stands before a name."""
    before = _before(tokens, index)
    while before[0] == "::" and before[1] not in _TORCH:
        before = before[2:]
    return before[0] == "::"


def _is_alias(tokens: Sequence[Token], index: int) -> bool:
    """Whether a name is that of a namespace, in `using namespace cub` and `namespace x = cub`."""
    before = _before(tokens, index)
    return before[0] == "namespace" or (before[0] == "=" and before[2] == "namespace")


def _before(tokens: Sequence[Token], index: int) -> list[str]:
    """What stands before a token, the last first; then empty texts."""
    found: list[str] = []
    while index > 0 and len(found) < 12:
        index -= 1
        if tokens[index].kind not in SILENT:
            found.append(tokens[index].spelling)
    return [*found, "", "", ""]


def _header(tokens: Sequence[Token], index: int) -> str | None:
    """The header that is named from a `<` on in a macro's body; None if it is none."""
    text = ""
    for token in tokens[index + 1 :]:
        if token.text == ">":
            return text
        if token.kind is Kind.NEWLINE:
            return None
        text += token.spelling
    return None
