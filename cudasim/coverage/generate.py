"""Writes the page docs/coverage/cudasim.md from what tests record.

generate.py --run TEST ... --source FAMILY.cpp ... --output FILE
"""

from __future__ import annotations

import argparse
import pathlib
import sys
from collections.abc import Sequence

from cudasim.coverage import inventory, page


def main(argv: Sequence[str] | None = None) -> int:
    """Writes the page; returns the exit status."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--run", action="append", type=pathlib.Path, default=[])
    parser.add_argument("--source", action="append", default=[], type=pathlib.Path)
    parser.add_argument("--output", type=pathlib.Path, required=True)
    args = parser.parse_args(argv)
    try:
        found = inventory.instructions(inventory.run_and_record(args.run))
    except inventory.CoverageError as error:
        print(error, file=sys.stderr)
        return 1
    sources = {path.stem: path.as_posix() for path in args.source}
    args.output.write_text(page.render(found, sources), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
