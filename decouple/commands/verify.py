"""decouple verify: every unit is owned by one package, every site is documented, nothing has disappeared."""

from __future__ import annotations

import argparse
import pathlib

from decouple import scan
from decouple.commands import options
from decouple.errors import DecoupleError
from decouple.plan.plan import make_plan
from decouple.tree import decode
from decouple.verify import ownership, sites

HELP = "prove that the Bazel packages and docs/coverage/intra-file.md cover all of it"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the command's arguments."""
    options.add_tree(parser)
    options.add_owners(parser)
    parser.add_argument(
        "--workspace",
        type=pathlib.Path,
        default=pathlib.Path(),
        metavar="DIR",
        help="this repository (default: the current folder)",
    )
    parser.add_argument(
        "--query",
        type=pathlib.Path,
        metavar="FILE",
        help="answer of bazel query --output=xml, instead of running it",
    )
    parser.add_argument(
        "--sites",
        type=pathlib.Path,
        metavar="FILE",
        help="the document of intra-file sites (default: docs/coverage/intra-file.md of the workspace)",
    )


def run(args: argparse.Namespace) -> int:
    """Scans the tree and holds it against the repository.

    Returns:
        0; 1 where something is not covered, which is printed.
    """
    workspace = options.working_path(args.workspace)
    owners = options.owners(args)
    if not owners.given:
        raise DecoupleError(
            "verify holds a tree against those who own it, and no owners are given; "
            "name the file that says who owns what with --owners."
        )
    document = options.working_path(args.sites or workspace / "docs" / "coverage" / "intra-file.md")
    text = _read(document)
    scanned = options.scan_tree(args)
    tree, rules, inventory = scanned.tree, scanned.rules, scanned.inventory
    planned = {entry.path: entry.package for entry in make_plan(inventory, owners).placements}
    if args.query:
        answer = _read(options.working_path(args.query))
    else:
        packages = {planned.get(unit.path, "") for unit in inventory.units}
        answer = ownership.query(workspace, {owners.layer_of(package) for package in packages})
    owned = ownership.owners(answer, str(args.query or "bazel query"))
    listed = frozenset(
        path
        for name, paths in scan.filelists(tree).items()
        if any(pattern.fullmatch(name) for pattern in rules.lists)
        for path in paths
    )
    rows = sites.listed(text, tree)
    guards = sites.guards(tree, rules, rows)
    found = ownership.problems(inventory, owned, planned, listed)
    found += sites.problems(guards, rows, tree)
    for problem in found:
        print(problem)
    guarded = sum(len(lines) for lines in guards.values())
    print(
        f"PyTorch {inventory.version}: {len(inventory.units)} translation units, "
        f"{len(owned)} files compiled by {len({p for ps in owned.values() for p in ps})} packages, "
        f"{guarded} guards in {len(guards)} files: "
        + (f"{len(found)} problems" if found else "all covered")
    )
    options.print_gaps(tree.gaps.all())
    return 1 if found else 0


def _read(path: pathlib.Path) -> str:
    try:
        return decode(path.read_bytes(), str(path))
    except OSError as error:
        raise DecoupleError(f"cannot be read: {error.strerror}.", path=str(path)) from None
