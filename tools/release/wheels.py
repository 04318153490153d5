"""What a wheel says of itself."""

from __future__ import annotations

import dataclasses
import email.message
import email.parser
import hashlib
import pathlib
import zipfile

from packaging import utils


@dataclasses.dataclass(frozen=True)
class Wheel:
    """One wheel.

    Attributes:
        path: the file.
        name: of the distribution, normalized (PEP 503), as "torch-cuda-sim".
        version: of the distribution (PEP 440).
        platform: the tag of the platforms that it is for, as "manylinux_2_28_x86_64".
        sha256: of the file, in hexadecimal.
        metadata: its METADATA, as bytes.
        licences: its license texts by their names in the folder `licenses` of its dist-info.
    """

    path: pathlib.Path
    name: str
    version: str
    platform: str
    sha256: str
    metadata: bytes
    licences: dict[str, bytes]

    @property
    def headers(self) -> email.message.Message:
        """METADATA, read (core metadata, PEP 566)."""
        return email.parser.BytesParser().parsebytes(self.metadata)


class WheelError(ValueError):
    """A file that is no wheel; the text says which one."""


def read(path: pathlib.Path) -> Wheel:
    """Reads a wheel.

    Args:
        path: the file, named as the binary distribution format says (PEP 427).

    Raises:
        WheelError: the name or the contents are not a wheel's.
    """
    try:
        name, version, _, tags = utils.parse_wheel_filename(path.name)
        with zipfile.ZipFile(path) as archive:
            (member,) = [n for n in archive.namelist() if n.endswith(".dist-info/METADATA")]
            folder = member.removesuffix("METADATA") + "licenses/"
            metadata = archive.read(member)
            licences = {
                n.removeprefix(folder): archive.read(n)
                for n in sorted(archive.namelist())
                if n.startswith(folder)
            }
    except (utils.InvalidWheelFilename, ValueError, zipfile.BadZipFile, OSError) as error:
        raise WheelError(f"{path.name} is no wheel: {error}") from error
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    platforms = ".".join(sorted({tag.platform for tag in tags}))
    return Wheel(path, name, str(version), platforms, digest, metadata, licences)
