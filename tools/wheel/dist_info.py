"""The text files of a wheel's `*.dist-info` folder: METADATA, WHEEL, entry_points.txt, RECORD.

Formats: core metadata 2.4 (PEP 566, PEP 639), binary distribution format 1.0 (PEP 427), entry
points file of the Python packaging user guide. No file is read or written here, except the long
description.
"""

from __future__ import annotations

import base64
import csv
import io
from collections.abc import Iterable

from tools.wheel import wheel_manifest

GENERATOR = "torch_cuda build_wheel"


def metadata(manifest: wheel_manifest.WheelManifest) -> str:
    """Writes METADATA (core metadata 2.4).

    Args:
        manifest: the wheel; its description file is read.

    Returns:
        The text, headers first, then the long description.
    """
    lines = [
        "Metadata-Version: 2.4",
        f"Name: {manifest.distribution}",
        f"Version: {manifest.version}",
        f"Summary: {manifest.summary}",
        f"License-Expression: {manifest.license_expression}",
    ]
    lines += [f"License-File: {file.path}" for file in manifest.license_files]
    lines.append(f"Requires-Python: {manifest.requires_python}")
    lines += [f"Requires-Dist: {requirement}" for requirement in manifest.requires]
    for extra in sorted(manifest.extras):
        lines.append(f"Provides-Extra: {extra}")
        lines += [
            f"Requires-Dist: {_for_extra(requirement, extra)}"
            for requirement in manifest.extras[extra]
        ]
    body = ""
    if manifest.description is not None:
        lines.append("Description-Content-Type: text/markdown; charset=UTF-8")
        body = "\n" + manifest.description.read_text(encoding="utf-8")
    return "\n".join(lines) + "\n" + body


def _for_extra(requirement: str, extra: str) -> str:
    name, semicolon, marker = requirement.partition(";")
    condition = f'extra == "{extra}"'
    if semicolon:
        return f"{name.strip()}; ({marker.strip()}) and {condition}"
    return f"{name.strip()}; {condition}"


def wheel(manifest: wheel_manifest.WheelManifest) -> str:
    """Writes WHEEL (binary distribution format 1.0).

    Args:
        manifest: the wheel.

    Returns:
        The text; the wheel counts as platform dependent unless its ABI tag is "none".
    """
    pure = "true" if manifest.abi_tag == "none" and manifest.platform_tag == "any" else "false"
    return (
        f"Wheel-Version: 1.0\nGenerator: {GENERATOR}\n"
        f"Root-Is-Purelib: {pure}\nTag: {manifest.tag}\n"
    )


def entry_points(manifest: wheel_manifest.WheelManifest) -> str:
    """Writes entry_points.txt.

    Args:
        manifest: the wheel.

    Returns:
        The text, groups and lines sorted; empty if there are none.
    """
    groups = [
        f"[{group}]\n" + "".join(f"{line}\n" for line in sorted(manifest.entry_points[group]))
        for group in sorted(manifest.entry_points)
    ]
    return "\n".join(groups)


def record(rows: Iterable[tuple[str, bytes, int]], record_path: str) -> str:
    """Writes RECORD.

    Args:
        rows: for each file its path in the wheel, SHA-256 digest and size in bytes.
        record_path: path of RECORD itself, which is listed without digest and size.

    Returns:
        The CSV text.
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    for path, digest, size in rows:
        writer.writerow((path, encode_digest(digest), size))
    writer.writerow((record_path, "", ""))
    return text.getvalue()


def encode_digest(digest: bytes) -> str:
    """Encodes a SHA-256 digest as RECORD wants it (URL-safe base64 without padding, PEP 427).

    Args:
        digest: the 32 bytes.

    Returns:
        For example "sha256=47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU".
    """
    return "sha256=" + base64.urlsafe_b64encode(digest).rstrip(b"=").decode("ascii")
