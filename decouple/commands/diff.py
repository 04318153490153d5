"""decouple diff: what a new PyTorch version adds, moves and drops, as a checklist for a version bump."""

from __future__ import annotations

import argparse
import pathlib

from decouple import output
from decouple.commands import options
from decouple.diff.compare import checklist, compare

HELP = "say what a new version adds, moves and drops"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the command's arguments."""
    options.add_tree(parser)
    options.add_owners(parser)
    parser.add_argument("new_tree", type=pathlib.Path, metavar="TREE2", help="the new version")
    parser.add_argument(
        "--out", type=pathlib.Path, metavar="FILE", help="write the checklist to FILE"
    )


def run(args: argparse.Namespace) -> int:
    """Scans both trees and prints the checklist."""
    old = options.scan_tree(args).inventory
    new = options.scan_tree(args, args.new_tree).inventory
    text = checklist(compare(old, new), options.owners(args))
    if args.out:
        output.write_text(options.working_path(args.out), text)
        for inventory in (old, new):
            options.print_gaps(inventory.gaps, inventory.version)
    else:
        print(text, end="")
    return 0
