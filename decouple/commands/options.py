"""The arguments that commands share."""

from __future__ import annotations

import argparse
import os
import pathlib

from decouple.rules.load import Rules, load
from decouple.tree import Tree


def add_tree(parser: argparse.ArgumentParser) -> None:
    """Declares TREE, --rules, --device and --jobs."""
    parser.add_argument("tree", type=pathlib.Path, metavar="TREE", help="a PyTorch source tree")
    add_rules(parser)


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


def open_tree(args: argparse.Namespace) -> tuple[Tree, Rules]:
    """The tree and the rules that the arguments name.

    Raises:
        DecoupleError: there is no such tree, or no such rules.
    """
    rules = load(args.device, [working_path(file) for file in args.rules])
    return Tree(working_path(args.tree)), rules
