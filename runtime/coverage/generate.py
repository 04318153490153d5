"""Writes the page docs/coverage/runtime.md from files of the build.

generate.py --library SONAME MAP STUBS ... --test NAME OBJECT ... ... --answers functions.json --output FILE
"""

from __future__ import annotations

import argparse
import json
import pathlib
import sys
from collections.abc import Sequence

from runtime.coverage import inventory, page
from runtime.coverage.mutants import objects


def main(argv: Sequence[str] | None = None) -> int:
    """Writes the page; returns the exit status."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument(
        "--library", action="append", nargs=3, default=[], metavar=("SONAME", "MAP", "STUBS")
    )
    parser.add_argument("--test", action="append", nargs="+", default=[], metavar="NAME OBJECT")
    parser.add_argument("--answers", type=pathlib.Path, required=True)
    parser.add_argument("--output", type=pathlib.Path, required=True)
    args = parser.parse_args(argv)
    answers = json.loads(args.answers.read_text(encoding="utf-8"))
    try:
        calls = {
            name: objects.called(pathlib.Path(path) for path in files) for name, *files in args.test
        }
        inventory.hold_against(answers, calls)
    except (inventory.CoverageError, objects.ObjectError) as error:
        print(error, file=sys.stderr)
        return 1
    called = frozenset().union(*calls.values())
    libraries = [
        inventory.library(
            soname,
            pathlib.Path(version_script).read_text(encoding="utf-8"),
            pathlib.Path(stubs).read_text(encoding="utf-8"),
            answers,
            called,
        )
        for soname, version_script, stubs in args.library
    ]
    args.output.write_text(page.render(libraries), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
