"""Writes the index of some sources, for closure.py.

    index.py --pytorch-root DIR --out FILE PATH...

PATHs are below DIR; those that reach.py does not read are left out. The sources of a tree are indexed in several runs,
so that an edit of one file reads only a part of them again.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from aten_cuda.codegen.reach import is_read
from aten_cuda.codegen.source_index import PreprocessorError, SourceIndex


def main(argv: Sequence[str] | None = None) -> int:
    """The command line; returns the exit status."""
    parser = argparse.ArgumentParser(
        description=(__doc__ or "").splitlines()[0], fromfile_prefix_chars="@"
    )
    parser.add_argument("--pytorch-root", type=Path, required=True, help="folder with aten")
    parser.add_argument("--out", type=Path, required=True, help="file to write")
    parser.add_argument("paths", nargs="*", help="sources, below the root")
    args = parser.parse_args(argv)
    try:
        SourceIndex.scan(args.pytorch_root, filter(is_read, args.paths)).write(args.out)
    except PreprocessorError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
