"""What a translation could not do, or is not sure of: findings, for people and as JSON."""

from __future__ import annotations

import dataclasses
import enum
import json
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any


class Severity(enum.Enum):
    """How bad a finding is."""

    UNKNOWN = "unknown"
    """It looks like CUDA's, and no rule knows it; it stays as it was."""
    UNSUPPORTED = "unsupported"
    """The platform has nothing in its place; it stays as it was."""
    ASSUMED = "assumed"
    """Translated by the look of the family's names alone; the platform may not have it."""


@dataclasses.dataclass(frozen=True, slots=True, order=True)
class Finding:
    """One place of a source.

    Attributes:
        path: the file.
        line: from 1.
        column: from 1, in characters.
        name: what stands there.
        family: the library of CUDA that it belongs to.
        severity: a value of `Severity`.
        reason: for people.
    """

    path: str
    line: int
    column: int
    name: str
    family: str
    severity: str
    reason: str

    def __str__(self) -> str:
        place = f"{self.path}:{self.line}:{self.column}"
        return f"{place}: {self.severity}: {self.name} ({self.family}): {self.reason}"

    @property
    def is_open(self) -> bool:
        """Whether somebody has to do something about it."""
        return self.severity != Severity.ASSUMED.value


def as_json(
    platform: str, findings: Iterable[Finding], translated: Mapping[str, Counter[str]]
) -> str:
    """The report of a run.

    Args:
        platform: its name.
        findings: of all files.
        translated: for each file how often something of each family was translated.

    Returns:
        A JSON object with "platform", "files" and "findings".
    """
    report: dict[str, Any] = {
        "platform": platform,
        "files": {path: dict(sorted(count.items())) for path, count in sorted(translated.items())},
        "findings": [dataclasses.asdict(finding) for finding in sorted(findings)],
    }
    return json.dumps(report, indent=2) + "\n"
