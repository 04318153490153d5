"""What ways to pack PTX and symbols cost, by download and by disk.

    ./bazelw run //bench/packing -- "$PWD"/bazel-bin/python/*.whl

Takes the largest library out of the wheel, packs it in each way, and adds the wheel's other files as they are. The wheel
is a zip with deflate at its default level, as pip's are.
"""

from __future__ import annotations

import argparse
import pathlib
import subprocess
import sys
import tempfile
import zipfile
import zlib
from dataclasses import dataclass

_PIECE = 1 << 20
_MB = 1_000_000


@dataclass(frozen=True)
class Embedded:
    """What nvcc embedded into a library.

    Attributes:
        images: fat binaries.
        entries: pieces of PTX in them.
        image_bytes: what fat binaries take in the library.
        stored_bytes: what the PTX takes in them, as nvcc compressed it.
        text_bytes: the PTX's text.
        deflated_bytes: that text, deflated.
    """

    images: int
    entries: int
    image_bytes: int
    stored_bytes: int
    text_bytes: int
    deflated_bytes: int


def main() -> int:
    """Prints the table."""
    parser = argparse.ArgumentParser(description="What ways to pack PTX cost.")
    parser.add_argument("unpack", type=pathlib.Path, help="given by Bazel")
    parser.add_argument("wheel", type=pathlib.Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, zipfile.ZipFile(options.wheel) as wheel:
        largest = max(wheel.infolist(), key=lambda each: each.file_size)
        others = [each for each in wheel.infolist() if each is not largest]
        other_disk = sum(each.file_size for each in others)
        other_download = options.wheel.stat().st_size - largest.compress_size
        library = pathlib.Path(wheel.extract(largest, folder))
        stripped = library.with_suffix(".stripped")
        subprocess.run(["strip", "-o", stripped, library], check=True)
        embedded = _embedded(options.unpack, library, pathlib.Path(folder) / "ptx")
        host = library.with_suffix(".host")
        subprocess.run(["objcopy", "--remove-section=.nv_fatbin", stripped, host], check=True)
        rows = [
            ("as nvcc compresses PTX", largest.file_size, largest.compress_size),
            ("the same without symbols", stripped.stat().st_size, _deflated(stripped)),
            (
                "PTX as text, without symbols",
                stripped.stat().st_size - embedded.stored_bytes + embedded.text_bytes,
                _deflated(host) + embedded.deflated_bytes,
            ),
        ]
        print(f"{largest.filename}: {embedded}")
        print("| packed | on disk, MB | wheel, MB |\n|---|---|---|")
        for name, disk, download in rows:
            total = (disk + other_disk) / _MB, (download + other_download) / _MB
            print(f"| {name} | {total[0]:.1f} | {total[1]:.1f} |")
    return 0


def _embedded(unpack: pathlib.Path, library: pathlib.Path, out: pathlib.Path) -> Embedded:
    run = subprocess.run(
        [unpack, library, out], check=True, stdout=subprocess.PIPE, encoding="utf-8"
    )
    images, entries, image_bytes, stored, text = (int(each) for each in run.stdout.split())
    return Embedded(images, entries, image_bytes, stored, text, _deflated(out))


def _deflated(file: pathlib.Path) -> int:
    packer = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    size = 0
    with file.open("rb") as data:
        while piece := data.read(_PIECE):
            size += len(packer.compress(piece))
    return size + len(packer.flush())


if __name__ == "__main__":
    sys.exit(main())
