"""A package index as files, for any server of files: PEP 503 (HTML), PEP 691 (JSON), PEP 714 (metadata beside wheels)."""

from __future__ import annotations

import hashlib
import html
import json
import pathlib
from collections.abc import Sequence

from tools.release.wheels import Wheel

_PAGE = '<!DOCTYPE html>\n<html>\n<head><meta name="pypi:repository-version" content="1.1"></head>\n<body>\n{}</body>\n</html>\n'


def write(folder: pathlib.Path, wheels: Sequence[Wheel], files: str) -> None:
    """Writes the index: index.html and index.json of all projects, and of each project.

    Args:
        folder: where to, the address that `pip install --extra-index-url` gets; made here.
        wheels: what it has.
        files: where the wheels lie, relative to a project's page, as "../../wheels".
    """
    by_name: dict[str, list[Wheel]] = {}
    for wheel in sorted(wheels, key=lambda each: (each.name, each.path.name)):
        by_name.setdefault(wheel.name, []).append(wheel)
    _write(
        folder,
        "".join(f'<a href="{name}/">{name}</a><br>\n' for name in by_name),
        {"projects": [{"name": name} for name in by_name]},
    )
    for name, all_of_it in by_name.items():
        lines, entries = [], []
        for wheel in all_of_it:
            python = str(wheel.headers["Requires-Python"])
            address = f"{files}/{wheel.path.name}"
            digest = hashlib.sha256(wheel.metadata).hexdigest()
            lines.append(
                f'<a href="{html.escape(address)}#sha256={wheel.sha256}" data-requires-python="{html.escape(python)}"'
                f' data-core-metadata="sha256={digest}">{html.escape(wheel.path.name)}</a><br>\n'
            )
            entries.append(
                {
                    "filename": wheel.path.name,
                    "url": address,
                    "hashes": {"sha256": wheel.sha256},
                    "requires-python": python,
                    "core-metadata": {"sha256": digest},
                    "size": wheel.path.stat().st_size,
                }
            )
        versions = sorted({wheel.version for wheel in all_of_it})
        _write(
            folder / name, "".join(lines), {"name": name, "versions": versions, "files": entries}
        )


def _write(folder: pathlib.Path, body: str, answer: dict[str, object]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "index.html").write_text(_PAGE.format(body), encoding="utf-8")
    text = json.dumps({"meta": {"api-version": "1.1"}} | answer, indent=1, sort_keys=True)
    (folder / "index.json").write_text(text + "\n", encoding="utf-8")
