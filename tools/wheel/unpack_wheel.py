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
        DamagedWheelError: RECORD is missing, a file is not in RECORD, a listed file is missing,
            or a digest differs; or the file is already there, from another wheel.
    """
    with zipfile.ZipFile(wheel) as archive:
        names = {entry.filename for entry in archive.infolist() if not entry.is_dir()}
        digests = _record(archive, names)
        if unlisted := sorted(names - digests.keys()):
            raise DamagedWheelError(f"{wheel.name}: {unlisted[0]} is not in RECORD.")
        for name, expected in sorted(digests.items()):
            if name not in names:
                raise DamagedWheelError(f"{wheel.name}: RECORD lists {name}, which is not there.")
            if (target / name).exists():
                raise DamagedWheelError(f"{wheel.name}: another wheel already brought {name}.")
            found = _extract(archive, name, target / name)
            if expected and found != expected:
                raise DamagedWheelError(
                    f"{wheel.name}: {name} has {found}, RECORD says {expected}."
                )


def _record(archive: zipfile.ZipFile, names: set[str]) -> dict[str, str]:
    records = [
        name for name in names if name.count("/") == 1 and name.endswith(".dist-info/RECORD")
    ]
    if len(records) != 1:
        raise DamagedWheelError(f"{archive.filename}: found {len(records)} RECORD files, need one.")
    rows = csv.reader(io.StringIO(archive.read(records[0]).decode("utf-8")))
    return {path: digest for path, digest, _ in rows}


def _extract(archive: zipfile.ZipFile, name: str, path: pathlib.Path) -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    digest = hashlib.sha256()
    with archive.open(name) as reader, path.open("wb") as writer:
        while chunk := reader.read(_CHUNK):
            digest.update(chunk)
            writer.write(chunk)
    path.chmod(archive.getinfo(name).external_attr >> 16 & 0o777)
    return dist_info.encode_digest(digest.digest())


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
