"""Decides for each finding whether its file moves, its lines are cut out, or it stays, and where it goes."""

from __future__ import annotations

import dataclasses
import enum
import json
from collections.abc import Mapping

from decouple.gaps import Gap
from decouple.model import Finding, Inventory, Kind
from decouple.plan.layout import Layout, rfc_layout
from decouple.plan.owners import NOBODY, Owners

_SOURCES = (".c", ".cc", ".cpp", ".cxx")


class Action(enum.StrEnum):
    """What happens to a finding."""

    MOVE = "move"
    """The whole file goes to the device's directories."""
    CUT = "cut"
    """The lines go to a file of their own there, and out of this one."""
    STAY = "stay"


@dataclasses.dataclass(frozen=True, slots=True, order=True)
class Placement:
    """A finding's place in both layouts."""

    path: str
    first_line: int
    """0: the whole file."""
    last_line: int
    rule: str
    action: Action
    package: str
    """The package that supplies it; empty where none has to, or owners were not given."""
    destination: str
    """The path in the RFC's layout; the same as `path` where it stays."""
    reason: str


@dataclasses.dataclass(frozen=True, slots=True)
class Plan:
    """Where everything goes."""

    placements: tuple[Placement, ...]
    moves: Mapping[str, str]
    """Whole files that move: old path to new path."""
    cuts: Mapping[str, str]
    """Files that lines are cut out of, and the files that take them."""
    owners: Owners = NOBODY
    gaps: tuple[Gap, ...] = ()
    """What could not be read."""

    def to_json(self) -> str:
        """The plan as JSON, sorted."""
        content = {
            "placements": [dataclasses.asdict(entry) for entry in self.placements],
            "gaps": [dataclasses.asdict(gap) for gap in self.gaps],
        }
        return json.dumps(content, indent=1, ensure_ascii=False) + "\n"


_MOVES = "the whole file is the device's"
_CUT = "code under the device's macros"
_BUILD = "upstream's build; who owns the code has one of their own"
_ELSEWHERE = "not in the folders that the RFC moves: upstream's build, tests or benchmarks"
_NOT_BUILT = "no build compiles it for the device"
_SHARED = "named after the device, and the CPU build needs it"
_COMPILER = "decided by the device's compiler, in a file that all devices share"
_AGNOSTIC = "names the device in code that every build has; the plugin answers at run time"
_SUPPLEMENT = "needed by the device's units, which read it where it is"


def make_plan(inventory: Inventory, owners: Owners = NOBODY) -> Plan:
    """Places all findings of an inventory.

    Args:
        inventory: what was found.
        owners: whose packages supply it.
    """
    layout = rfc_layout()
    lists = {unit.path: unit.lists for unit in inventory.units}
    guard = f"{inventory.device}-guard"
    placements = sorted(
        {_place(finding, layout, owners, lists, guard) for finding in inventory.findings}
    )
    return Plan(
        tuple(placements),
        {entry.path: entry.destination for entry in placements if entry.action is Action.MOVE},
        {entry.path: entry.destination for entry in placements if entry.action is Action.CUT},
        owners,
        inventory.gaps,
    )


def _place(
    finding: Finding,
    layout: Layout,
    owners: Owners,
    lists: Mapping[str, tuple[str, ...]],
    guard: str,
) -> Placement:
    path = finding.path
    named = lists.get(path, ())
    package = owners.package_of(path, named)
    action, destination, reason = Action.STAY, path, _AGNOSTIC
    if finding.kind is Kind.INTER_FILE:
        moved = layout.destination(path, named)
        if not moved or layout.stays(path):
            package, reason = "", _ELSEWHERE
        elif path.endswith(_SOURCES) and path not in lists and not finding.rule.endswith("-list"):
            package, reason = "", _NOT_BUILT
        else:
            action, destination, reason = Action.MOVE, moved, _MOVES
    elif finding.kind is Kind.SUPPLEMENT:
        reason = _SUPPLEMENT
    elif finding.rule == guard:
        cut = layout.cut_destination(path)
        if cut:
            action, destination, reason = Action.CUT, cut, _CUT
            package = owners.cut_package_of(path)
        else:
            package, reason = "", _ELSEWHERE
    else:
        package = ""
        if finding.rule.endswith("-shared-name"):
            reason = _SHARED
        elif finding.rule.endswith("-compiler-guard"):
            reason = _COMPILER
        elif path.endswith((".cmake", "CMakeLists.txt")):
            reason = _BUILD
    return Placement(
        path,
        finding.first_line,
        finding.last_line,
        finding.rule,
        action,
        package,
        destination,
        reason,
    )
