"""What the page shows: files with their sizes, modules with the arrows between them, sites with their code."""

from __future__ import annotations

import collections
from collections.abc import Mapping
from typing import Any

from decouple.model import Finding, Inventory, Kind
from decouple.plan.layout import rfc_layout
from decouple.plan.owners import Owners
from decouple.plan.plan import Action, Placement, Plan
from decouple.tree import Tree

_CONTEXT = 2  # lines around a site
_LONGEST_SITE = 40  # lines of a site that are shown
_EXAMPLES = 8  # includes shown for an arrow
_SHARED = "stays in torch"


def page_data(tree: Tree, inventory: Inventory, plan: Plan) -> dict[str, Any]:
    """Everything that the page's script needs.

    Args:
        tree: the tree, for the code of sites.
        inventory: what was found in it.
        plan: where it goes.
    """
    packages = {
        entry.path: _module(entry, plan.owners) or _SHARED
        for entry in plan.placements
        if entry.action is not Action.STAY
    }
    sites = _sites(tree, inventory, packages)
    return {
        "version": inventory.version,
        "device": inventory.device,
        "files": inventory.files,
        "units": len(inventory.units),
        "findings": dict(collections.Counter(f.kind.value for f in inventory.findings)),
        "blocks": _blocks(inventory, packages),
        "layers": _layer_ranks(plan.owners),
        "arrows": _arrows(inventory, plan),
        "sites": sites,
        "gaps": [str(gap) for gap in tree.gaps.all()],
    }


def _module(entry: Placement, owners: Owners) -> str:
    """The module of a piece of code: the package that owns it, or the RFC's part where owners were not given."""
    return entry.package if owners.given else rfc_layout().module(entry.destination)


def _blocks(inventory: Inventory, packages: Mapping[str, str]) -> list[dict[str, Any]]:
    """One block of the treemap for each file: its module, rule, kind and lines of the device's code."""
    lines: dict[tuple[str, Kind], int] = collections.Counter()
    rules: dict[tuple[str, Kind], collections.Counter[str]] = {}
    for finding in inventory.findings:
        if finding.kind is Kind.SUPPLEMENT:
            continue
        key = (finding.path, finding.kind)
        size = inventory.sizes.get(finding.path, 0)
        lines[key] += size if finding.whole_file else finding.last_line - finding.first_line + 1
        rules.setdefault(key, collections.Counter())[finding.rule] += 1
    return [
        {
            "path": path,
            "module": packages.get(path, _module_outside(path)),
            "kind": kind.value,
            "rule": rules[path, kind].most_common(1)[0][0],
            "lines": count,
        }
        for (path, kind), count in sorted(lines.items())
        if count
    ]


def _module_outside(path: str) -> str:
    """Where a file is that no package supplies."""
    folder = path.partition("/")[0]
    return _SHARED if folder in ("aten", "c10", "caffe2", "torch") else f"{folder} (stays)"


def _layer_ranks(owners: Owners) -> dict[str, int]:
    """How high each layer is: one above the highest that it may depend on."""
    ranks: dict[str, int] = {}
    waiting = dict(owners.layers)
    while waiting:
        ready = [layer for layer, below in waiting.items() if not below & waiting.keys()]
        # Layers in a circle are on one height.
        for layer in ready or list(waiting):
            below = waiting.pop(layer)
            ranks[layer] = max((ranks[other] + 1 for other in below if other in ranks), default=0)
    return ranks


def _arrows(inventory: Inventory, plan: Plan) -> list[dict[str, Any]]:
    """Includes from one module's files to another's."""
    packages = {
        entry.path: module
        for entry in plan.placements
        if entry.action is Action.MOVE and (module := _module(entry, plan.owners))
    }
    owners = plan.owners
    found: dict[tuple[str, str], list[str]] = {}
    for path, targets in inventory.includes.items():
        source = packages.get(path)
        for target_path in targets:
            target = packages.get(target_path)
            if source and target and source != target:
                found.setdefault((source, target), []).append(f"{path} includes {target_path}")
    arrows = []
    for (source, target), includes in sorted(found.items()):
        above, below = owners.layer_of(source), owners.layer_of(target)
        arrows.append(
            {
                "from": source,
                "to": target,
                "count": len(includes),
                "up": above != below and below not in owners.layers.get(above, ()),
                "examples": sorted(includes)[:_EXAMPLES],
            }
        )
    return arrows


def _sites(tree: Tree, inventory: Inventory, packages: Mapping[str, str]) -> list[dict[str, Any]]:
    """Each intra-file site with its code."""
    by_path: dict[str, list[Finding]] = {}
    for finding in inventory.findings:
        if finding.kind is Kind.INTRA_FILE and not finding.rule.endswith("-shared-name"):
            by_path.setdefault(finding.path, []).append(finding)
    sites = []
    for path, findings in sorted(by_path.items()):
        lines = tree.read_text(path).split("\n")
        for finding in findings:
            first = max(finding.first_line - _CONTEXT, 1)
            last = min(finding.last_line + _CONTEXT, len(lines), first + _LONGEST_SITE)
            sites.append(
                {
                    "path": path,
                    "line": finding.first_line,
                    "last": finding.last_line,
                    "rule": finding.rule,
                    "module": packages.get(path, _module_outside(path)),
                    "detail": finding.detail,
                    "symbol": finding.symbol,
                    "start": first,
                    "code": "\n".join(lines[first - 1 : last]),
                }
            )
    return sites
