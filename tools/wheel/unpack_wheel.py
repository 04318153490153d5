"""Unpacks a wheel into a folder that can stand on `sys.path`; the tool behind the rule `wheel_env`.

This is what an installer does with a wheel that has no scripts and no `*.data` folder (binary
distribution format, "Installing a wheel"), RECORD checked. pip itself installs the wheel in a
test of its own; here the build does not need pip.
"""

from __future__ import annotations

import argparse
import csv
import hashlib
import io
import pathlib
import sys
import tempfile
import zipfile
from collections.abc import Sequence

from tools.wheel import dist_info

_CHUNK = 1 << 20


class DamagedWheelError(ValueError):
    """A wheel is not what its RECORD says, or clashes with another; the message names the file."""


def unpack(wheel: pathlib.Path, target: pathlib.Path) -> None:
    """Unpacks a wheel.

    Args:
        wheel: the `.whl` file.
        target: the folder to fill; it is created if need be.

    Raises:
        DamagedWheelError: RECORD is missing or no list of files and digests, a file is not in RECORD, a listed file
            is missing, has no digest or another one, or lies outside of the folder; or the file is already there,
            from another wheel. No file comes under its name before its digest was compared.
    """
    with zipfile.ZipFile(wheel) as archive:
        entries = [entry.filename for entry in archive.infolist() if not entry.is_dir()]
        names = set(entries)
        if len(names) < len(entries):
            twice = min(name for name in names if entries.count(name) > 1)
            raise DamagedWheelError(f"{wheel.name}: {twice!r} is in it twice.")
        digests = _record(archive, names)
        if unlisted := sorted(names - digests.keys()):
            raise DamagedWheelError(f"{wheel.name}: {unlisted[0]} is not in RECORD.")
        for name in sorted(digests):
            if not _stays_below(name):
                raise DamagedWheelError(
                    f"{wheel.name}: {name!r} is no path below the folder that a wheel is unpacked into."
                )
        for name, expected in sorted(digests.items()):
            if name not in names:
                raise DamagedWheelError(f"{wheel.name}: RECORD lists {name}, which is not there.")
            if (target / name).exists():
                raise DamagedWheelError(f"{wheel.name}: another wheel already brought {name}.")
            _extract(archive, name, target / name, expected)


def _stays_below(name: str) -> bool:
    """Whether a name is a plain relative path, as it would be printed again."""
    path = pathlib.PurePosixPath(name)
    return str(path) == name and not path.is_absolute() and ".." not in path.parts


def _record(archive: zipfile.ZipFile, names: set[str]) -> dict[str, str]:
    """Reads which files a wheel has, and their digests; RECORD alone has none."""
    what = _name(archive)
    records = [
        name for name in names if name.count("/") == 1 and name.endswith(".dist-info/RECORD")
    ]
    if len(records) != 1:
        raise DamagedWheelError(f"{what}: found {len(records)} RECORD files, need one.")
    digests: dict[str, str] = {}
    try:
        for path, digest, _ in csv.reader(io.StringIO(archive.read(records[0]).decode("utf-8"))):
            digests[path] = digest
    except (csv.Error, ValueError) as error:
        raise DamagedWheelError(f"{what}: RECORD cannot be read: {error}.") from None
    for path, digest in digests.items():
        if not digest and path != records[0]:
            raise DamagedWheelError(f"{what}: RECORD has no digest of {path!r}.")
    return digests


def _extract(archive: zipfile.ZipFile, name: str, path: pathlib.Path, expected: str) -> None:
    """Writes a file beside its place, and moves it there when its digest is the expected one."""
    path.parent.mkdir(parents=True, exist_ok=True)
    digest = hashlib.sha256()
    with tempfile.NamedTemporaryFile(dir=path.parent, delete=False) as writer:
        written = pathlib.Path(writer.name)
        with archive.open(name) as reader:
            while chunk := reader.read(_CHUNK):
                digest.update(chunk)
                writer.write(chunk)
    found = dist_info.encode_digest(digest.digest())
    if expected and found != expected:
        written.unlink()
        raise DamagedWheelError(f"{_name(archive)}: {name} has {found}, RECORD says {expected}.")
    written.chmod(archive.getinfo(name).external_attr >> 16 & 0o777)
    written.rename(path)


def _name(archive: zipfile.ZipFile) -> str:
    return pathlib.Path(archive.filename or "").name


def main(argv: Sequence[str] | None = None) -> int:
    """Command line of the unpacker.

    Args:
        argv: `--wheel FILE... --target FOLDER`.

    Returns:
        0, or 1 after printing what is wrong with the wheel.
    """
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--wheel", type=pathlib.Path, nargs="+", required=True)
    parser.add_argument("--target", type=pathlib.Path, required=True)
    arguments = parser.parse_args(argv)
    try:
        for wheel in arguments.wheel:
            unpack(wheel, arguments.target)
    except (DamagedWheelError, zipfile.BadZipFile) as error:
        print(f"unpack_wheel: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
