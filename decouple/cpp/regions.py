"""The lines that belong to a device: which branches of which conditionals need its macros."""

from __future__ import annotations

import dataclasses
import enum
import re
from collections.abc import Sequence

from decouple.cpp import conditions, directives
from decouple.cpp.conditions import Condition, Macros
from decouple.cpp.directives import Branch, Conditional, Directive
from decouple.errors import DecoupleError
from decouple.gaps import STRICT, Gap, Gaps
from decouple.text_edits import Edit, apply_edits

__all__ = [
    "Macros",
    "Region",
    "RegionBranch",
    "Side",
    "device_edits",
    "device_regions",
    "strip_device",
]

_NEGATED = frozenset({"ifndef", "elifndef"})


class Side(enum.StrEnum):
    """Whose code a branch is."""

    DEVICE = "device"
    """Gone without the device."""
    CPU = "cpu"
    """There only without the device."""
    BOTH = "both"
    """Other macros decide as well: there with and without the device."""


@dataclasses.dataclass(frozen=True, slots=True)
class RegionBranch:
    """A branch of a region: its directive's lines, the lines between, and whose they are."""

    side: Side
    condition: str
    """The text behind #if, #ifdef …; empty for #else."""
    keyword: str
    directive_first_line: int
    directive_last_line: int
    first_line: int
    """First line of the branch itself, behind the directive."""
    last_line: int
    """Less than `first_line` where the branch is empty."""


@dataclasses.dataclass(frozen=True, slots=True)
class Region:
    """A conditional that depends on the device's macros."""

    first_line: int
    """First line of the #if."""
    last_line: int
    """Last line of the #endif."""
    branches: tuple[RegionBranch, ...]
    enclosed: bool
    """Whether it is inside device code of another region, so that it goes with that one."""

    @property
    def device_branches(self) -> tuple[RegionBranch, ...]:
        """The branches that are gone without the device."""
        return tuple(branch for branch in self.branches if branch.side is Side.DEVICE)

    @property
    def cpu_branches(self) -> tuple[RegionBranch, ...]:
        """The branches that exist only without the device."""
        return tuple(branch for branch in self.branches if branch.side is Side.CPU)


@dataclasses.dataclass(frozen=True, slots=True)
class _Resolved:
    """What is known about one branch."""

    branch: Branch
    left: str | bool
    """Its condition without the device: a constant, or what is left; True for #else."""
    side: Side


def device_regions(text: str, macros: Macros, path: str, gaps: Gaps = STRICT) -> list[Region]:
    """The conditionals of a file that depend on a device's macros, in order, nested ones included.

    A macro that the file itself defines does not count: it says nothing about the build.

    Args:
        text: a C or C++ source.
        macros: the device's macros.
        path: the file, for messages.
        gaps: takes a condition that cannot be read, which is left alone, and conditionals that are not balanced: then
            nobody knows which lines belong to which, and the file has no regions.
    """
    found = directives.directives(text)
    resolver = _Resolver(_effective(macros, found), path, gaps)
    regions: list[Region] = []
    resolver.collect(_nested(found, path, gaps), False, regions)
    return sorted(regions, key=lambda region: region.first_line)


def strip_device(text: str, macros: Macros, path: str, gaps: Gaps = STRICT) -> str:
    """The file without its device code: what a preprocessor leaves with the macros undefined.

    Only conditionals that depend on the macros are resolved. One that depends on other macros too keeps what
    is left of its conditions. All other bytes stay.

    Args:
        text: a C or C++ source.
        macros: the device's macros.
        path: the file, for messages.
        gaps: as for `device_regions`.
    """
    return apply_edits(text, device_edits(text, macros, path, gaps))


def device_edits(text: str, macros: Macros, path: str, gaps: Gaps = STRICT) -> list[Edit]:
    """The edits with which `strip_device` takes the device's code out, in order."""
    found = directives.directives(text)
    resolver = _Resolver(_effective(macros, found), path, gaps)
    edits: list[Edit] = []
    resolver.edit(_nested(found, path, gaps), edits)
    return sorted(edits)


def _nested(found: Sequence[Directive], path: str, gaps: Gaps) -> tuple[Conditional, ...]:
    try:
        return directives.nest(found, path)
    except DecoupleError as error:
        gaps.add(Gap.of(error, "the conditionals of the file", (path,)))
        return ()


def _effective(macros: Macros, found: Sequence[Directive]) -> Macros:
    """The macros that the file does not define itself."""
    own = set()
    for directive in found:
        if directive.keyword == "define":
            match = re.match(r"\w+", directive.expression)
            if match:
                own.add(match[0])
    return Macros(macros.names - own, macros.calls - own)


class _Resolver:
    """Decides branches by the device's macros."""

    def __init__(self, macros: Macros, path: str, gaps: Gaps) -> None:
        self._macros = macros
        self._path = path
        self._gaps = gaps
        names = sorted(macros.names | macros.calls)
        self._mention = re.compile(r"\b(?:" + "|".join(map(re.escape, names)) + r")\b")
        self._any = bool(names)

    def collect(self, found: Sequence[Conditional], enclosed: bool, regions: list[Region]) -> None:
        """Adds the regions among `found` and below."""
        for conditional in found:
            resolved = self._resolve(conditional)
            if resolved is not None:
                regions.append(
                    Region(
                        conditional.first_line,
                        conditional.last_line,
                        tuple(_region_branch(entry) for entry in resolved),
                        enclosed,
                    )
                )
            for number, branch in enumerate(conditional.branches):
                inside = resolved is not None and resolved[number].side is Side.DEVICE
                self.collect(branch.conditionals, enclosed or inside, regions)

    def edit(self, found: Sequence[Conditional], edits: list[Edit]) -> None:
        """Adds what has to go from `found` and below, without overlaps."""
        for conditional in found:
            resolved = self._resolve(conditional)
            if resolved is None:
                for branch in conditional.branches:
                    self.edit(branch.conditionals, edits)
            else:
                self._edit_one(conditional, resolved, edits)

    def _edit_one(
        self, conditional: Conditional, resolved: Sequence[_Resolved], edits: list[Edit]
    ) -> None:
        opened = False
        closed = False
        for number, entry in enumerate(resolved):
            directive = entry.branch.directive
            following = [later.branch.directive for later in resolved[number + 1 :]]
            next_start = (following[0] if following else conditional.end).start
            if closed or entry.left is False:
                edits.append(Edit(directive.start, next_start))
                continue
            if entry.left is True:
                # Nothing behind it can be reached. Without anything before it, no conditional is left.
                if not opened:
                    edits.append(Edit(directive.start, directive.end))
                elif directive.keyword != "else":
                    edits.append(Edit(directive.keyword_start, directive.expression_end, "else"))
                closed = True
            else:
                edits += self._rewrite(directive, str(entry.left), opened)
                opened = True
            self.edit(entry.branch.conditionals, edits)
        if not opened:
            edits.append(Edit(conditional.end.start, conditional.end.end))

    def _rewrite(self, directive: Directive, left: str, opened: bool) -> list[Edit]:
        """A directive that stays: #elif becomes #if where it is the first one now."""
        keyword = directive.keyword
        if not opened and keyword.startswith("el"):
            keyword = keyword.removeprefix("el")
            keyword = keyword if keyword.startswith("if") else f"if{keyword}"
        edits = []
        if keyword != directive.keyword:
            start = directive.keyword_start
            edits.append(Edit(start, start + len(directive.keyword), keyword))
        if left != directive.expression:
            edits.append(Edit(directive.expression_start, directive.expression_end, left))
        return edits

    def _resolve(self, conditional: Conditional) -> list[_Resolved] | None:
        """What is known about each branch; None where the conditional is not about the device."""
        if not self._any or not any(
            self._mention.search(branch.directive.expression) for branch in conditional.branches
        ):
            return None
        resolved = []
        depends = False
        before_without: bool | None = False
        before_with: bool | None = False
        for branch in conditional.branches:
            left, without, present, mentions = self._decide(branch.directive)
            depends = depends or mentions
            reached = _reached(before_without, without)
            side = Side.BOTH
            if reached is False:
                side = Side.DEVICE
            elif _reached(before_with, present) is False:
                side = Side.CPU
            resolved.append(_Resolved(branch, left, side))
            before_without = _either(before_without, without)
            before_with = _either(before_with, present)
        return resolved if depends else None

    def _decide(self, directive: Directive) -> tuple[str | bool, bool | None, bool | None, bool]:
        """What is left of a condition, its truth without and with the device, whether it asks for it."""
        keyword, expression = directive.keyword, directive.expression
        if keyword == "else":
            return True, True, True, False
        if not self._mention.search(expression):
            return expression, None, None, False
        if keyword in ("if", "elif"):
            try:
                condition: Condition = conditions.parse(
                    expression, path=self._path, line=directive.first_line
                )
            except DecoupleError as error:
                self._gaps.add(Gap.of(error, "the condition, which stays", (self._path,)))
                return expression, None, None, False
            if not condition.depends_on(self._macros):
                return expression, None, None, False
            return (
                condition.simplified(self._macros),
                condition.without(self._macros),
                condition.with_all(self._macros),
                True,
            )
        match = re.match(r"\w+", expression)
        if match is None or match[0] not in self._macros.names:
            return expression, None, None, False
        negated = keyword in _NEGATED
        return negated, negated, not negated, True


def _region_branch(entry: _Resolved) -> RegionBranch:
    directive = entry.branch.directive
    return RegionBranch(
        side=entry.side,
        condition=directive.expression,
        keyword=directive.keyword,
        directive_first_line=directive.first_line,
        directive_last_line=directive.last_line,
        first_line=entry.branch.first_line,
        last_line=entry.branch.last_line,
    )


def _reached(before: bool | None, condition: bool | None) -> bool | None:
    """Whether a branch is taken, from whether one before it is and whether its condition holds."""
    if before is True or condition is False:
        return False
    return None if before is None or condition is None else True


def _either(first: bool | None, second: bool | None) -> bool | None:
    """Logical or with unknown."""
    if first is True or second is True:
        return True
    return None if first is None or second is None else False
