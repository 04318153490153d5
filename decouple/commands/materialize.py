"""decouple materialize: writes the restructured tree."""

from __future__ import annotations

import argparse
import pathlib
import sys

from decouple.commands import options
from decouple.materialize.write import materialize
from decouple.plan.plan import make_plan

HELP = "write the tree as the RFC draws it"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the command's arguments."""
    options.add_tree(parser)
    parser.add_argument(
        "--out",
        type=pathlib.Path,
        required=True,
        metavar="DIR",
        help="folder to write; it must not be there, or be empty",
    )


def run(args: argparse.Namespace) -> int:
    """Scans the tree, plans and writes."""
    out = options.working_path(args.out)
    scanned = options.scan_tree(args)
    tree, plan = scanned.tree, make_plan(scanned.inventory)
    written = materialize(tree, scanned.inventory, plan, scanned.rules, out, _show_progress)
    print(
        f"{out}: {written.copied} files as they are, {written.moved} moved, "
        f"{written.cut} cut, {written.patches} patches"
    )
    options.print_gaps(tree.gaps.all())
    return 0


def _show_progress(done: int, files: int) -> None:
    if sys.stderr.isatty():
        print(f"\r{done} of {files} files", end="\n" if done == files else "", file=sys.stderr)
