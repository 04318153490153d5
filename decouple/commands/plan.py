"""decouple plan: where each finding goes, in the RFC's directories and in the packages of those who own it."""

from __future__ import annotations

import argparse
import collections
import pathlib

from decouple import output
from decouple.commands import options
from decouple.plan.plan import Action, Plan, make_plan

HELP = "say where each piece of a device's code goes"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the command's arguments."""
    options.add_tree(parser)
    options.add_owners(parser)
    parser.add_argument("--json", type=pathlib.Path, metavar="FILE", help="write the plan to FILE")
    parser.add_argument("--all", action="store_true", help="print every finding, not a summary")


def run(args: argparse.Namespace) -> int:
    """Scans the tree, writes the plan and prints it."""
    inventory = options.scan_tree(args).inventory
    plan = make_plan(inventory, options.owners(args))
    if args.json:
        output.write_text(options.working_path(args.json), plan.to_json())
    print(listing(plan) if args.all else summary(plan))
    options.print_gaps(plan.gaps)
    return 0


def listing(plan: Plan) -> str:
    """Every placement, a line each: place, action, package, destination and reason."""
    lines = []
    for entry in plan.placements:
        place = f"{entry.path}:{entry.first_line}" if entry.first_line else entry.path
        where = entry.destination if entry.action is not Action.STAY else "-"
        lines.append(f"{entry.action:5} {place}\t{entry.package or '-'}\t{where}\t{entry.reason}")
    return "\n".join(lines)


def summary(plan: Plan) -> str:
    """How much goes where."""
    lines = []
    for action in Action:
        chosen = [entry for entry in plan.placements if entry.action is action]
        lines.append(f"{action}: {len(chosen)} findings in {len({e.path for e in chosen})} files")
        if action is Action.STAY:
            reasons = collections.Counter(entry.reason for entry in chosen)
            lines += [f"  {count:6} {reason}" for reason, count in reasons.most_common()]
            continue
        folders = collections.Counter(_folder(entry.destination) for entry in chosen)
        lines += [f"  {count:6} {folder}" for folder, count in sorted(folders.items())]
    if not plan.owners.given:
        lines += ["", "by package: no owners given; --owners FILE says who owns what"]
        return "\n".join(lines)
    lines += ["", "by package:"]
    packages = collections.Counter(
        entry.package for entry in plan.placements if entry.action is not Action.STAY
    )
    lines += [f"  {count:6} //{package}" for package, count in sorted(packages.items())]
    return "\n".join(lines)


def _folder(destination: str) -> str:
    """The folder of the RFC that a destination is in: csrc's folders count, not csrc."""
    parts = destination.split("/")
    depth = 5 if parts[3:4] == ["csrc"] else 4
    return "/".join(parts[:depth])
