"""Compares two inventories, for a version bump."""

from __future__ import annotations

import collections
import dataclasses
import posixpath
from collections.abc import Iterable, Mapping

from decouple.model import Finding, Inventory, Kind
from decouple.plan.owners import NOBODY, Owners


@dataclasses.dataclass(frozen=True, slots=True)
class Change:
    """Files that came, went, or are somewhere else now."""

    added: tuple[str, ...]
    dropped: tuple[str, ...]
    moved: tuple[tuple[str, str], ...]
    """Old path and new path of files that kept their name."""

    @property
    def empty(self) -> bool:
        """Whether nothing changed."""
        return not (self.added or self.dropped or self.moved)


@dataclasses.dataclass(frozen=True, slots=True)
class GuardChange:
    """How the guarded regions of a file changed."""

    path: str
    added: tuple[Finding, ...]
    dropped: tuple[Finding, ...]
    moved: tuple[tuple[int, int], ...]
    """Old line and new line of regions whose condition is the same."""


@dataclasses.dataclass(frozen=True, slots=True)
class Difference:
    """What differs between two trees."""

    old: Inventory
    new: Inventory
    units: Change
    files: Change
    """Whole files of the device that are no units: headers, Python, configuration."""
    supplements: Change
    guards: tuple[GuardChange, ...]
    markers: Mapping[str, tuple[int, int]]
    """For each rule about single lines: how many there were and are."""


def compare(old: Inventory, new: Inventory) -> Difference:
    """What `new` has that `old` has not, and the other way round.

    Args:
        old: the inventory of the version that is supported.
        new: that of the version to go to; of the same device.
    """
    old_units, new_units = ({unit.path for unit in side.units} for side in (old, new))
    guard = f"{new.device}-guard"
    return Difference(
        old,
        new,
        units=_change(old_units, new_units),
        files=_change(_whole(old) - old_units, _whole(new) - new_units),
        supplements=_change(_paths(old, Kind.SUPPLEMENT), _paths(new, Kind.SUPPLEMENT)),
        guards=tuple(_guards(_of_rule(old, guard), _of_rule(new, guard))),
        markers=_markers(old, new, guard),
    )


def checklist(difference: Difference, owners: Owners = NOBODY) -> str:
    """The difference as a list of things to do, in Markdown.

    Args:
        difference: of two trees.
        owners: whose packages compile the units.
    """
    old, new = difference.old, difference.new
    lists = {unit.path: unit.lists for unit in new.units}
    lines = [f"# From PyTorch {old.version} to {new.version}: {new.device}", ""]

    def section(title: str, entries: Iterable[str]) -> None:
        items = [f"- [ ] {entry}" for entry in entries]
        if items:
            lines.extend([f"## {title} ({len(items)})", "", *items, ""])

    def target(path: str) -> str:
        if not owners.given:
            return "the package that it belongs to (no owners given)"
        package = owners.package_of(path, lists.get(path, ()))
        return f"`//{package}`" if package else "no package yet"

    for side in (old, new):
        # What a tree lacks by this is no difference between the two.
        section(f"What could not be read of {side.version}", (f"{gap}" for gap in side.gaps))
    units = difference.units
    section("New units", (f"`{path}`: compile it in {target(path)}" for path in units.added))
    section(
        "Units that are gone", (f"`{path}`: nothing may name it any more" for path in units.dropped)
    )
    section(
        "Units that moved",
        (f"`{before}` is `{after}` now: {target(after)}" for before, after in units.moved),
    )
    section(
        "Guards",
        (entry for change in difference.guards for entry in _guard_entries(change)),
    )
    files = difference.files
    section("New files of the device", (f"`{path}`" for path in files.added))
    section("Files of the device that are gone", (f"`{path}`" for path in files.dropped))
    section("Files of the device that moved", (f"`{a}` is `{b}` now" for a, b in files.moved))
    supplements = difference.supplements
    section(
        "New supplements",
        (f"`{path}`: ship it or take it from torch" for path in supplements.added),
    )
    section("Supplements that are no longer needed", (f"`{path}`" for path in supplements.dropped))
    section("Supplements that moved", (f"`{a}` is `{b}` now" for a, b in supplements.moved))
    section(
        "Lines that name the device",
        (
            f"{rule}: {before} before, {after} now"
            for rule, (before, after) in sorted(difference.markers.items())
            if before != after
        ),
    )
    if len(lines) == 2:
        lines.append("Nothing to do: the two do not differ.")
    return "\n".join(lines).rstrip() + "\n"


def _guard_entries(change: GuardChange) -> list[str]:
    entries = [
        f"`{change.path}:{finding.first_line}`: new, `{finding.detail}`; "
        "supply it and add a row to docs/coverage/intra-file.md"
        for finding in change.added
    ]
    entries += [
        f"`{change.path}`: `{finding.detail}` of line {finding.first_line} is gone; take its row out"
        for finding in change.dropped
    ]
    if change.moved:
        lines = ", ".join(f"{before} to {after}" for before, after in change.moved)
        entries.append(f"`{change.path}`: lines moved ({lines}); change its rows")
    return entries


def _change(old: set[str], new: set[str]) -> Change:
    added, dropped = new - old, old - new
    came = _by_name(added)
    went = _by_name(dropped)
    moved = [
        (went[name][0], came[name][0])
        for name in came.keys() & went.keys()
        if len(came[name]) == len(went[name]) == 1
    ]
    return Change(
        tuple(sorted(added - {after for _, after in moved})),
        tuple(sorted(dropped - {before for before, _ in moved})),
        tuple(sorted(moved)),
    )


def _by_name(paths: Iterable[str]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for path in paths:
        found.setdefault(posixpath.basename(path), []).append(path)
    return found


def _guards(old: list[Finding], new: list[Finding]) -> list[GuardChange]:
    before, after = _by_path(old), _by_path(new)
    changes = []
    for path in sorted(before.keys() | after.keys()):
        change = _guard_change(path, before.get(path, []), after.get(path, []))
        if change.added or change.dropped or change.moved:
            changes.append(change)
    return changes


def _guard_change(path: str, old: list[Finding], new: list[Finding]) -> GuardChange:
    """Pairs regions with the same condition in the same function, in their order."""
    waiting: dict[tuple[str, str], collections.deque[Finding]] = {}
    for finding in old:
        waiting.setdefault((finding.detail, finding.symbol), collections.deque()).append(finding)
    added, moved = [], []
    for finding in new:
        queue = waiting.get((finding.detail, finding.symbol))
        if not queue:
            added.append(finding)
            continue
        partner = queue.popleft()
        if partner.first_line != finding.first_line:
            moved.append((partner.first_line, finding.first_line))
    dropped = sorted(finding for queue in waiting.values() for finding in queue)
    return GuardChange(path, tuple(added), tuple(dropped), tuple(moved))


def _by_path(findings: Iterable[Finding]) -> dict[str, list[Finding]]:
    found: dict[str, list[Finding]] = {}
    for finding in sorted(findings):
        found.setdefault(finding.path, []).append(finding)
    return found


def _of_rule(inventory: Inventory, rule: str) -> list[Finding]:
    return [finding for finding in inventory.findings if finding.rule == rule]


def _whole(inventory: Inventory) -> set[str]:
    return _paths(inventory, Kind.INTER_FILE)


def _paths(inventory: Inventory, kind: Kind) -> set[str]:
    return {finding.path for finding in inventory.findings if finding.kind is kind}


def _markers(old: Inventory, new: Inventory, guard: str) -> dict[str, tuple[int, int]]:
    counts = [
        collections.Counter(
            finding.rule
            for finding in side.findings
            if finding.kind is Kind.INTRA_FILE and finding.rule != guard
        )
        for side in (old, new)
    ]
    return {
        rule: (counts[0][rule], counts[1][rule]) for rule in counts[0].keys() | counts[1].keys()
    }
