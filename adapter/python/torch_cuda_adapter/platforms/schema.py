"""The form of a platform's file: which keys there are, and what they hold.

`PLATFORM` is the form. adapter/README.md tells what the keys mean.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

FORMAT = 1
"""The number in `format` of the files that this version reads."""

Check = Callable[[Any, str], None]
"""Raises `Wrong` where a value has not the form; the text is the key, for people."""


class Wrong(Exception):
    """What was found and what is needed, in one sentence."""


def text(value: Any, key: str) -> None:
    """A string that is not empty."""
    if not isinstance(value, str) or not value:
        raise Wrong(f"{key}: found {value!r}; needed a string that is not empty")


def identifier(value: Any, key: str) -> None:
    """A name of C++."""
    if not isinstance(value, str) or not re.fullmatch(r"[A-Za-z_]\w*", value):
        raise Wrong(f"{key}: found {value!r}; needed a C++ identifier")


def qualified(value: Any, key: str) -> None:
    """A name of C++, with namespaces or without."""
    if not isinstance(value, str) or not re.fullmatch(r"[A-Za-z_]\w*(?:::[A-Za-z_]\w*)*", value):
        raise Wrong(f"{key}: found {value!r}; needed a C++ name such as 'at::musa'")


def dotted(value: Any, key: str) -> None:
    """A name of Python, with the modules that it is in or without."""
    if not isinstance(value, str) or not re.fullmatch(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*", value):
        raise Wrong(f"{key}: found {value!r}; needed a Python name such as 'memory.empty_cache'")


def pattern(value: Any, key: str) -> None:
    """A regular expression."""
    text(value, key)
    try:
        re.compile(value)
    except re.error as error:
        raise Wrong(f"{key}: found {value!r}, no regular expression: {error}") from None


def number(value: Any, key: str) -> None:
    """A whole number, not negative."""
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise Wrong(f"{key}: found {value!r}; needed a whole number that is not negative")


def suffix(value: Any, key: str) -> None:
    """The end of a file's name."""
    if not isinstance(value, str) or not re.fullmatch(r"\.[\w.+]+", value):
        raise Wrong(f"{key}: found {value!r}; needed the end of a file's name such as '.cu'")


def words(value: Any, key: str) -> None:
    """Names with blanks and line ends between them."""
    text(value, key)
    for word in value.split():
        identifier(word, key)
    repeated = sorted({word for word in value.split() if value.split().count(word) > 1})
    if repeated:
        raise Wrong(f"{key}: found {repeated[0]} twice; needed each name once")


def true(value: Any, key: str) -> None:
    """Only `true`: the key is left out otherwise."""
    if value is not True:
        raise Wrong(f"{key}: found {value!r}; needed true, or no such key")


def there_or_reason(value: Any, key: str) -> None:
    """`true`, or the reason why it is not."""
    if value is not True and (not isinstance(value, str) or not value):
        raise Wrong(f"{key}: found {value!r}; needed true, or the reason why not")


def this_format(value: Any, key: str) -> None:
    """The number of a format that is known here."""
    if value != FORMAT:
        raise Wrong(f"{key}: found {value!r}; this version of torch_cuda_adapter reads {FORMAT}")


def one_of(*values: str) -> Check:
    """One of some words."""

    def checked(value: Any, key: str) -> None:
        if value not in values:
            raise Wrong(f"{key}: found {value!r}; needed one of {', '.join(values)}")

    return checked


def list_of(check: Check) -> Check:
    """A list whose entries have a form."""

    def checked(value: Any, key: str) -> None:
        if not isinstance(value, list):
            raise Wrong(f"{key}: found {value!r}; needed a list")
        for index, entry in enumerate(value):
            check(entry, f"{key}[{index}]")

    return checked


def pair(value: Any, key: str) -> None:
    """Two strings: what is replaced, and by what."""
    if not isinstance(value, list) or len(value) != 2:
        raise Wrong(f"{key}: found {value!r}; needed a list of two strings")
    list_of(text)(value, key)


def rewriting(value: Any, key: str) -> None:
    """A regular expression, and what comes in the place of what it matches."""
    pair(value, key)
    pattern(value[0], f"{key}[0]")


def map_of(key_check: Check, check: Check) -> Check:
    """A table whose keys are free, but of a form."""

    def checked(value: Any, key: str) -> None:
        if not isinstance(value, dict):
            raise Wrong(f"{key}: found {value!r}; needed a table")
        for name, entry in value.items():
            key_check(name, f"a key of {key}")
            check(entry, f"{key}.{name}")

    return checked


def table(keys: Mapping[str, Check], required: tuple[str, ...] = ()) -> Check:
    """A table whose keys are given.

    Args:
        keys: each key with the form of its value.
        required: those that have to be there.
    """

    def checked(value: Any, key: str) -> None:
        if not isinstance(value, dict):
            raise Wrong(f"{key}: found {value!r}; needed a table")
        for name, entry in value.items():
            if name not in keys:
                raise Wrong(f"{key}: found {name!r}; needed one of {', '.join(keys)}")
            keys[name](entry, f"{key}.{name}")
        for name in required:
            if name not in value:
                raise Wrong(f"{key}: found no {name!r}, which is needed")

    return checked


def _target(value: Any, key: str) -> None:
    """What comes in the place of a qualified name, or why nothing does."""
    if isinstance(value, dict):
        table({"unsupported": text}, ("unsupported",))(value, key)
    else:
        qualified(value, key)


def _arity(value: Any, key: str) -> None:
    if not isinstance(value, str) or not value.isdigit():
        raise Wrong(f"{key}: found {value!r}; needed a number of arguments")


def _templates(*others: str) -> Check:
    """Templates by the number of arguments: `{ 2 = "aclrtMalloc({0}, {1}, POLICY)" }`.

    Args:
        *others: what may stand in braces beside the numbers of the arguments.
    """

    def checked(value: Any, key: str) -> None:
        map_of(_arity, text)(value, key)
        for arity, template in value.items():
            places = [*map(str, range(int(arity))), *others]
            for place in re.findall(r"\{([^{}]*)\}", template):
                if place not in places:
                    needed = ", ".join(f"{{{name}}}" for name in places) or "none"
                    raise Wrong(f"{key}.{arity}: found {{{place}}}; needed {needed}")

    return checked


def _modules(value: Any, key: str) -> None:
    """Modules that stand for others."""
    map_of(dotted, table({"module": dotted, "replaces": true, "part": true}, ("module",)))(
        value, key
    )
    for name, entry in value.items():
        for other in value:
            if f"{entry['module']}.".startswith(f"{other}."):
                raise Wrong(
                    f"{key}.{name}: found {entry['module']!r}, for which another module stands; needed that one"
                )


def _operator(value: Any, key: str) -> None:
    """An operator's name as the dispatcher has it."""
    if not isinstance(value, str) or not re.fullmatch(r"\w+::\w+(\.\w+)?", value):
        raise Wrong(
            f"{key}: found {value!r}; needed an operator such as aten::log_ or aten::add_.Tensor"
        )


def _release(value: Any, key: str) -> None:
    """A version."""
    if not isinstance(value, str) or not re.fullmatch(r"\d+(\.\d+)*(\.post\d+)?", value):
        raise Wrong(f"{key}: found {value!r}; needed a version such as 2.11.0.post2")


OPERATOR = table(
    {"mend": one_of("finite-by-comparison", "out-of-place"), "below": _release}, ("mend",)
)
"""The form of `operators.NAME`: an operator that releases of the backend need mended."""


def _operators(value: Any, key: str) -> None:
    """Operators that are mended."""
    map_of(_operator, OPERATOR)(value, key)
    for name, entry in value.items():
        if entry["mend"] == "out-of-place" and not name.partition(".")[0].endswith("_"):
            raise Wrong(
                f"{key}.{name}: found no operator that changes its argument, as aten::log_ does"
            )


FUNCTIONS = table(
    {
        "optional_keywords": map_of(identifier, list_of(identifier)),
        "composed": map_of(identifier, one_of("flash_attention_forward")),
    }
)
"""The form of `functions.MODULE`: what CUDA programs expect of a module beyond what it has."""

FAMILY = table(
    {
        "replace": list_of(pair),
        "names": words,
        "renamed": map_of(identifier, qualified),
        "calls": map_of(identifier, _templates()),
        "unsupported": map_of(identifier, text),
        "kept": true,
        "missing": text,
    }
)
"""The form of `sources.families.NAME`: the rules for one of CUDA's libraries."""

SOURCES = table(
    {
        "suffixes": map_of(suffix, suffix),
        "headers": map_of(text, text),
        "header_patterns": list_of(rewriting),
        "unsupported_headers": map_of(text, text),
        "qualified": map_of(qualified, _target),
        "members": map_of(identifier, identifier),
        "launches": _templates("kernel", "arguments"),
        "architecture": table(
            {"macro": identifier, "target": identifier, "values": map_of(_arity, number)},
            ("macro", "target", "values"),
        ),
        "flags": table(
            {
                "exact": map_of(text, list_of(text)),
                "patterns": list_of(rewriting),
                "unsupported": map_of(text, text),
                "architecture": text,
            }
        ),
        "families": map_of(text, FAMILY),
    },
    ("families",),
)
"""The form of `sources`: the rules for C++ and CUDA."""

PLATFORM = table(
    {
        "format": this_format,
        "name": text,
        "summary": text,
        "device": table(
            {
                "type": identifier,
                "dispatch_key": identifier,
                "module": text,
                "namespace": text,
                "packages": list_of(text),
            },
            ("type", "dispatch_key", "module", "namespace"),
        ),
        "cuda": table(
            {
                "names": map_of(dotted, dotted),
                "keywords": map_of(dotted, map_of(identifier, identifier)),
                "attributes": map_of(identifier, map_of(identifier, identifier)),
                "bindings": map_of(identifier, dotted),
                "unavailable": map_of(dotted, text),
            }
        ),
        "toolkit": table(
            {
                "home_variables": list_of(text),
                "home": text,
                "compiler": text,
                "include_paths": list_of(text),
                "library_paths": list_of(text),
                "compile_flags": list_of(text),
            },
            ("home_variables", "home"),
        ),
        "collectives": table({"backend": text}, ("backend",)),
        "profiler": table({"activity": text}, ("activity",)),
        "environment": map_of(text, text),
        "defaults": map_of(text, text),
        "modules": _modules,
        "functions": map_of(dotted, FUNCTIONS),
        "operators": _operators,
        "libraries": map_of(text, list_of(text)),
        "capabilities": map_of(identifier, there_or_reason),
        "sources": SOURCES,
    },
    ("format", "name", "summary", "device", "sources"),
)
"""The form of a whole file."""
