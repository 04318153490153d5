"""decouple scan: the inventory of a tree."""

from __future__ import annotations

import argparse
import collections
import pathlib

from decouple import output
from decouple.commands import options
from decouple.model import Inventory, Kind

HELP = "find all code of a device, and say which rule found it"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the command's arguments."""
    options.add_tree(parser)
    parser.add_argument(
        "--json", type=pathlib.Path, metavar="FILE", help="write the inventory to FILE"
    )


def run(args: argparse.Namespace) -> int:
    """Scans the tree, writes the inventory and prints a summary."""
    inventory = options.scan_tree(args).inventory
    if args.json:
        output.write_text(options.working_path(args.json), inventory.to_json())
    print(summary(inventory))
    options.print_gaps(inventory.gaps)
    return 0


def summary(inventory: Inventory) -> str:
    """The inventory in a page of text: how many findings each rule has, and each module."""
    lines = [
        (
            f"PyTorch {inventory.version}, {inventory.device}: {inventory.files} files, "
            f"{len(inventory.findings)} findings, {len(inventory.units)} translation units"
        ),
    ]
    for kind in Kind:
        chosen = [finding for finding in inventory.findings if finding.kind is kind]
        files = {finding.path for finding in chosen}
        lines += ["", f"{kind.value}: {len(chosen)} in {len(files)} files"]
        rules = collections.Counter(finding.rule for finding in chosen)
        lines += [f"  {count:6} {rule}" for rule, count in sorted(rules.items())]
    lines += ["", "findings and files by module:"]
    modules: dict[str, set[str]] = {}
    counts: collections.Counter[str] = collections.Counter()
    for finding in inventory.findings:
        module = module_of(finding.path)
        counts[module] += 1
        modules.setdefault(module, set()).add(finding.path)
    lines += [f"  {counts[name]:6} {len(modules[name]):5}  {name}" for name in sorted(modules)]
    return "\n".join(lines)


def module_of(path: str) -> str:
    """The part of the tree that a file belongs to: the folders that people talk about."""
    parts = path.split("/")[:-1]
    depth = {"torch": 3 if parts[1:2] == ["csrc"] else 2, "aten": 4, "c10": 2}
    return "/".join(parts[: depth.get(parts[0], 1)]) if parts else "."
