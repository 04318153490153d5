"""What the page shows: files with their sizes, modules with the arrows between them, sites with their code."""

from __future__ import annotations

import collections
from collections.abc import Mapping
from typing import Any

from decouple.model import Finding, Inventory, Kind
from decouple.plan.packages import layer_of, layers
from decouple.plan.plan import Action, Plan
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

    Raises:
        DecoupleError: a file cannot be read.
    """
    packages = {
        entry.path: entry.package or _SHARED
        for entry in plan.placements
        if entry.action is not Action.STAY
    }
    return {
        "version": inventory.version,
        "device": inventory.device,
        "files": inventory.files,
        "units": len(inventory.units),
        "findings": dict(collections.Counter(f.kind.value for f in inventory.findings)),
        "blocks": _blocks(inventory, packages),
        "layers": _layer_ranks(),
        "arrows": _arrows(inventory, plan),
        "sites": _sites(tree, inventory, packages),
    }


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


def _layer_ranks() -> dict[str, int]:
    """How high each layer is: one above the highest that it may depend on."""
    ranks: dict[str, int] = {}
    below = layers()
    while len(ranks) < len(below):
        for layer, allowed in below.items():
            if layer not in ranks and allowed <= ranks.keys():
                ranks[layer] = max((ranks[other] + 1 for other in allowed), default=0)
    return ranks


def _arrows(inventory: Inventory, plan: Plan) -> list[dict[str, Any]]:
    """Includes from one module's files to another's."""
    packages = {
        entry.path: entry.package
        for entry in plan.placements
        if entry.action is Action.MOVE and entry.package
    }
    allowed = layers()
    found: dict[tuple[str, str], list[str]] = {}
    for path, targets in inventory.includes.items():
        source = packages.get(path)
        for target_path in targets:
            target = packages.get(target_path)
            if source and target and source != target:
                found.setdefault((source, target), []).append(f"{path} includes {target_path}")
    arrows = []
    for (source, target), includes in sorted(found.items()):
        above, below = layer_of(source), layer_of(target)
        arrows.append(
            {
                "from": source,
                "to": target,
                "count": len(includes),
                "up": above != below and below not in allowed.get(above, frozenset()),
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
