"""What a scan finds: findings, translation units and the inventory that holds them.

Paths are POSIX strings relative to the root of the scanned tree; lines count from 1, both ends included.
"""

from __future__ import annotations

import dataclasses
import enum
import json
from collections.abc import Mapping
from typing import Any

from decouple.gaps import Gap


class Kind(enum.StrEnum):
    """How the RFC ("Decoupling approaches") sorts device code."""

    INTER_FILE = "inter-file"
    """The whole file is device code."""
    INTRA_FILE = "intra-file"
    """Lines of device code in a file of all devices."""
    SUPPLEMENT = "supplement"
    """No device code, but device units need it: headers, configuration, YAML, templates, stubs."""


@dataclasses.dataclass(frozen=True, slots=True, order=True)
class Finding:
    """One piece of device code, and the rule that found it."""

    path: str
    first_line: int
    """0 where the finding is the whole file."""
    last_line: int
    rule: str
    kind: Kind
    detail: str
    """What matched: the condition, the macro, the name of the list."""
    symbol: str = ""
    """The enclosing function or class, where it is known."""

    @property
    def whole_file(self) -> bool:
        """Whether the finding is a file and not lines of it."""
        return self.first_line == 0


@dataclasses.dataclass(frozen=True, slots=True, order=True)
class Unit:
    """A translation unit that upstream's own build compiles for the device."""

    path: str
    lists: tuple[str, ...]
    """Names of upstream's lists that name it."""


@dataclasses.dataclass(frozen=True, slots=True)
class Inventory:
    """All that a scan found in a tree."""

    version: str
    device: str
    root_name: str
    files: int
    """Files that were looked at."""
    findings: tuple[Finding, ...]
    units: tuple[Unit, ...]
    includes: Mapping[str, tuple[str, ...]]
    """File to the files of the tree that it includes, for device files and what they reach."""
    sizes: Mapping[str, int]
    """Lines of each file with a finding."""
    gaps: tuple[Gap, ...] = ()
    """What could not be read."""

    def to_json(self) -> str:
        """The inventory as JSON: sorted, so that equal inventories are equal bytes."""
        content = {
            "version": self.version,
            "device": self.device,
            "root_name": self.root_name,
            "files": self.files,
            "findings": [dataclasses.asdict(finding) for finding in sorted(self.findings)],
            "units": [dataclasses.asdict(unit) for unit in sorted(self.units)],
            "includes": {path: list(self.includes[path]) for path in sorted(self.includes)},
            "sizes": dict(sorted(self.sizes.items())),
            "gaps": [dataclasses.asdict(gap) for gap in self.gaps],
        }
        return json.dumps(content, indent=1, ensure_ascii=False) + "\n"

    @classmethod
    def from_json(cls, text: str) -> Inventory:
        """Reads what `to_json` wrote.

        Raises:
            ValueError: it is no JSON, or not an inventory.
        """
        try:
            content: dict[str, Any] = json.loads(text)
            return cls(
                version=content["version"],
                device=content["device"],
                root_name=content["root_name"],
                files=content["files"],
                findings=tuple(
                    Finding(**{**entry, "kind": Kind(entry["kind"])})
                    for entry in content["findings"]
                ),
                units=tuple(
                    Unit(entry["path"], tuple(entry["lists"])) for entry in content["units"]
                ),
                includes={path: tuple(paths) for path, paths in content["includes"].items()},
                sizes=content["sizes"],
                gaps=tuple(
                    Gap(**{**entry, "affects": tuple(entry["affects"])})
                    for entry in content.get("gaps", ())
                ),
            )
        except (KeyError, TypeError, AttributeError) as error:
            raise ValueError(f"not an inventory of decouple: {error!r}") from error
