"""Packs the sources of the router for a PyTorch that it was not compiled for: they go into the wheel.

    python3 -m router.operators.archive OUTPUT.zip FILE…

`python -m torch_cuda_runtime build-operators` compiles them on a user's machine.
"""

from __future__ import annotations

import pathlib
import re
import sys
import zipfile
from collections.abc import Sequence

_OUTPUTS = re.compile(r"^bazel-out/[^/]+/bin/")
_DATE = (1980, 1, 1, 0, 0, 0)  # the oldest that there is, the same in each build


def pack(output: str, files: Sequence[str]) -> None:
    """Writes the archive; the same files give the same bytes.

    Args:
        output: where to.
        files: paths from the root of the repository, generated ones below Bazel's output folder.
    """
    by_name = {_OUTPUTS.sub("", file): file for file in files}
    with zipfile.ZipFile(output, "w") as archive:
        for name, file in sorted(by_name.items()):
            member = zipfile.ZipInfo(name, _DATE)
            member.compress_type = zipfile.ZIP_DEFLATED
            member.external_attr = 0o644 << 16
            archive.writestr(member, pathlib.Path(file).read_bytes())


if __name__ == "__main__":
    pack(sys.argv[1], sys.argv[2:])
