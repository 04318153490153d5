"""The conditions of if() and while() in CMake's language (cmake-commands(7), "if")."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Any

from decouple.lists import cmake_regex
from decouple.lists.cmake_syntax import Argument

_TRUE = frozenset({"1", "ON", "YES", "TRUE", "Y"})
_FALSE = frozenset({"", "0", "OFF", "NO", "FALSE", "N", "IGNORE", "NOTFOUND"})
_UNARY = frozenset(
    {"EXISTS", "DEFINED", "TARGET", "COMMAND", "POLICY", "TEST", "IS_DIRECTORY", "IS_ABSOLUTE"}
    | {"IS_SYMLINK"}
)
_BINARY = frozenset(
    [
        "MATCHES",
        "STREQUAL",
        "STRLESS",
        "STRGREATER",
        "STRLESS_EQUAL",
        "STRGREATER_EQUAL",
        "EQUAL",
        "LESS",
        "GREATER",
        "LESS_EQUAL",
        "GREATER_EQUAL",
        "VERSION_EQUAL",
        "VERSION_LESS",
        "VERSION_GREATER",
        "VERSION_LESS_EQUAL",
        "VERSION_GREATER_EQUAL",
        "IN_LIST",
        "IS_NEWER_THAN",
        "PATH_EQUAL",
    ]
)


def holds(
    arguments: Sequence[Argument],
    variables: Mapping[str, str],
    *,
    targets: AbstractSet[str],
    commands: AbstractSet[str],
    exists: Callable[[str], bool],
) -> bool:
    """Whether a condition holds.

    Args:
        arguments: the arguments of if(), references replaced.
        variables: the variables in scope.
        targets: names of the targets so far.
        commands: names of the functions and macros so far, in lower case.
        exists: says whether a path exists.

    Raises:
        ValueError: it is not a condition.
    """
    evaluator = _Evaluator(arguments, variables, targets, commands, exists)
    return evaluator.run()


class _Evaluator:
    """Reads a condition from left to right: tests bind closest, then NOT, AND, OR."""

    def __init__(
        self,
        arguments: Sequence[Argument],
        variables: Mapping[str, str],
        targets: AbstractSet[str],
        commands: AbstractSet[str],
        exists: Callable[[str], bool],
    ) -> None:
        self._arguments = arguments
        self._variables = variables
        self._targets = targets
        self._commands = commands
        self._exists = exists
        self._next = 0

    def run(self) -> bool:
        if not self._arguments:
            return False
        result = self._or()
        if self._next < len(self._arguments):
            raise ValueError(f"'{self._arguments[self._next].text}' is not expected here")
        return result

    def _keyword(self, *words: str) -> bool:
        """Takes the next argument where it is one of the words, unquoted."""
        if self._next < len(self._arguments):
            argument = self._arguments[self._next]
            if not argument.quoted and argument.text in words:
                self._next += 1
                return True
        return False

    def _take(self) -> Argument:
        if self._next >= len(self._arguments):
            raise ValueError("it ends where a value is needed")
        self._next += 1
        return self._arguments[self._next - 1]

    def _or(self) -> bool:
        result = self._and()
        while self._keyword("OR"):
            result = self._and() or result
        return result

    def _and(self) -> bool:
        result = self._not()
        while self._keyword("AND"):
            result = self._not() and result
        return result

    def _not(self) -> bool:
        if self._keyword("NOT"):
            return not self._not()
        return self._test()

    def _test(self) -> bool:
        if self._keyword("("):
            result = self._or()
            if not self._keyword(")"):
                raise ValueError("a parenthesis is not closed")
            return result
        argument = self._take()
        if not self._at_end():
            following = self._arguments[self._next]
            if not argument.quoted and argument.text in _UNARY and not self._binary_next():
                return self._unary(argument.text, self._take().text)
            if self._binary_next():
                self._next += 1
                # "a MATCHES" and an empty unquoted reference: the value is not there.
                right = Argument("", quoted=True) if self._at_end() else self._take()
                return self._binary(argument, following.text, right)
        # A word of a test at the end, as in if(EXISTS ${X}) with X undefined, is none: CMake looks for a variable.
        return self._truth(argument)

    def _at_end(self) -> bool:
        """Whether nothing follows, or what closes a parenthesis: an operand is not there."""
        if self._next >= len(self._arguments):
            return True
        following = self._arguments[self._next]
        return not following.quoted and following.text == ")"

    def _binary_next(self) -> bool:
        following = self._arguments[self._next]
        return not following.quoted and following.text in _BINARY

    def _truth(self, argument: Argument) -> bool:
        text = argument.text
        if text.upper() in _TRUE or _is_number(text, nonzero=True):
            return True
        if _is_false(text) or argument.quoted:
            return False
        value = self._variables.get(text, "")
        return not _is_false(value)

    def _value(self, argument: Argument) -> str:
        """What a side of a comparison means: a variable where it names one."""
        if argument.quoted:
            return argument.text
        return self._variables.get(argument.text, argument.text)

    def _unary(self, test: str, word: str) -> bool:
        match test:
            case "DEFINED":
                return word in self._variables
            case "TARGET":
                return word in self._targets
            case "COMMAND":
                return word.lower() in self._commands
            case "EXISTS" | "IS_DIRECTORY":
                return self._exists(word)
            case "IS_ABSOLUTE":
                return word.startswith("/")
            case _:
                return False

    def _binary(self, left: Argument, test: str, right: Argument) -> bool:
        value = self._value(left)
        if test == "MATCHES":
            try:
                with cmake_regex.limited():
                    return re.search(right.text, value) is not None
            except re.error as error:
                raise ValueError(f"'{right.text}' is no regular expression: {error}") from None
        if test == "IN_LIST":
            return value in self._variables.get(right.text, "").split(";")
        other = self._value(right)
        if test.startswith("STR"):
            return _compare(test.removeprefix("STR"), value, other)
        if test.startswith("VERSION_"):
            return _compare(test.removeprefix("VERSION_"), _version(value), _version(other))
        if test == "PATH_EQUAL":
            return value == other
        if not (_is_number(value) and _is_number(other)):
            return False
        return _compare(test, float(value), float(other))


def _compare(test: str, left: Any, right: Any) -> bool:
    match test:
        case "EQUAL":
            return bool(left == right)
        case "LESS":
            return bool(left < right)
        case "GREATER":
            return bool(left > right)
        case "LESS_EQUAL":
            return bool(left <= right)
        case "GREATER_EQUAL":
            return bool(left >= right)
        case _:
            return False


def _version(text: str) -> tuple[int, ...]:
    """A version as numbers; trailing zeros do not count."""
    numbers = [int(part) for part in re.findall(r"\d+", text)]
    while numbers and numbers[-1] == 0:
        numbers.pop()
    return tuple(numbers)


def _is_number(text: str, *, nonzero: bool = False) -> bool:
    if not re.fullmatch(r"[-+]?\d+(\.\d+)?", text):
        return False
    return not nonzero or float(text) != 0


def _is_false(text: str) -> bool:
    upper = text.upper()
    return upper in _FALSE or upper.endswith("-NOTFOUND")
