"""Release notes: the section of CHANGELOG.md about one version."""

from __future__ import annotations

import re


class NotesError(ValueError):
    """There is no such section, or it is empty; the text says what to write."""


def section(changelog: str, version: str) -> str:
    """Finds what changed with a version.

    Args:
        changelog: Markdown, with a heading of the second level for each version, as "## 0.5.0, 2026-11-28".
        version: as "0.5.0".

    Returns:
        The section, with its heading.

    Raises:
        NotesError: there is none.
    """
    found = re.search(
        rf"^## {re.escape(version)}\b[^\n]*\n(.*?)(?=^## |\Z)", changelog, re.MULTILINE | re.DOTALL
    )
    if found is None or not found[1].strip():
        raise NotesError(
            f"found nothing about {version} in CHANGELOG.md; needed: a section `## {version}, DATE` that says what changed"
        )
    return found[0].strip() + "\n"
