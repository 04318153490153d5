"""The conditions of #if and #elif ([cpp.cond], [expr.const]): parsed, evaluated in part, simplified."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator

from decouple.errors import DecoupleError

_TOKEN = re.compile(
    r"\s*(?P<token>"
    r"[A-Za-z_]\w*"
    r"|[0-9](?:'?[A-Za-z0-9_.])*"
    r"|(?:u8|[uUL])?'(?:[^'\\]|\\.)*'"
    r'|"(?:[^"\\]|\\.)*"'
    r"|\|\||&&|<<|>>|<=|>=|==|!=|::"
    r"|.)"
)
# "not", "and" and "or" are operators of C++ ([lex.digraph]).
_SPELLINGS = {"not": "!", "and": "&&", "or": "||", "bitand": "&", "bitor": "|", "not_eq": "!="}
_PRECEDENCE = {
    "||": 1,
    "&&": 2,
    "|": 3,
    "^": 4,
    "&": 5,
    "==": 6,
    "!=": 6,
    "<": 7,
    ">": 7,
    "<=": 7,
    ">=": 7,
    "<<": 8,
    ">>": 8,
    "+": 9,
    "-": 9,
    "*": 10,
    "/": 10,
    "%": 10,
}
_UNARY = frozenset({"!", "~", "-", "+"})
# Upstream's longest has 60: the pieces of a longer one could be nested deeper than Python can follow.
_MOST_TOKENS = 400
_SHOWN = 200
_INTEGER = re.compile(r"(0[xX][0-9a-fA-F]+|0[bB][01]+|[0-9]+)[uUlLzZ]*\Z")


@dataclasses.dataclass(frozen=True, slots=True)
class Macros:
    """The macros that say that something is compiled for a device."""

    names: frozenset[str]
    """Object-like macros such as USE_CUDA: undefined without the device."""
    calls: frozenset[str] = frozenset()
    """Function-like macros such as AT_CUDNN_ENABLED(): 0 without the device."""

    def __contains__(self, name: str) -> bool:
        return name in self.names or name in self.calls


@dataclasses.dataclass(frozen=True, slots=True)
class Node:
    """A piece of a condition: what it is, its operands and where it is written."""

    kind: str
    """number, name, call, defined, paren, opaque, or an operator ("?" for the conditional one)."""
    text: str
    """The digits of a number, the macro of a name, call or defined."""
    operands: tuple[Node, ...]
    start: int
    end: int

    def names(self) -> Iterator[str]:
        """The macros that the piece depends on."""
        if self.kind in ("name", "call", "defined"):
            yield self.text
        for operand in self.operands:
            yield from operand.names()


class _Parser:
    """Precedence climbing over the tokens of one condition."""

    def __init__(self, text: str) -> None:
        self._tokens = [
            (_SPELLINGS.get(match["token"], match["token"]), *match.span("token"))
            for match in _TOKEN.finditer(text)
            if match["token"].strip()
        ]
        self._next = 0

    def parse(self) -> Node:
        if len(self._tokens) > _MOST_TOKENS:
            raise ValueError(f"it has more than {_MOST_TOKENS} words")
        node = self._conditional()
        if self._next < len(self._tokens):
            raise ValueError(f"'{self._tokens[self._next][0]}' is not expected here")
        return node

    def _peek(self) -> str:
        return self._tokens[self._next][0] if self._next < len(self._tokens) else ""

    def _take(self, wanted: str = "") -> tuple[str, int, int]:
        if self._next >= len(self._tokens):
            raise ValueError(f"it ends where {wanted or 'an operand'} is needed")
        token = self._tokens[self._next]
        if wanted and token[0] != wanted:
            raise ValueError(f"'{token[0]}' stands where '{wanted}' is needed")
        self._next += 1
        return token

    def _conditional(self) -> Node:
        test = self._binary(1)
        if self._peek() != "?":
            return test
        self._take("?")
        chosen = self._conditional()
        self._take(":")
        other = self._conditional()
        return Node("?", "", (test, chosen, other), test.start, other.end)

    def _binary(self, least: int) -> Node:
        left = self._unary()
        while _PRECEDENCE.get(self._peek(), 0) >= least:
            operator, _, _ = self._take()
            right = self._binary(_PRECEDENCE[operator] + 1)
            left = Node(operator, "", (left, right), left.start, right.end)
        return left

    def _unary(self) -> Node:
        token, start, end = self._take()
        if token in _UNARY:
            operand = self._unary()
            return Node(f"unary {token}", "", (operand,), start, operand.end)
        if token == "(":
            inner = self._conditional()
            _, _, end = self._take(")")
            return Node("paren", "", (inner,), start, end)
        if token == "defined":
            return self._defined(start)
        if token[0].isdigit():
            return Node("number", token, (), start, end)
        if re.match(r"[A-Za-z_]", token) and token[-1] not in "'\"":
            if self._peek() == "(":
                return self._call(token, start)
            return Node("name", token, (), start, end)
        if token[-1] in "'\"":
            return Node("opaque", token, (), start, end)
        raise ValueError(f"'{token}' stands where an operand is needed")

    def _defined(self, start: int) -> Node:
        parenthesized = self._peek() == "("
        if parenthesized:
            self._take("(")
        name, _, end = self._take()
        if parenthesized:
            _, _, end = self._take(")")
        return Node("defined", name, (), start, end)

    def _call(self, name: str, start: int) -> Node:
        # The arguments may be anything: __has_include(<x.h>), __has_cpp_attribute(a::b).
        depth = 0
        end = start
        while True:
            token, _, end = self._take(")" if self._next >= len(self._tokens) else "")
            depth += {"(": 1, ")": -1}.get(token, 0)
            if depth == 0:
                return Node("call", name, (), start, end)


@dataclasses.dataclass(frozen=True, slots=True)
class Condition:
    """A parsed condition and its text."""

    text: str
    root: Node

    def depends_on(self, macros: Macros) -> bool:
        """Whether the condition mentions one of the macros."""
        return any(name in macros for name in self.root.names())

    def without(self, macros: Macros) -> bool | None:
        """Its truth where the device's macros are undefined; None where others decide."""
        return _truth(self.root, macros, present=False)

    def with_all(self, macros: Macros) -> bool | None:
        """Its truth where all the device's macros are set; None where others decide."""
        return _truth(self.root, macros, present=True)

    def simplified(self, macros: Macros) -> str | bool:
        """The condition without the device's macros: a constant, or what is left of its text."""
        return _simplify(self.root, self.text, macros)


def parse(expression: str, *, path: str = "", line: int = 0) -> Condition:
    """Parses the expression behind #if.

    Args:
        expression: the text, without comments and continuations.
        path: the file, for messages.
        line: the line of the directive.

    Raises:
        DecoupleError: it is not an expression that a preprocessor takes.
    """
    try:
        return Condition(expression, _Parser(expression).parse())
    except (ValueError, RecursionError) as error:
        shown = expression if len(expression) <= _SHOWN else f"{expression[:_SHOWN]}…"
        raise DecoupleError(
            f"the condition '{shown}' cannot be read: {error}.", path=path, line=line
        ) from None


def _truth(node: Node, macros: Macros, *, present: bool) -> bool | None:
    """The truth of a piece, where its device macros alone decide it."""
    match node.kind:
        case "paren":
            return _truth(node.operands[0], macros, present=present)
        case "unary !":
            inner = _truth(node.operands[0], macros, present=present)
            return None if inner is None else not inner
        case "&&" | "||":
            decisive = node.kind == "||"
            truths = [_truth(operand, macros, present=present) for operand in node.operands]
            if decisive in truths:
                return decisive
            return None if None in truths else not decisive
        case "defined" | "name" | "call" if node.text in macros:
            return present
        case _:
            if present or not any(name in macros for name in node.names()):
                return None
            value = _value(node, macros)
            return None if value is None else bool(value)


def _value(node: Node, macros: Macros) -> int | None:
    """The value of an arithmetic piece without the device's macros; None where others decide."""
    if node.kind == "number":
        match = _INTEGER.match(node.text.replace("'", ""))
        if not match:
            return None
        digits = match[1]
        octal = len(digits) > 1 and digits[0] == "0" and digits[1].isdigit()
        try:
            return int(digits, 8 if octal else 0)
        except ValueError:
            return None
    if node.kind in ("name", "call", "defined"):
        return 0 if node.text in macros else None
    values = [_value(operand, macros) for operand in node.operands]
    if node.kind == "?":
        test, chosen, other = values
        return None if test is None else chosen if test else other
    if node.kind == "&&" and 0 in values:
        return 0
    if node.kind == "||" and any(values):
        return 1
    known = [value for value in values if value is not None]
    if len(known) < len(values) or not known:
        return None
    return _apply(node.kind, known)


def _apply(operator: str, values: list[int]) -> int | None:
    """The result of an operator on known operands, in the integers of the preprocessor."""
    left, right = values[0], values[-1]
    match operator:
        case "paren" | "unary +":
            return left
        case "unary -":
            return -left
        case "unary !":
            return int(not left)
        case "unary ~":
            return ~left
        case "&&":
            return int(bool(left) and bool(right))
        case "||":
            return int(bool(left) or bool(right))
        case "==":
            return int(left == right)
        case "!=":
            return int(left != right)
        case "<":
            return int(left < right)
        case ">":
            return int(left > right)
        case "<=":
            return int(left <= right)
        case ">=":
            return int(left >= right)
        case "+":
            return left + right
        case "-":
            return left - right
        case "*":
            return left * right
        case "|":
            return left | right
        case "&":
            return left & right
        case "^":
            return left ^ right
        case "<<" | ">>" if 0 <= right < 64:
            return left << right if operator == "<<" else left >> right
        case "/" | "%" if right:
            # C++ rounds towards zero, Python down.
            quotient = abs(left) // abs(right) * (1 if (left < 0) == (right < 0) else -1)
            return quotient if operator == "/" else left - quotient * right
        case _:
            return None


def _simplify(node: Node, text: str, macros: Macros) -> str | bool:
    """Drops what the undefined macros decide; pieces that do not mention them stay as written."""
    written = text[node.start : node.end]
    if not any(name in macros for name in node.names()):
        return written
    truth = _truth(node, macros, present=False)
    if truth is not None:
        return truth
    if node.kind == "paren":
        inner = _simplify(node.operands[0], text, macros)
        return inner if isinstance(inner, bool) else f"({inner})"
    if node.kind == "unary !":
        inner = _simplify(node.operands[0], text, macros)
        return (not inner) if isinstance(inner, bool) else f"!{inner}"
    if node.kind in ("&&", "||"):
        left, right = (_simplify(operand, text, macros) for operand in node.operands)
        if isinstance(left, bool):
            return right
        if isinstance(right, bool):
            return left
        between = text[node.operands[0].end : node.operands[1].start]
        return f"{left}{between}{right}"
    # Mixed arithmetic is left alone: an undefined macro is 0 there anyway.
    return written
