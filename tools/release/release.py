"""Makes the folder of a release: `./bazelw run //tools/release -- FOLDER`.

    wheels/         every wheel, with its metadata beside it
    simple/         an index of them, for any server of files: pip install --extra-index-url ADDRESS/simple/ torch_cuda_sim
    sbom.cdx.json   what they are made of
    NOTES.md        what changed
    SHA256SUMS      of all these files

Each wheel is checked before the folder is there: twine (strictly), auditwheel and older systems (the tests of the wheels),
licences of what it contains, and an installation from the index over HTTP that runs a kernel.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import io
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence

from twine.commands import check as twine_check

from tools.release import index, installation, notes, sbom, wheels

# What needs nothing but each other, and a program that runs a kernel with them.
_PACKAGES = ("torch_cuda_sim", "torch_cuda_runtime")


class ReleaseError(RuntimeError):
    """A check failed; the text says which one and of what."""


def check_with_twine(paths: Sequence[pathlib.Path]) -> None:
    """Asks twine whether an index takes the wheels and shows their descriptions.

    Raises:
        ReleaseError: it does not; with what twine says.
    """
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        failed = twine_check.check([str(path) for path in paths], strict=True)
    if failed:
        raise ReleaseError(f"twine check --strict refuses the wheels:\n{said.getvalue()}")


def make(
    folder: pathlib.Path,
    paths: Sequence[pathlib.Path],
    changelog: pathlib.Path,
    components: pathlib.Path,
    versions: dict[str, str],
    version: str,
) -> list[wheels.Wheel]:
    """Writes the folder.

    Args:
        folder: empty or not there.
        paths: of the wheels.
        changelog: CHANGELOG.md.
        components: components.toml.
        versions: of components, by name.
        version: of the release.

    Returns:
        The wheels, as they lie in the folder.

    Raises:
        ReleaseError, sbom.ComponentError, notes.NotesError, wheels.WheelError: a check failed.
    """
    text = notes.section(changelog.read_text(encoding="utf-8"), version)
    if folder.exists() and any(folder.iterdir()):
        raise ReleaseError(f"found files in {folder}; needed: a folder that is empty or not there")
    (folder / "wheels").mkdir(parents=True, exist_ok=True)
    released = []
    for path in sorted(paths, key=lambda each: each.name):
        copy = folder / "wheels" / path.name
        shutil.copyfile(path, copy)
        wheel = wheels.read(copy)
        copy.with_name(copy.name + ".metadata").write_bytes(wheel.metadata)
        released.append(wheel)
    sbom.check_licences(components, released)
    check_with_twine([wheel.path for wheel in released])
    index.write(folder / "simple", released, "../../wheels")
    parts = sbom.components(components, versions)
    (folder / "sbom.cdx.json").write_text(sbom.text(released, parts, version), encoding="utf-8")
    (folder / "NOTES.md").write_text(text, encoding="utf-8")
    write_sums(folder)
    return released


def write_sums(folder: pathlib.Path) -> None:
    """Writes SHA256SUMS of all files of a folder, as `sha256sum --check` reads it."""
    lines = []
    for path in sorted(
        each for each in folder.rglob("*") if each.is_file() and each.name != "SHA256SUMS"
    ):
        with path.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        lines.append(f"{digest}  {path.relative_to(folder).as_posix()}\n")
    (folder / "SHA256SUMS").write_text("".join(lines), encoding="utf-8")


def main() -> None:
    """Makes the folder, and runs the checks that need a machine."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--wheel", type=pathlib.Path, action="append", default=[], help=argparse.SUPPRESS
    )
    parser.add_argument(
        "--test", type=pathlib.Path, action="append", default=[], help=argparse.SUPPRESS
    )
    parser.add_argument("--component", action="append", default=[], help=argparse.SUPPRESS)
    for name in ("changelog", "components", "linked", "program"):
        parser.add_argument(f"--{name}", type=pathlib.Path, required=True, help=argparse.SUPPRESS)
    parser.add_argument("--version", required=True, help=argparse.SUPPRESS)
    parser.add_argument(
        "--also",
        type=pathlib.Path,
        action="append",
        default=[],
        help="a wheel of another platform",
    )
    parser.add_argument(
        "folder", type=pathlib.Path, help="the folder of the release, empty or not there"
    )
    options = parser.parse_args()
    here = pathlib.Path(os.environ.get("BUILD_WORKING_DIRECTORY", "."))
    folder = here / options.folder
    options.wheel += [here / wheel for wheel in options.also]
    versions = json.loads(options.linked.read_text(encoding="utf-8"))
    versions |= dict(each.split("=", 1) for each in options.component)
    try:
        print(f"[1/3] {folder}: {len(options.wheel)} wheels, index, SBOM, notes, sums", flush=True)
        made = make(
            folder, options.wheel, options.changelog, options.components, versions, options.version
        )
        for number, test in enumerate(options.test, 1):
            print(f"[2/3] {test.name} ({number} of {len(options.test)})", flush=True)
            done = subprocess.run([test.absolute()], check=False, capture_output=True, text=True)
            if done.returncode:
                raise ReleaseError(f"{test.name} fails:\n{done.stdout}{done.stderr}")
        print("[3/3] installed from the index over HTTP", flush=True)
        with tempfile.TemporaryDirectory() as scratch:
            program = options.program.read_text(encoding="utf-8")
            said = installation.check(
                folder, _PACKAGES, program, pathlib.Path(scratch) / "environment"
            )
    except (
        ReleaseError,
        installation.InstallationError,
        notes.NotesError,
        sbom.ComponentError,
        wheels.WheelError,
    ) as error:
        sys.exit(f"release: {error}")
    print(said, end="")
    for wheel in made:
        print(f"{wheel.sha256}  {wheel.path.name}")


if __name__ == "__main__":
    main()
