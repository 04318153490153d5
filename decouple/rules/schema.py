"""Holds a file of rules against the form that rules have, before anything is made of it."""

from __future__ import annotations

import re
import string
from collections.abc import Callable

import yaml

from decouple.errors import DecoupleError

Check = Callable[[yaml.Node, str], None]
"""Raises `_Wrong` where a node has not the form; the text names the node for people."""


class _Wrong(Exception):
    """What is wrong, and the line of it, from 1."""

    def __init__(self, message: str, node: yaml.Node) -> None:
        super().__init__(message)
        self.line = node.start_mark.line + 1


def check(text: str, path: str) -> None:
    """Checks the form of a file of rules.

    Args:
        text: YAML that can be parsed.
        path: the file, for messages.

    Raises:
        DecoupleError: a key is unknown or missing, or a value is of the wrong kind; it names the line.
    """
    node = yaml.compose(text, Loader=yaml.SafeLoader)
    try:
        if not isinstance(node, yaml.MappingNode):
            raise DecoupleError("has to be a mapping like rules/cuda.yaml.", path=path, line=1)
        _FILE(node, "the file")
    except _Wrong as error:
        raise DecoupleError(f"{error}.", path=path, line=error.line) from None


def _scalar(node: yaml.Node, name: str) -> None:
    if not isinstance(node, yaml.ScalarNode):
        raise _Wrong(f"{name} has to be one value", node)


def _text(node: yaml.Node, name: str) -> None:
    if not isinstance(node, yaml.ScalarNode) or node.tag != "tag:yaml.org,2002:str":
        raise _Wrong(f"{name} has to be a text; put it in quotes", node)
    if not node.value:
        raise _Wrong(f"{name} is empty", node)


def _macro(node: yaml.Node, name: str) -> None:
    _text(node, name)
    if not re.fullmatch(r"[A-Za-z_]\w*", node.value):
        raise _Wrong(f"'{node.value}' in {name} is no name of a macro", node)


def _boolean(node: yaml.Node, name: str) -> None:
    if node.tag != "tag:yaml.org,2002:bool":
        raise _Wrong(f"{name} has to be true or false", node)


def _pattern(node: yaml.Node, name: str) -> None:
    _text(node, name)
    try:
        re.compile(node.value)
    except re.error as error:
        raise _Wrong(f"{name} is no regular expression: {error.msg}", node) from None


def _list(of: Check) -> Check:
    def checked(node: yaml.Node, name: str) -> None:
        if not isinstance(node, yaml.SequenceNode):
            raise _Wrong(f"{name} has to be a list", node)
        for entry in node.value:
            of(entry, f"an entry of {name}")

    return checked


def _values(node: yaml.Node, name: str) -> None:
    """A mapping of any names to single values."""
    if not isinstance(node, yaml.MappingNode):
        raise _Wrong(f"{name} has to be a mapping", node)
    for key, value in node.value:
        _scalar(value, f"{key.value} of {name}")


def _mapping(keys: dict[str, Check], needed: tuple[str, ...] = ()) -> Check:
    def checked(node: yaml.Node, name: str) -> None:
        if not isinstance(node, yaml.MappingNode):
            raise _Wrong(f"{name} has to be a mapping", node)
        for key, value in node.value:
            if key.value not in keys:
                known = ", ".join(sorted(keys))
                raise _Wrong(f"{name} has the unknown key '{key.value}'; known: {known}", key)
            keys[key.value](value, key.value)
        missing = [key for key in needed if key not in {entry.value for entry, _ in node.value}]
        if missing:
            raise _Wrong(f"{name} has no {missing[0]}", node)

    return checked


def _python(node: yaml.Node, name: str) -> None:
    forms = ("dotted", "import", "attribute", "string")
    _mapping({"id": _text, **dict.fromkeys(forms, _pattern)}, ("id",))(node, name)
    given = [key.value for key, _ in node.value if key.value in forms]
    if len(given) != 1:
        raise _Wrong(f"{name} needs one of {', '.join(forms)}", node)


def _generated(node: yaml.Node, name: str) -> None:
    _mapping({"header": _pattern, "from": _list(_text)}, ("header", "from"))(node, name)
    parts = {key.value: value for key, value in node.value}
    groups = re.compile(parts["header"].value).groupindex
    for source in parts["from"].value:
        try:
            used = [field for _, field, _, _ in string.Formatter().parse(source.value)]
        except ValueError as error:
            raise _Wrong(f"'{source.value}' cannot be filled in: {error}", source) from None
        for field in used:
            if field is not None and field not in groups:
                raise _Wrong(f"'{source.value}' asks for {field}, which no group is called", source)


_PATTERN_RULE = _mapping(
    {"id": _text, "pattern": _pattern, "otherwise": _boolean}, ("id", "pattern")
)
_FILE = _mapping(
    {
        "device": _text,
        "words": _list(_text),
        "macros": _mapping(dict.fromkeys(("build", "calls", "compiler", "foreign"), _list(_macro))),
        "files": _list(
            _mapping(
                {
                    "id": _text,
                    "suffixes": _list(_text),
                    "folders": _list(_text),
                    "names": _list(_pattern),
                },
                ("id",),
            )
        ),
        "foreign_files": _list(_pattern),
        "lists": _list(_pattern),
        "build": _mapping(
            {
                "files": _list(_text),
                "optional": _list(_text),
                "definitions": _values,
                "device": _values,
            }
        ),
        "cpp": _list(_PATTERN_RULE),
        "cmake": _list(_PATTERN_RULE),
        "python": _list(_python),
        "supplements": _list(_mapping({"path": _text, "reason": _text}, ("path", "reason"))),
        "generated": _list(_generated),
        "skip": _list(_text),
        "include_roots": _list(_text),
    }
)
