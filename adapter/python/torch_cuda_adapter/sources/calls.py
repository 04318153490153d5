"""Reads the arguments of a call from tokens.

`f(a<b, c>(d))` is one argument or two, as `a` is a template or a number, which tokens do not always
say. Then there are two readings, and who knows how many arguments there should be chooses.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Sequence
from collections.abc import Set as AbstractSet

from torch_cuda_adapter.sources.effects import TYPES
from torch_cuda_adapter.sources.tokenizer import SILENT, Kind, Token

_CLOSING = {"(": ")", "[": "]", "{": "}", "<:": "]", "<%": "}"}
_CLOSED = {")": ")", "]": "]", "}": "}", ":>": "]", "%>": "}"}
_ANGLES = {">": 1, ">>": 2, ">>>": 3}
_BLANK = SILENT - {Kind.COMMENT}
# Between `<` and `>` these make comparisons of them.
_NO_TEMPLATE = frozenset({";", "||", "<<<", "=", "==", "!=", "<=", ">=", "++", "--", "?"})
# A name may follow these without being declared by them.
_BEFORE_NAMES = frozenset(
    {
        *("sizeof", "alignof", "new", "delete", "throw", "co_await", "co_yield", "not", "compl"),
        *("and", "or", "xor", "bitand", "bitor", "typename", "template", "operator", "mutable"),
    }
)
# No template has more tokens between its brackets. Where one seems to, nothing is said of the call.
_LONGEST_TEMPLATE = 500
_SEVERAL = "what stands for several arguments is among its arguments"
_TWO_READINGS = "its commas are those of a template or of comparisons; put brackets around them"

Ranges = tuple[tuple[int, int], ...]


@dataclasses.dataclass(frozen=True, slots=True)
class Arguments:
    """The arguments of a call.

    Attributes:
        readings: each the ranges of tokens, from and to, one an argument; with the templates that
            there may be first.
        end: the token behind the closing bracket.
        difficulty: what stands in them that cannot be moved; empty if nothing does.
        are_counted: whether none of them may stand for several.
    """

    readings: tuple[Ranges, ...]
    end: int
    difficulty: str
    are_counted: bool

    def chosen(self, counts: Collection[int]) -> tuple[Ranges, str]:
        """The reading with a number of arguments that is known, or why there is none.

        Args:
            counts: the numbers that are known.
        """
        fitting = [reading for reading in self.readings if len(reading) in counts]
        if len(fitting) > 1:
            return (), _TWO_READINGS
        if not fitting:
            wanted = " or ".join(str(count) for count in sorted(counts))
            return (), f"called with {len(self.readings[0])} arguments; the rule knows {wanted}"
        difficulty = self.difficulty or ("" if self.are_counted else _SEVERAL)
        return ((), difficulty) if difficulty else (fitting[0], "")


def read_arguments(
    tokens: Sequence[Token], index: int, end: int, several: AbstractSet[int] = frozenset()
) -> Arguments | None:
    """Reads the arguments behind a name.

    Args:
        tokens: of the whole text.
        index: the token behind the name.
        end: where to stop.
        several: tokens that may stand for more than one argument.

    Returns:
        The arguments; None where there is no call, or where its bracket does not end.
    """
    begin = index
    while index < end and tokens[index].kind in SILENT:
        index += 1
    if index >= end or tokens[index].text != "(":
        return None
    found = split(tokens, index + 1, end, ")")
    if found is None:
        return None
    readings, after = found
    found_difficulty = difficulty(tokens, begin, after)
    if not found_difficulty and any(_is_parameter(tokens, *piece) for piece in readings[0]):
        found_difficulty = "it looks like a declaration, of a function with other parameters"
    counted = are_counted(tokens, index + 1, after - 1, several)
    return Arguments(readings, after, found_difficulty, counted)


def split(
    tokens: Sequence[Token], begin: int, end: int, closing: str
) -> tuple[tuple[Ranges, ...], int] | None:
    """Splits tokens at the commas that are in no brackets.

    Args:
        tokens: of the whole text.
        begin: the first token.
        end: where to stop.
        closing: the punctuator that ends them.

    Returns:
        The readings, each the ranges between the commas, without blanks at their ends, and the token
        behind the closing one; None where it does not come or brackets do not match.
    """
    found = [_split(tokens, begin, end, closing, possible=possible) for possible in (True, False)]
    if found[0] is None or found[1] is None:
        return None
    return tuple(dict.fromkeys((found[0][0], found[1][0]))), found[0][1]


def _split(
    tokens: Sequence[Token], begin: int, end: int, closing: str, *, possible: bool
) -> tuple[Ranges, int] | None:
    """As `split`, for one reading: with the templates that are possible, or the certain ones alone."""
    ranges: list[tuple[int, int]] = []
    open_brackets = [closing]
    skipped = begin  # nothing before is a comma of the call
    for place in range(begin, end):
        token = tokens[place]
        if token.kind is not Kind.PUNCTUATOR:
            continue
        text = _CLOSED.get(token.text, token.text)
        if text == open_brackets[-1]:
            open_brackets.pop()
            if not open_brackets:
                if ranges or _is_filled(tokens[begin:place]):
                    ranges.append(_trimmed(tokens, begin, place))
                return tuple(ranges), place + 1
        elif text in _CLOSING:
            open_brackets.append(_CLOSING[text])
        elif text in _CLOSING.values() or text == ";" and len(open_brackets) == 1:
            return None
        elif text == "<" and len(open_brackets) == 1 and place >= skipped:
            after = _template_end(tokens, place, end, possible=possible)
            if after is None:
                return None
            skipped = max(skipped, after)
        elif text == "," and len(open_brackets) == 1 and place >= skipped:
            ranges.append(_trimmed(tokens, begin, place))
            begin = place + 1
    return None


def _template_end(tokens: Sequence[Token], begin: int, end: int, *, possible: bool) -> int | None:
    """The token behind a template's arguments that begin with a `<`; the `<` if it compares.

    None where that would take too long to say.
    """
    before = _beside(tokens, begin, -1)
    if before is None or before.kind is not Kind.IDENTIFIER:
        return begin
    depth = 0
    certain = False
    open_brackets: list[str] = []
    for place in range(begin, end):
        if place - begin > _LONGEST_TEMPLATE:
            return None
        token = tokens[place]
        if token.kind in SILENT:
            continue
        text = _CLOSED.get(token.text, token.text)
        if token.kind is not Kind.PUNCTUATOR:
            after = _beside(tokens, place, 1)
            is_cast = after is not None and after.text == "("
            certain |= not open_brackets and token.spelling in TYPES and not is_cast
        elif text in _CLOSING:
            open_brackets.append(_CLOSING[text])
        elif text in _CLOSING.values():
            if not open_brackets or open_brackets.pop() != text:
                return begin
        elif open_brackets:
            continue
        elif text in _NO_TEMPLATE:
            return begin
        elif text in ("*", "&", "&&", "...", "<"):
            after = _beside(tokens, place, 1)
            closes = after is not None and (after.text in _ANGLES or after.text == ",")
            certain |= closes
            if text == "&&" and not closes:
                return begin
            depth += text == "<"
        elif text in _ANGLES:
            depth -= _ANGLES[text]
            if depth <= 0:
                return place + 1 if _is_template(tokens, place, certain, possible) else begin
    return begin


def _is_template(tokens: Sequence[Token], place: int, certain: bool, possible: bool) -> bool:
    """Whether the `>` at a place closes a template's arguments: what follows may say so."""
    after = _beside(tokens, place, 1)
    if certain:
        return True
    if after is None or after.kind is not Kind.PUNCTUATOR:
        return False
    return possible


def _beside(tokens: Sequence[Token], index: int, step: int) -> Token | None:
    """The token before or behind an index that is not silent."""
    index += step
    while 0 <= index < len(tokens) and tokens[index].kind in SILENT:
        index += step
    return tokens[index] if 0 <= index < len(tokens) else None


def difficulty(tokens: Sequence[Token], begin: int, end: int) -> str:
    """What among the tokens of a call cannot be moved; empty if nothing.

    Args:
        tokens: of the whole text.
        begin: the first token of the call.
        end: where to stop.
    """
    directive = tokens[begin].directive
    for token in tokens[begin:end]:
        if token.directive != directive or token.text in ("#", "%:"):
            return "a directive stands among its arguments"
        if token.kind is Kind.COMMENT and token.text.startswith("//"):
            return "a // comment stands among its arguments"
    return ""


def are_counted(tokens: Sequence[Token], begin: int, end: int, several: AbstractSet[int]) -> bool:
    """Whether each of the arguments is one: none is a pack, or what a macro makes several of.

    Args:
        tokens: of the whole text.
        begin: the first token behind the opening bracket.
        end: the closing one.
        several: tokens that may stand for more than one argument.
    """
    depth = 0
    for index in range(begin, end):
        token = tokens[index]
        if token.kind is Kind.PUNCTUATOR:
            depth += token.text in _CLOSING
            depth -= token.text in _CLOSED
        if depth == 0 and (index in several or token.text == "..."):
            return False
    return True


def _is_parameter(tokens: Sequence[Token], begin: int, end: int) -> bool:
    """Whether an argument is a type and a name, as in a declaration."""
    depth = 0
    before: Token | None = None
    for token in tokens[begin:end]:
        if token.kind in SILENT:
            continue
        if token.kind is Kind.PUNCTUATOR:
            depth += token.text in _CLOSING or token.text == "<"
            depth -= token.text in _CLOSED
            depth -= min(_ANGLES.get(token.text, 0), depth)
        if depth == 0 and before is not None and _are_names(before, token):
            return True
        before = token
    return False


def _are_names(before: Token, token: Token) -> bool:
    """Whether two tokens are names, and no operator is one of them."""
    return all(
        beside.kind is Kind.IDENTIFIER and beside.spelling not in _BEFORE_NAMES
        for beside in (before, token)
    )


def _trimmed(tokens: Sequence[Token], begin: int, end: int) -> tuple[int, int]:
    """A range without the blanks and splices at its ends."""
    while begin < end and tokens[begin].kind in _BLANK:
        begin += 1
    while begin < end and tokens[end - 1].kind in _BLANK:
        end -= 1
    return begin, end


def _is_filled(tokens: Sequence[Token]) -> bool:
    return any(token.kind not in SILENT for token in tokens)
