"""Scans a tree: every piece of a device's code, and the rule that found it."""

from __future__ import annotations

import posixpath
from collections.abc import Mapping

from decouple import parse
from decouple.cpp import includes
from decouple.gaps import Gap
from decouple.lists import cmake, starlark
from decouple.model import Finding, Inventory, Kind, Unit
from decouple.rules.load import Rules
from decouple.tree import Tree

FILELISTS = "build_variables.bzl"
_WRITTEN = "/generated/"
_UNIT_SUFFIXES = frozenset({".c", ".cc", ".cpp", ".cu", ".cxx", ".hip", ".m", ".mm"})
LIST_RULE = "list"
SHARED_RULE = "shared-name"
INCLUDE_RULE = "include"
SUPPLEMENT_RULE = "supplement"


def scan(tree: Tree, rules: Rules, jobs: int = 2) -> Inventory:
    """The inventory of a tree.

    Args:
        tree: the tree.
        rules: the device's rules.
        jobs: processes that parse files; 1 parses in this one.

    Returns:
        What was found; what cannot be read is reported to the tree's gaps, and is in it too.
    """
    skipped = tuple(f"{folder}/" for folder in rules.skip)
    # What a link leads to is scanned where it is.
    files = [path for path in tree.files if path not in tree.links and not path.startswith(skipped)]
    version = tree.version
    tree.report_links(skipped)
    units, lists, cpu_units = _build(tree, rules)
    parsed = parse.parse_all(tree, rules, files, jobs)
    known = frozenset(files)
    resolver = includes.Resolver(known.__contains__, rules.include_roots, rules.generated)
    every, for_cpu = _graphs(parsed, resolver)
    cpu = includes.reach(cpu_units, for_cpu)

    whole = _whole_files(files, rules, lists, cpu)
    shared = {path: finding for path, finding in whole.items() if finding.kind is Kind.INTRA_FILE}
    findings = [finding for path, finding in whole.items() if path not in shared]
    device = {finding.path for finding in findings}
    for path, finding in shared.items():
        last = parsed[path].lines if path in parsed else 0
        findings.append(
            Finding(path, 1, last, finding.rule, finding.kind, finding.detail, finding.symbol)
        )
        findings += parse.lines_of(tree, rules, path)
    for path, result in parsed.items():
        if path not in device:
            findings += result.findings
    reached = includes.reach(device & parsed.keys(), every)
    findings += _supplements(tree, rules, device, reached)
    sizes = _sizes(tree, parsed, findings)
    return Inventory(
        version=version,
        device=rules.device,
        root_name=tree.root.name,
        files=len(files),
        findings=tuple(sorted(findings)),
        units=tuple(sorted(units)),
        includes={path: every[path] for path in sorted(reached) if every.get(path)},
        sizes=sizes,
        gaps=tree.gaps.all(),
    )


def _build(
    tree: Tree, rules: Rules
) -> tuple[list[Unit], dict[str, tuple[str, ...]], frozenset[str]]:
    """Upstream's build: the device's units, what its lists name, and the units of the CPU build."""
    lists_of_files = filelists(tree)
    with_device = cmake.configure(
        tree,
        rules.cmake_files,
        {**rules.definitions, **rules.device_definitions},
        lists_of_files,
        rules.optional,
    )
    without = cmake.configure(
        tree, rules.cmake_files, rules.definitions, lists_of_files, rules.optional
    )
    cpu = without.sources()
    named: dict[str, set[str]] = {}
    for name, paths in lists_of_files.items():
        if any(pattern.fullmatch(name) for pattern in rules.lists):
            for path in paths:
                if path not in cpu and tree.has(path):
                    named.setdefault(path, set()).add(name)
    for path in with_device.sources() - cpu:
        named.setdefault(path, set()).update(with_device.lists.get(path, ()))
    lists = {path: tuple(sorted(names)) for path, names in named.items()}
    units = [
        Unit(path, lists[path])
        for path in with_device.sources() - cpu
        if posixpath.splitext(path)[1] in _UNIT_SUFFIXES
    ]
    return units, lists, cpu


def filelists(tree: Tree) -> dict[str, tuple[str, ...]]:
    """The lists of build_variables.bzl; a file of one that the tree lacks is reported."""
    if not tree.has(FILELISTS):
        # The tree has said so.
        return {}
    found = starlark.lists(tree, FILELISTS)
    lines = tree.read_text(FILELISTS).split("\n")
    for name, paths in found.items():
        # What the build writes is not there yet, and what is no path is about something else.
        lost = [
            path
            for path in paths
            if "/" in path
            and posixpath.splitext(path)[1] in _UNIT_SUFFIXES
            and not tree.has(path)
            and _WRITTEN not in f"/{path}"
        ]
        if lost:
            line = next((n for n, text in enumerate(lines, 1) if lost[0] in text), 0)
            problem = f"{name} names {len(lost)} files that are not in the tree, '{lost[0]}' first"
            tree.gaps.add(Gap(FILELISTS, line, problem, "these files", (name,)))
    return found


def _graphs(
    parsed: Mapping[str, parse.Parsed], resolver: includes.Resolver
) -> tuple[dict[str, tuple[str, ...]], dict[str, tuple[str, ...]]]:
    """The include graph, and the one that is left without the device."""
    every: dict[str, tuple[str, ...]] = {}
    for_cpu: dict[str, tuple[str, ...]] = {}
    for path, result in parsed.items():
        targets: dict[str, bool] = {}
        for name, quoted, device_only in result.includes:
            for target in resolver.files(path, name, quoted):
                targets[target] = targets.get(target, False) or not device_only
        every[path] = tuple(sorted(targets))
        for_cpu[path] = tuple(sorted(target for target, plain in targets.items() if plain))
    return every, for_cpu


def _whole_files(
    files: list[str],
    rules: Rules,
    lists: Mapping[str, tuple[str, ...]],
    cpu: Mapping[str, str],
) -> dict[str, Finding]:
    """Files that are the device's as a whole, and those that only look so, by path."""
    found: dict[str, Finding] = {}
    for path in files:
        own = () if rules.is_foreign(path) else rules.files
        matches = [(rule.id, detail) for rule in own if (detail := rule.match(path))]
        if path in lists:
            matches.insert(0, (f"{rules.device}-{LIST_RULE}", f"list {', '.join(lists[path])}"))
        elif matches and path in cpu:
            through = f"included by {cpu[path]}" if cpu[path] else "a unit of the CPU build"
            found[path] = Finding(
                path,
                0,
                0,
                f"{rules.device}-{SHARED_RULE}",
                Kind.INTRA_FILE,
                f"{matches[0][1]}, but the CPU build has it: {through}",
            )
            continue
        if matches:
            rule, _ = matches[0]
            detail = "; ".join(detail for _, detail in matches)
            found[path] = Finding(path, 0, 0, rule, Kind.INTER_FILE, detail)
    return found


def _supplements(
    tree: Tree, rules: Rules, device: set[str], reached: Mapping[str, str]
) -> list[Finding]:
    """Files that the device's files need and that are not the device's."""
    found = {
        path: Finding(
            path,
            0,
            0,
            f"{rules.device}-{INCLUDE_RULE}",
            Kind.SUPPLEMENT,
            f"included by {includer}",
        )
        for path, includer in reached.items()
        if includer and path not in device
    }
    for supplement in rules.supplements:
        if tree.has(supplement.path) and supplement.path not in device:
            found[supplement.path] = Finding(
                supplement.path,
                0,
                0,
                f"{rules.device}-{SUPPLEMENT_RULE}",
                Kind.SUPPLEMENT,
                supplement.reason,
            )
    return list(found.values())


def _sizes(
    tree: Tree, parsed: Mapping[str, parse.Parsed], findings: list[Finding]
) -> dict[str, int]:
    """The lines of each file with a finding."""
    sizes = {}
    for path in sorted({finding.path for finding in findings}):
        if path in parsed:
            sizes[path] = parsed[path].lines
        else:
            content = tree.read_bytes(path)
            sizes[path] = content.count(b"\n") + (not content.endswith(b"\n") and content != b"")
    return sizes
