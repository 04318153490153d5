"""Takes files out of a wheel on a package index without downloading the wheel.

    python3 -m tools.remote_wheel.fetch --requirement torch==2.15.0 --include 'torch/include/**' \
        --strip-prefix torch/include --record-sha256 HEX --output include

Without --record-sha256 and --output it writes nothing and says what to pin. pip decides where the wheel is, by the
machine's own configuration; the hash of the wheel's RECORD decides what is accepted, and the RECORD each file. Where
a server does not give parts of files, pip downloads the whole wheel. Repository rules call this by remote_wheel.bzl.
"""

from __future__ import annotations

import argparse
import hashlib
import pathlib
import ssl
import sys
import tempfile
import urllib.parse
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from tools.remote_wheel import index, members
from tools.remote_wheel.ranged_file import RangedFile, RangesError

# What wheels of today's Linux are tagged with.
PLATFORMS = tuple(f"manylinux_2_{minor}_x86_64" for minor in (28, 27, 17)) + (
    "manylinux2014_x86_64",
)


@contextmanager
def remote(wanted: index.Wanted) -> Iterator[tuple[str, zipfile.ZipFile]]:
    """The wheel where it lies, and its file name.

    Args:
        wanted: the wheel.

    Raises:
        NotFoundError: no index says where it lies.
        RangesError: its server does not give parts of it.
    """
    pip = index.settings()
    context = ssl.create_default_context(cafile=pip.get("cert"))
    address = index.find(wanted, pip, context)
    name = urllib.parse.unquote(urllib.parse.urlsplit(address).path.rpartition("/")[2])
    with RangedFile(address, context) as file, zipfile.ZipFile(file) as archive:
        yield name, archive
        print(f"{name}: {file.received / 1e6:.1f} MB received", file=sys.stderr)


def _use(archive: zipfile.ZipFile, name: str, arguments: argparse.Namespace) -> None:
    """Unpacks what the arguments name, or says what to pin."""
    try:
        record = members.record_of(archive)
        if arguments.output is None:
            print(f"{name} {hashlib.sha256(record).hexdigest()}")
            return
        hashes = members.check_record(record, arguments.record_sha256)
        names = members.chosen(archive.namelist(), arguments.include)
        members.unpack(archive, hashes, names, arguments.strip_prefix, arguments.output)
    except (members.WheelError, zipfile.BadZipFile) as error:
        raise members.WheelError(f"{name}: {error}.") from error


def fetch(arguments: argparse.Namespace) -> None:
    """Does what the arguments say.

    Raises:
        PipError: no such wheel can be had.
        WheelError: the wheel is not the pinned one, or lacks what is wanted.
    """
    wanted = index.Wanted(
        arguments.requirement, arguments.python_version, arguments.platform or PLATFORMS
    )
    try:
        with remote(wanted) as (name, archive):
            _use(archive, name, arguments)
    except (RangesError, index.NotFoundError) as error:
        print(
            f"Found no server that sends parts of {wanted.requirement}'s wheel: {error}. "
            "pip downloads the whole wheel, which may be hundreds of MB.",
            file=sys.stderr,
            flush=True,
        )
        with tempfile.TemporaryDirectory() as folder:
            wheel = index.download(wanted, pathlib.Path(folder))
            with zipfile.ZipFile(wheel) as archive:
                _use(archive, wheel.name, arguments)


def main(command_line: Sequence[str]) -> int:
    """Runs the command; returns the exit code."""
    parser = argparse.ArgumentParser(prog="fetch", description=__doc__.splitlines()[0])
    parser.add_argument("--requirement", required=True, help="NAME==VERSION")
    parser.add_argument(
        "--python-version", default="3.13", help="of the Python that the wheel is for"
    )
    parser.add_argument(
        "--platform", action="append", help="an accepted platform tag; may be repeated"
    )
    parser.add_argument("--include", action="append", help="a glob of members; may be repeated")
    parser.add_argument("--strip-prefix", default="", help="the folder that members' names lose")
    parser.add_argument("--record-sha256", help="SHA-256 of the wheel's dist-info/RECORD")
    parser.add_argument("--output", type=pathlib.Path, help="where the files go")
    arguments = parser.parse_args(command_line)
    given = [arguments.include, arguments.record_sha256, arguments.output]
    if any(given) and not all(given):
        parser.error(
            "files need --include, --record-sha256 and --output; what to pin is said without them"
        )
    try:
        fetch(arguments)
    except (index.PipError, members.WheelError) as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
