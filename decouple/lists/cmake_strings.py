"""The list(), string() and math() commands of CMake's language, and parts of file names."""

from __future__ import annotations

import ast
import operator
import posixpath
import re
from collections.abc import Callable, MutableMapping, Sequence
from typing import Any

from decouple.lists import cmake_regex

LONGEST = 4_000_000
"""Characters that a value may have."""
_BITS = 64
_OPERATORS: dict[type[ast.AST], Callable[..., int]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: lambda left, right: _divide(left, right),
    ast.Mod: lambda left, right: left - _divide(left, right) * right,
    ast.LShift: lambda left, right: left << _shift(right),
    ast.RShift: lambda left, right: left >> _shift(right),
    ast.BitAnd: operator.and_,
    ast.BitOr: operator.or_,
    ast.BitXor: operator.xor,
    ast.USub: operator.neg,
    ast.UAdd: operator.pos,
    ast.Invert: operator.invert,
}


def list_command(
    variables: MutableMapping[str, str], operation: str, name: str, words: Sequence[str]
) -> None:
    """Runs list(OPERATION NAME WORDS…).

    Args:
        variables: the scope that it reads and writes.
        operation: APPEND, REMOVE_ITEM, FILTER …
        name: the variable that holds the list.
        words: the other arguments, expanded.

    Raises:
        ValueError, IndexError: the arguments do not fit the operation.
    """
    elements = [element for element in variables.get(name, "").split(";") if element]
    match operation:
        case "APPEND":
            elements += words
        case "PREPEND":
            elements = [*words, *elements]
        case "INSERT":
            index = int(words[0])
            elements[index:index] = words[1:]
        case "REMOVE_ITEM":
            elements = [element for element in elements if element not in words]
        case "REMOVE_AT":
            gone = {int(word) % len(elements) for word in words}
            elements = [element for number, element in enumerate(elements) if number not in gone]
        case "REMOVE_DUPLICATES":
            elements = list(dict.fromkeys(elements))
        case "SORT":
            elements.sort(reverse="DESCENDING" in words)
        case "REVERSE":
            elements.reverse()
        case "FILTER":
            keep = words[0] == "INCLUDE"
            pattern = re.compile(words[2])
            with cmake_regex.limited():
                elements = [
                    element for element in elements if (pattern.search(element) is not None) == keep
                ]
        case "TRANSFORM":
            with cmake_regex.limited():
                elements = [_transform(element, words) for element in elements]
        case "POP_FRONT" | "POP_BACK":
            removed = elements.pop(0 if operation == "POP_FRONT" else -1) if elements else ""
            if words:
                variables[words[0]] = removed
        case _:
            variables[words[-1]] = _query(operation, elements, words)
            return
    variables[name] = ";".join(elements)


def _query(operation: str, elements: Sequence[str], words: Sequence[str]) -> str:
    """The result of an operation that leaves the list alone."""
    match operation:
        case "LENGTH":
            return str(len(elements))
        case "GET":
            return ";".join(elements[int(word)] for word in words[:-1])
        case "FIND":
            return str(elements.index(words[0]) if words[0] in elements else -1)
        case "JOIN":
            return words[0].join(elements)
        case "SUBLIST":
            begin, length = int(words[0]), int(words[1])
            return ";".join(elements[begin:] if length < 0 else elements[begin : begin + length])
        case _:
            raise ValueError(f"list({operation}) is not known to decouple")


def _transform(element: str, words: Sequence[str]) -> str:
    """One element after list(TRANSFORM)."""
    match words[0]:
        case "APPEND":
            return element + words[1]
        case "PREPEND":
            return words[1] + element
        case "TOUPPER":
            return element.upper()
        case "TOLOWER":
            return element.lower()
        case "STRIP":
            return element.strip()
        case "REPLACE":
            return re.sub(words[1], _replacement(words[2]), element)
        case _:
            raise ValueError(f"list(TRANSFORM {words[0]}) is not known to decouple")


def string_command(variables: MutableMapping[str, str], words: Sequence[str]) -> None:
    """Runs string(…); operations that have nothing to do with lists of files set nothing.

    Args:
        variables: the scope that it reads and writes.
        words: the arguments, expanded.

    Raises:
        ValueError, IndexError: the arguments do not fit the operation.
    """
    match words[0]:
        case "APPEND":
            variables[words[1]] = variables.get(words[1], "") + "".join(words[2:])
        case "PREPEND":
            variables[words[1]] = "".join(words[2:]) + variables.get(words[1], "")
        case "CONCAT":
            variables[words[1]] = "".join(words[2:])
        case "JOIN":
            variables[words[2]] = words[1].join(words[3:])
        case "REPLACE":
            if not words[1]:
                raise ValueError("there is nothing to replace")
            text = "".join(words[4:])
            if text.count(words[1]) * len(words[2]) > LONGEST:
                raise ValueError("the text is too long")
            variables[words[3]] = text.replace(words[1], words[2])
        case "REPEAT":
            if len(words[1]) * int(words[2]) > LONGEST:
                raise ValueError("the text is too long")
            variables[words[3]] = words[1] * int(words[2])
        case "TOUPPER":
            variables[words[2]] = words[1].upper()
        case "TOLOWER":
            variables[words[2]] = words[1].lower()
        case "STRIP":
            variables[words[2]] = words[1].strip()
        case "LENGTH":
            variables[words[2]] = str(len(words[1].encode()))
        case "SUBSTRING":
            begin, length = int(words[2]), int(words[3])
            variables[words[4]] = words[1][begin:] if length < 0 else words[1][begin:][:length]
        case "FIND":
            variables[words[3]] = str(words[1].find(words[2]))
        case "REGEX":
            with cmake_regex.limited():
                _regex(variables, words[1:])


def _regex(variables: MutableMapping[str, str], words: Sequence[str]) -> None:
    """Runs string(REGEX …)."""
    try:
        pattern = re.compile(words[1])
    except re.error as error:
        raise ValueError(f"'{words[1]}' is no regular expression: {error}") from None
    match words[0]:
        case "MATCH":
            found = pattern.search("".join(words[3:]))
            variables[words[2]] = found[0] if found else ""
        case "MATCHALL":
            text = "".join(words[3:])
            variables[words[2]] = ";".join(found[0] for found in pattern.finditer(text))
        case "REPLACE":
            variables[words[3]] = pattern.sub(_replacement(words[2]), "".join(words[4:]))


def _replacement(text: str) -> str:
    r"""CMake's replacement text in Python's form: \1 is a group, other backslashes are literal."""
    return re.sub(r"\\(?![0-9])", r"\\\\", text).replace(r"\0", r"\g<0>")


def filename_component(path: str, part: str, folder: str) -> str:
    """A part of a file name, as get_filename_component() names it.

    Args:
        path: the file name.
        part: DIRECTORY, NAME, EXT, NAME_WE, ABSOLUTE …
        folder: what relative names start from.

    Raises:
        ValueError: the part is not known.
    """
    name = posixpath.basename(path)
    match part:
        case "DIRECTORY" | "PATH":
            return posixpath.dirname(path)
        case "NAME":
            return name
        case "EXT":
            return name[name.index(".") :] if "." in name else ""
        case "NAME_WE":
            return name.partition(".")[0]
        case "LAST_EXT":
            return posixpath.splitext(name)[1]
        case "NAME_WLE":
            return posixpath.splitext(name)[0]
        case "ABSOLUTE" | "REALPATH":
            return posixpath.normpath(posixpath.join(folder, path))
        case _:
            return ""


def integer(expression: str) -> int:
    """The value of a math() expression.

    Raises:
        ValueError: it is none.
    """
    try:
        return _fold(ast.parse(expression.strip(), mode="eval").body)
    except (SyntaxError, ArithmeticError, KeyError, RecursionError, MemoryError) as error:
        raise ValueError(f"'{expression[:40]}' is no expression: {error}") from None


def _divide(left: int, right: int) -> int:
    """The quotient towards zero, as in C."""
    quotient = abs(left) // abs(right)
    return quotient if (left < 0) == (right < 0) else -quotient


def _shift(places: int) -> int:
    if not 0 <= places < _BITS:
        raise ValueError(f"{places} places cannot be shifted")
    return places


def _wrapped(number: int) -> int:
    """A number in the 64 bits that CMake has for it."""
    return (number + (1 << (_BITS - 1))) % (1 << _BITS) - (1 << (_BITS - 1))


def _fold(node: Any) -> int:
    if isinstance(node, ast.Constant) and isinstance(node.value, int):
        return _wrapped(node.value)
    if isinstance(node, ast.BinOp):
        return _wrapped(_OPERATORS[type(node.op)](_fold(node.left), _fold(node.right)))
    if isinstance(node, ast.UnaryOp):
        return _wrapped(_OPERATORS[type(node.op)](_fold(node.operand)))
    raise ValueError("only integers and operators")
