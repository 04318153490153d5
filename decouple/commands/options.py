"""The arguments that commands share."""

from __future__ import annotations

import argparse
import dataclasses
import os
import pathlib
from collections.abc import Sequence

from decouple import scan
from decouple.gaps import Gap, Gaps, summary
from decouple.model import Inventory
from decouple.plan.owners import NOBODY, Owners, read
from decouple.rules.load import Rules, load
from decouple.tree import Tree

OWNERS_VARIABLE = "DECOUPLE_OWNERS"
"""The variable that names the file of owners where --owners does not."""


@dataclasses.dataclass(frozen=True, slots=True)
class Scanned:
    """A tree, and what was found in it by which rules."""

    tree: Tree
    rules: Rules
    inventory: Inventory


def add_tree(parser: argparse.ArgumentParser) -> None:
    """Declares TREE, --strict, --rules, --device and --jobs."""
    parser.add_argument("tree", type=pathlib.Path, metavar="TREE", help="a PyTorch source tree")
    parser.add_argument(
        "--strict", action="store_true", help="what cannot be read is an error, with status 2"
    )
    add_rules(parser)


def add_owners(parser: argparse.ArgumentParser) -> None:
    """Declares --owners."""
    parser.add_argument(
        "--owners",
        type=pathlib.Path,
        metavar="FILE",
        help=f"Starlark file that says which package owns what (default: ${OWNERS_VARIABLE})",
    )


def add_rules(parser: argparse.ArgumentParser) -> None:
    """Declares --rules, --device and --jobs."""
    parser.add_argument(
        "--rules",
        type=pathlib.Path,
        action="append",
        default=[],
        metavar="FILE",
        help="YAML file with more rules; may be repeated",
    )
    parser.add_argument("--device", default="cuda", help="whose code to find (default: cuda)")
    parser.add_argument(
        "--jobs",
        type=_positive,
        default=min(os.cpu_count() or 1, 8),
        help="processes that parse files (default: one for each processor)",
    )


def _positive(text: str) -> int:
    """A number of processes; argparse says what is wrong with others."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text} is no number of processes; give 1 or more")
    return int(text)


def working_path(path: pathlib.Path) -> pathlib.Path:
    """A path as the user meant it: `bazel run` starts programs in a folder of its own."""
    return pathlib.Path(os.environ.get("BUILD_WORKING_DIRECTORY", "."), path)


def scan_tree(args: argparse.Namespace, root: pathlib.Path | None = None) -> Scanned:
    """Scans a tree.

    Args:
        args: the arguments.
        root: the tree, where it is not TREE.

    Raises:
        DecoupleError: there is no such tree, or no such rules; or something cannot be read and --strict is given.
    """
    rules = load(args.device, [working_path(file) for file in args.rules])
    tree = Tree(working_path(root or args.tree), Gaps(strict=args.strict))
    return Scanned(tree, rules, scan.scan(tree, rules, args.jobs))


def owners(args: argparse.Namespace) -> Owners:
    """Who owns what, as --owners or the environment says; nobody where neither does.

    Raises:
        DecoupleError: the file cannot be read, or does not say it.
    """
    if args.owners:
        return read(working_path(args.owners))
    # Set by a build, and relative to where that starts the program.
    file = os.environ.get(OWNERS_VARIABLE)
    return read(pathlib.Path(file)) if file else NOBODY


def print_gaps(gaps: Sequence[Gap], version: str = "") -> None:
    """Prints what could not be read, if anything, at the end of a command's output."""
    if gaps:
        print(f"\n{version and f'{version}: '}{summary(gaps)}")
