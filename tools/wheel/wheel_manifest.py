"""What goes into one wheel: the manifest that the Bazel rule writes for the builder.

The rule `plugin_wheel` (private/plugin_wheel.bzl) writes this as JSON; `build_wheel.py` reads it.
Nothing here knows how a wheel is laid out (that is dist_info.py) or how a zip file is written
(wheel_archive.py).
"""

from __future__ import annotations

import dataclasses
import json
import pathlib
import re
from collections.abc import Mapping, Sequence
from typing import Any

_VERSION = re.compile(
    r"[0-9]+(\.[0-9]+)*((a|b|rc)[0-9]+)?(\.post[0-9]+)?(\.dev[0-9]+)?(\+[a-z0-9]+(\.[a-z0-9]+)*)?"
)
_NAME = re.compile(r"[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?")


class ManifestError(ValueError):
    """The manifest cannot become a valid wheel; the message says which entry and why."""


@dataclasses.dataclass(frozen=True)
class WheelFile:
    """One file of the wheel.

    Attributes:
        source: where it lies on disk.
        path: where it goes, with '/' and relative to site-packages.
    """

    source: pathlib.Path
    path: str


@dataclasses.dataclass(frozen=True)
class WheelManifest:
    """Everything the builder needs to know about one wheel.

    Attributes:
        distribution: name of the distribution as pip shows it (PEP 508 name).
        version: version of the distribution (PEP 440, normalised).
        summary: one line for `pip show`.
        python_tag: for example "cp313".
        abi_tag: for example "cp313".
        platform_tag: for example "linux_x86_64".
        requires_python: PEP 440 specifier, for example "==3.13.*".
        requires: PEP 508 requirements.
        extras: extra name to its PEP 508 requirements.
        entry_points: group name to lines such as "name = module:function".
        license_expression: SPDX expression (PEP 639).
        files: the payload.
        license_files: license texts; `path` is the name inside `*.dist-info/licenses`.
        description: a Markdown file for the long description, or None.
        compression_level: 0 stores the files, 1 to 9 deflates them.
    """

    distribution: str
    version: str
    summary: str
    python_tag: str
    abi_tag: str
    platform_tag: str
    requires_python: str
    requires: tuple[str, ...] = ()
    extras: Mapping[str, tuple[str, ...]] = dataclasses.field(default_factory=dict)
    entry_points: Mapping[str, tuple[str, ...]] = dataclasses.field(default_factory=dict)
    license_expression: str = "BSD-3-Clause"
    files: tuple[WheelFile, ...] = ()
    license_files: tuple[WheelFile, ...] = ()
    description: pathlib.Path | None = None
    compression_level: int = 1

    def __post_init__(self) -> None:
        """Checks what would otherwise only show when somebody installs the wheel.

        Raises:
            ManifestError: a name, a version, a path or the compression level is not valid, or two
                files go to one path.
        """
        if not _NAME.fullmatch(self.distribution):
            raise ManifestError(
                f"distribution {self.distribution!r} is no PEP 508 name: use letters, digits, '.', "
                "'_' and '-'."
            )
        if not _VERSION.fullmatch(self.version):
            raise ManifestError(
                f"version {self.version!r} is not a normalised PEP 440 version such as "
                "'2.6.0+cu124'."
            )
        if not 0 <= self.compression_level <= 9:
            raise ManifestError(
                f"compression_level is {self.compression_level}: it has to be 0 (stored) to 9."
            )
        sources: dict[str, pathlib.Path] = {}
        for file in (
            *self.files,
            *(WheelFile(f.source, f"licenses/{f.path}") for f in self.license_files),
        ):
            check_path(file.path)
            if file.path in sources and sources[file.path] != file.source:
                raise ManifestError(
                    f"two files go to {file.path} in the wheel: {sources[file.path]} and "
                    f"{file.source}."
                )
            sources[file.path] = file.source

    @property
    def stem(self) -> str:
        """`NAME-VERSION` with the name escaped as in the binary distribution format."""
        name = re.sub(r"[-_.]+", "_", self.distribution).lower()
        return f"{name}-{self.version}"

    @property
    def tag(self) -> str:
        """The compatibility tag, for example "cp313-cp313-linux_x86_64"."""
        return f"{self.python_tag}-{self.abi_tag}-{self.platform_tag}"

    @property
    def file_name(self) -> str:
        """The file name pip expects."""
        return f"{self.stem}-{self.tag}.whl"

    @property
    def dist_info(self) -> str:
        """Name of the metadata folder inside the wheel."""
        return f"{self.stem}.dist-info"


def check_path(path: str) -> None:
    """Refuses a path that would leave site-packages or is not in its canonical form.

    Args:
        path: path inside the wheel.

    Raises:
        ManifestError: the path is empty or absolute, or has an empty, '.' or '..' part or a
            backslash.
    """
    if "\\" in path or any(part in ("", ".", "..") for part in path.split("/")):
        raise ManifestError(
            f"{path!r} is no path for a wheel: it has to be relative, with '/' and without '.' or "
            "'..'."
        )


def load(path: pathlib.Path) -> WheelManifest:
    """Reads a manifest from the JSON the Bazel rule wrote.

    Args:
        path: the JSON file; file lists are lists of [source, path in the wheel].

    Returns:
        The manifest.

    Raises:
        ManifestError: a field is missing, unknown or not valid.
    """
    fields: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    try:
        return WheelManifest(
            **{
                **fields,
                "requires": tuple(fields.get("requires", ())),
                "extras": _tuples(fields.get("extras", {})),
                "entry_points": _tuples(fields.get("entry_points", {})),
                "files": _files(fields.get("files", ())),
                "license_files": _files(fields.get("license_files", ())),
                "description": pathlib.Path(fields["description"])
                if fields.get("description")
                else None,
            }
        )
    except TypeError as error:
        raise ManifestError(f"{path} does not describe a wheel: {error}.") from error


def _tuples(groups: Mapping[str, Sequence[str]]) -> dict[str, tuple[str, ...]]:
    return {name: tuple(lines) for name, lines in groups.items()}


def _files(pairs: Sequence[Sequence[str]]) -> tuple[WheelFile, ...]:
    return tuple(WheelFile(pathlib.Path(source), path) for source, path in pairs)
