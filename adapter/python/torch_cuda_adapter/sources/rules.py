"""A platform's rules for sources, made ready to be asked: what becomes of a name or a header.

`Rules` also holds that the rules fit each other: a name belongs to the family it is listed in, and
what comes out is not translated again.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from torch_cuda_adapter.errors import AdapterError
from torch_cuda_adapter.platforms import Platform
from torch_cuda_adapter.sources import families


@dataclasses.dataclass(frozen=True, slots=True)
class Renamed:
    """Another name comes in its place.

    Attributes:
        target: the name.
        family: of the name that was there.
        assumed: whether only the look of the family's names says so, and no rule names it.
    """

    target: str
    family: str
    assumed: bool = False


@dataclasses.dataclass(frozen=True, slots=True)
class Called:
    """A call of it becomes another call: templates by the number of arguments, "f({1}, {0})"."""

    templates: Mapping[int, str]
    family: str


@dataclasses.dataclass(frozen=True, slots=True)
class Unsupported:
    """The platform has nothing in its place; the reason is for people."""

    reason: str
    family: str


@dataclasses.dataclass(frozen=True, slots=True)
class Unknown:
    """It looks like CUDA's, and no rule knows it."""

    family: str


Answer: TypeAlias = Renamed | Called | Unsupported | Unknown | None
"""What becomes of a name; None: it stays, as it is not CUDA's or the platform has it too."""


@dataclasses.dataclass(frozen=True, slots=True)
class Architecture:
    """How guards such as `__CUDA_ARCH__ >= 800` are translated.

    Attributes:
        macro: CUDA's.
        target: the platform's.
        values: CUDA's numbers, rising, each with the platform's that stands for it.
    """

    macro: str
    target: str
    values: tuple[tuple[int, int], ...]

    def value(self, number: int) -> int | None:
        """The platform's number for one of CUDA's: that of the next one that is known; None beyond."""
        return next((target for known, target in self.values if known >= number), None)


class Rules:
    """What a platform makes of C++ and CUDA sources."""

    def __init__(self, platform: Platform) -> None:
        """Makes the rules of a platform ready.

        Args:
            platform: the platform.

        Raises:
            AdapterError: a rule does not fit the others; the message names it.
        """
        self.platform = platform
        self.dispatch_key: str = platform.table("device")["dispatch_key"]
        tables = platform.table("sources")
        self._families: Mapping[str, Mapping[str, Any]] = tables["families"]
        self.suffixes: Mapping[str, str] = tables.get("suffixes", {})
        self.members: Mapping[str, str] = tables.get("members", {})
        self.flags: Mapping[str, Any] = tables.get("flags", {})
        self.launches = {int(n): text for n, text in tables.get("launches", {}).items()}
        self.architecture = _architecture(tables.get("architecture"))
        self._headers: Mapping[str, str] = tables.get("headers", {})
        self._unsupported_headers: Mapping[str, str] = tables.get("unsupported_headers", {})
        self._header_patterns = [
            (re.compile(pattern), target) for pattern, target in tables.get("header_patterns", ())
        ]
        self._names = dict(self._listed())
        self._qualified = {
            tuple(name.split("::")): self._target(name, target)
            for name, target in tables.get("qualified", {}).items()
        }
        self._answers: dict[str, Answer] = {}
        self._check()

    def identifier(self, name: str) -> Answer:
        """What becomes of an identifier."""
        if name not in self._answers:
            self._answers[name] = self._identifier(name)
        return self._answers[name]

    def qualified(self, parts: Sequence[str]) -> tuple[int, Answer]:
        """What becomes of a qualified name.

        Args:
            parts: its names, such as "at", "cuda" and "CUDAEvent".

        Returns:
            How many of the names, from the first, the answer is about, and the answer; the others are
            identifiers as all. None for no name at all.
        """
        for count in range(len(parts), 0, -1):
            answer = self._qualified.get(tuple(parts[:count]))
            if answer is not None:
                return count, answer
        family = families.of_qualified(parts)
        return (1, self._unlisted(family)) if family is not None else (0, None)

    def header(self, name: str) -> Answer:
        """What becomes of a header, given without its brackets or quotes."""
        family = families.of_header(name) or "headers"
        if name in self._headers:
            return Renamed(self._headers[name], family) if self._headers[name] != name else None
        if name in self._unsupported_headers:
            return Unsupported(self._unsupported_headers[name], family)
        for pattern, target in self._header_patterns:
            match = pattern.fullmatch(name)
            if match is not None:
                return Renamed(match.expand(target), family)
        return self._unlisted(family) if family != "headers" else None

    def names(self) -> Iterator[tuple[str, str]]:
        """Each name that a rule translates, with its family: CUDA's names, qualified ones, headers."""
        for name, answer in self._names.items():
            if isinstance(answer, Renamed | Called):
                yield name, answer.family
        for parts, answer in self._qualified.items():
            if isinstance(answer, Renamed):
                yield "::".join(parts), "qualified"
        for name in self._headers:
            yield name, "headers"
        for name in self.members:
            yield name, "members"

    def unsupported(self) -> Iterator[tuple[str, str, str]]:
        """Each name or family without a counterpart: the name, its family and the reason."""
        for name, answer in self._names.items():
            if isinstance(answer, Unsupported):
                yield name, answer.family, answer.reason
        for family, table in self._families.items():
            if "missing" in table:
                yield "*", family, table["missing"]

    def _listed(self) -> Iterator[tuple[str, Answer]]:
        """All names that the tables of the families name."""
        for family, table in self._families.items():
            for name in table.get("names", "").split():
                yield name, Renamed(self._replaced(name, family), family)
            for name, target in table.get("renamed", {}).items():
                yield name, Renamed(target, family) if target != name else None
            for name, templates in table.get("calls", {}).items():
                yield name, Called({int(n): text for n, text in templates.items()}, family)
            for name, reason in table.get("unsupported", {}).items():
                yield name, Unsupported(reason, family)

    def _replaced(self, name: str, family: str) -> str:
        """A name with what the family replaces; itself where nothing of it is there."""
        for old, new in self._families.get(family, {}).get("replace", ()):
            if old in name:
                return name.replace(old, new, 1)
        return name

    def _identifier(self, name: str) -> Answer:
        if name in self._names:
            return self._names[name]
        family = families.of_name(name)
        if family is None:
            return None
        target = self._replaced(name, family)
        if target == name:
            return self._unlisted(family)
        # What comes out may hold another name of CUDA's: then that is replaced as well.
        again = self.identifier(target)
        if isinstance(again, Renamed):
            target = again.target
        return Renamed(target, family, assumed=True)

    def _unlisted(self, family: str) -> Answer:
        """The answer for what no rule names, by its family."""
        table = self._families.get(family, {})
        if "kept" in table:
            return None
        return Unsupported(table["missing"], family) if "missing" in table else Unknown(family)

    def _target(self, name: str, target: str | Mapping[str, str]) -> Answer:
        family = families.of_qualified([*name.split("::"), ""]) or "torch"
        if isinstance(target, str):
            return Renamed(target, family)
        return Unsupported(target["unsupported"], family)

    def _check(self) -> None:
        """Holds the rules against each other."""
        known = [family.name for family in families.families()]
        replaced = [old for t in self._families.values() for old, _ in t.get("replace", ())]
        for family, table in self._families.items():
            if family not in known:
                raise self._wrong(f"families.{family}", f"needed one of {', '.join(known)}")
            for _, new in table.get("replace", ()):
                if any(old in new for old in replaced):
                    raise self._wrong(f"families.{family}", f"{new} would be replaced again")
            named = [
                *table.get("names", "").split(),
                *(n for key in ("renamed", "calls", "unsupported") for n in table.get(key, ())),
            ]
            for name in named:
                if families.of_name(name) != family:
                    theirs = families.of_name(name) or "none"
                    raise self._wrong(f"families.{family}: {name}", f"its family is {theirs}")
                if named.count(name) > 1:
                    raise self._wrong(f"families.{family}: {name}", "it is listed twice")
            for name in table.get("names", "").split():
                if self._replaced(name, family) == name:
                    raise self._wrong(f"families.{family}: {name}", "nothing of it is replaced")
        for where, target in self._targets():
            for word in re.findall(r"[A-Za-z_]\w*", target):
                if not isinstance(self.identifier(word), None | Unsupported):
                    raise self._wrong(where, f"its result, {word}, would be translated again")
        for count, template in self.launches.items():
            for name in ("{kernel}", "{arguments}"):
                if template.count(name) != 1:
                    raise self._wrong(f"launches.{count}", f"needed {name} once")
        for header, target in self._headers.items():
            if target != header and isinstance(self.header(target), Renamed):
                raise self._wrong(f"headers.{header}", f"{target} would be translated again")

    def _targets(self) -> Iterator[tuple[str, str]]:
        """What comes out of rules about names, with the rule for people."""
        for name, answer in self._names.items():
            if isinstance(answer, Renamed):
                yield f"families.{answer.family}: {name}", answer.target
            elif isinstance(answer, Called):
                for template in answer.templates.values():
                    text = re.sub(r"\{\d+\}", "", template)
                    yield f"families.{answer.family}.calls.{name}", text
        for parts, answer in self._qualified.items():
            if isinstance(answer, Renamed):
                yield f"qualified.{'::'.join(parts)}", answer.target
        for name, target in self.members.items():
            yield f"members.{name}", target
        if self.architecture is not None:
            yield "architecture.target", self.architecture.target

    def _wrong(self, where: str, what: str) -> AdapterError:
        return AdapterError(f"{self.platform.path}: sources.{where}: {what}")


def _architecture(table: Mapping[str, Any] | None) -> Architecture | None:
    if table is None:
        return None
    values = sorted((int(known), target) for known, target in table["values"].items())
    return Architecture(table["macro"], table["target"], tuple(values))
