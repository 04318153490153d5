"""Members of a wheel: which are wanted, whether they are what its RECORD says, and where they go."""

from __future__ import annotations

import base64
import csv
import hashlib
import pathlib
import re
import zipfile
from collections.abc import Iterable, Sequence


class WheelError(Exception):
    """The wheel is not the pinned one, or lacks what is wanted; the message says which."""


def pattern(glob: str) -> re.Pattern[str]:
    """A glob as a regular expression: `*` stays in a folder, `**` does not."""
    words = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}
    parts = re.split(r"(\*\*/|\*\*|\*|\?)", glob)
    return re.compile("".join(words.get(part) or re.escape(part) for part in parts))


def chosen(names: Iterable[str], globs: Sequence[str]) -> list[str]:
    """The names that a glob includes, folders left out.

    Raises:
        WheelError: a glob includes none: what is wanted has moved.
    """
    names = [name for name in names if not name.endswith("/")]
    found: set[str] = set()
    for glob in globs:
        matching = {name for name in names if pattern(glob).fullmatch(name)}
        if not matching:
            raise WheelError(f"it has no {glob}")
        found |= matching
    return sorted(found)


def place(name: str, strip_prefix: str) -> pathlib.PurePosixPath:
    """Where a member goes, below the output folder.

    Raises:
        WheelError: it leads out of that folder, or does not have the prefix.
    """
    prefix = strip_prefix.rstrip("/") + "/" if strip_prefix else ""
    inside = pathlib.PurePosixPath(name.removeprefix(prefix))
    if not name.startswith(prefix):
        raise WheelError(f"{name!r} does not begin with {prefix!r}")
    if inside.is_absolute() or ".." in inside.parts:
        raise WheelError(f"{name!r} leads out of the output folder")
    return inside


def record_of(archive: zipfile.ZipFile) -> bytes:
    """The RECORD of the wheel: the list of its files with their hashes.

    Raises:
        WheelError: there is not exactly one.
    """
    records = [
        name for name in archive.namelist() if re.fullmatch(r"[^/]+\.dist-info/RECORD", name)
    ]
    if len(records) != 1:
        raise WheelError(f"it has {len(records)} RECORD files; a wheel has one")
    return archive.read(records[0])


def check_record(record: bytes, sha256: str) -> dict[str, str]:
    """Returns each file's hash, as the RECORD writes it, where the RECORD is the pinned one.

    Raises:
        WheelError: it is another one.
    """
    found = hashlib.sha256(record).hexdigest()
    if found != sha256:
        raise WheelError(
            f"its RECORD has SHA-256 {found}, but {sha256} is pinned. Do not use it: the index is not to "
            "be trusted, or the pin is another wheel's"
        )
    return {row[0]: row[1] for row in csv.reader(record.decode("utf-8").splitlines()) if row}


def unpack(
    archive: zipfile.ZipFile,
    hashes: dict[str, str],
    names: Iterable[str],
    strip_prefix: str,
    output: pathlib.Path,
) -> int:
    """Writes members below a folder, each checked against the RECORD; returns how many.

    Args:
        archive: the wheel.
        hashes: each file's hash, out of `check_record`.
        names: the members.
        strip_prefix: the folder that their names lose.
        output: the folder that they go to.

    Raises:
        WheelError: a member is not what the RECORD says, or leads out of the folder.
    """
    # In the order in which they lie, which is that in which a remote file is read best.
    members = sorted((archive.getinfo(name) for name in names), key=lambda info: info.header_offset)
    for member in members:
        target = output / place(member.filename, strip_prefix)
        content = archive.read(member)
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).decode().rstrip("=")
        if hashes.get(member.filename) != f"sha256={digest}":
            raise WheelError(f"{member.filename} is not the file that its RECORD lists")
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content)
    return len(members)
