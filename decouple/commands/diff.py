"""decouple diff: what a new PyTorch version adds, moves and drops, as a checklist for a version bump."""

from __future__ import annotations

import argparse
import pathlib

from decouple import output, scan
from decouple.commands import options
from decouple.diff.compare import checklist, compare
from decouple.tree import Tree

HELP = "say what a new version adds, moves and drops"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the command's arguments."""
    options.add_tree(parser)
    parser.add_argument("new_tree", type=pathlib.Path, metavar="TREE2", help="the new version")
    parser.add_argument(
        "--out", type=pathlib.Path, metavar="FILE", help="write the checklist to FILE"
    )


def run(args: argparse.Namespace) -> int:
    """Scans both trees and prints the checklist."""
    tree, rules = options.open_tree(args)
    new_tree = Tree(options.working_path(args.new_tree))
    text = checklist(
        compare(scan.scan(tree, rules, args.jobs), scan.scan(new_tree, rules, args.jobs))
    )
    if args.out:
        output.write_text(options.working_path(args.out), text)
    else:
        print(text, end="")
    return 0
