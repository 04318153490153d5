"""Builds one wheel from a manifest; the tool behind the Bazel rule `plugin_wheel`.

The same manifest and the same inputs give the same bytes. Only Python's standard library is used.
"""

from __future__ import annotations

import argparse
import pathlib
import sys
from collections.abc import Sequence

from tools.wheel import dist_info, wheel_archive, wheel_manifest


def build(manifest: wheel_manifest.WheelManifest, output: pathlib.Path) -> None:
    """Writes the wheel.

    Args:
        manifest: what goes in.
        output: the wheel to write; its name has to be the one pip derives from the metadata.

    Raises:
        ManifestError: the file name does not fit the metadata, or a file is missing.
    """
    if output.name != manifest.file_name:
        raise wheel_manifest.ManifestError(
            f"the wheel is called {output.name}, but its metadata makes it {manifest.file_name}; "
            "pip would refuse it."
        )
    for file in (*manifest.files, *manifest.license_files):
        if not file.source.is_file():
            raise wheel_manifest.ManifestError(f"{file.source}, meant for {file.path}, is no file.")
    info = manifest.dist_info
    with wheel_archive.WheelArchive(output, manifest.compression_level) as archive:
        for path, source in sorted({file.path: file.source for file in manifest.files}.items()):
            archive.add_file(source, path)
        # Metadata goes last, as PEP 427 recommends.
        for file in sorted(manifest.license_files, key=lambda license_file: license_file.path):
            archive.add_file(file.source, f"{info}/licenses/{file.path}")
        archive.add_text(dist_info.metadata(manifest), f"{info}/METADATA")
        archive.add_text(dist_info.wheel(manifest), f"{info}/WHEEL")
        if manifest.entry_points:
            archive.add_text(dist_info.entry_points(manifest), f"{info}/entry_points.txt")
        record = f"{info}/RECORD"
        archive.add_text(dist_info.record(archive.rows, record), record)


def main(argv: Sequence[str] | None = None) -> int:
    """Command line of the builder.

    Args:
        argv: `--manifest FILE --output FILE`; the process's own arguments if None.

    Returns:
        0, or 1 after printing what is wrong with the manifest.
    """
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--manifest", type=pathlib.Path, required=True, help="JSON, see wheel_manifest.py"
    )
    parser.add_argument("--output", type=pathlib.Path, required=True, help="the wheel to write")
    arguments = parser.parse_args(argv)
    try:
        build(wheel_manifest.load(arguments.manifest), arguments.output)
    except wheel_manifest.ManifestError as error:
        print(f"build_wheel: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
