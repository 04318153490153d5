"""Parses the sources of a tree, in several processes where that pays."""

from __future__ import annotations

import concurrent.futures
import dataclasses
import gc
import multiprocessing
import posixpath
import re
import signal
from collections.abc import Sequence

from decouple.cpp import directives, includes, markers, regions, scopes
from decouple.cpp.conditions import Macros
from decouple.cpp.regions import Region, Side
from decouple.errors import DecoupleError
from decouple.gaps import Gap, Gaps
from decouple.lists import cmake_finder
from decouple.model import Finding, Kind
from decouple.python_code import finder
from decouple.rules.load import Rules
from decouple.tree import Tree, decode

CPP_SUFFIXES = frozenset(
    {".c", ".cc", ".cpp", ".cxx", ".cu", ".cuh", ".h", ".hh", ".hpp", ".inl", ".mm", ".m", ".hip"}
    | {".metal"}
)
PYTHON_SUFFIXES = frozenset({".py", ".pyi"})
CMAKE_SUFFIXES = frozenset({".cmake"})
_CMAKE_NAME = "CMakeLists.txt"
# Below this many files another process costs more than it saves.
_FEW = 200
# The lines of #if and #elif, with those that continue them.
_CONDITION = re.compile(rb"^[ \t]*#[ \t]*(?:el)?if[^\n]*(?:\\\r?\n[^\n]*)*", re.MULTILINE)
# The beginning and the end of every conditional.
_CONDITIONAL_END = re.compile(rb"^[ \t]*(?:#|%:)[ \t]*(if|endif)", re.MULTILINE)
_CHUNKS_PER_JOB = 8


@dataclasses.dataclass(frozen=True, slots=True)
class Parsed:
    """What is known about one source."""

    lines: int
    findings: tuple[Finding, ...]
    includes: tuple[tuple[str, bool, bool], ...]
    """Each #include: its name, whether it stands in quotes, whether it is there for a device only."""
    gaps: tuple[Gap, ...] = ()
    """What could not be read."""


def parse_all(tree: Tree, rules: Rules, files: Sequence[str], jobs: int) -> dict[str, Parsed]:
    """Parses the C++, Python and CMake sources among some files.

    Files that are the device's by their name are not searched for lines: `lines_of` does that for those that
    turn out not to be.

    Args:
        tree: the tree.
        rules: the device's rules.
        files: paths of the tree.
        jobs: processes at the same time.

    Returns:
        The result for each source, in the order of the paths. What cannot be read is reported to the tree's gaps.
    """
    sources = [path for path in files if _is_source(path)]
    found = _parse_sources(tree, rules, sources, jobs)
    for path in sources:
        for gap in found[path].gaps:
            tree.gaps.add(gap)
    return {path: found[path] for path in sources}


def _parse_sources(
    tree: Tree, rules: Rules, sources: Sequence[str], jobs: int
) -> dict[str, Parsed]:
    if jobs < 2 or len(sources) < _FEW:
        worker = _Worker(tree, rules)
        return {path: worker.parse(path) for path in sources}
    # Taking every n-th file spreads the big ones over the chunks.
    count = jobs * _CHUNKS_PER_JOB
    chunks = [sources[start::count] for start in range(count)]
    found: dict[str, Parsed] = {}
    pool = concurrent.futures.ProcessPoolExecutor(
        jobs,
        mp_context=multiprocessing.get_context("fork"),
        initializer=_start,
        initargs=(tree, rules),
    )
    try:
        for future in [pool.submit(_parse_chunk, chunk) for chunk in chunks]:
            found.update(future.result())
    except KeyboardInterrupt:
        # Nobody waits for what they are about to say, and nothing is cancelled: the pool's own thread trips over that.
        for process in multiprocessing.active_children():
            process.kill()
        raise
    except concurrent.futures.process.BrokenProcessPool:
        raise DecoupleError(
            "a process that parses files ended early: is there too little memory? Try --jobs 1."
        ) from None
    pool.shutdown()
    return found


def lines_of(tree: Tree, rules: Rules, path: str) -> tuple[Finding, ...]:
    """The findings in a source, whatever its name; none where it is no source."""
    if not _is_source(path):
        return ()
    found = _Worker(tree, rules).parse(path, whatever_its_name=True)
    for gap in found.gaps:
        tree.gaps.add(gap)
    return found.findings


def _is_source(path: str) -> bool:
    suffix = posixpath.splitext(path)[1]
    return suffix in CPP_SUFFIXES | PYTHON_SUFFIXES or _is_cmake(path)


def _is_cmake(path: str) -> bool:
    return path.endswith(tuple(CMAKE_SUFFIXES)) or posixpath.basename(path) == _CMAKE_NAME


_worker: _Worker | None = None


def _start(tree: Tree, rules: Rules) -> None:
    global _worker
    # Ctrl-C reaches all processes of a terminal; the one that started this says so.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    # Syntax trees have no cycles worth looking for, and many nodes.
    gc.disable()
    _worker = _Worker(tree, rules)


def _parse_chunk(paths: Sequence[str]) -> dict[str, Parsed]:
    """Parses some files in a worker."""
    if _worker is None:
        raise RuntimeError("the worker was not started")
    return {path: _worker.parse(path) for path in paths}


class _Worker:
    """Parses files by the rules."""

    def __init__(self, tree: Tree, rules: Rules) -> None:
        self._tree = tree
        self._rules = rules
        self._gaps = Gaps()
        self._words = tuple(word.encode() for word in rules.words)
        # Other devices' code is not the CPU's either.
        self._not_cpu = Macros(
            rules.macros.names | rules.compiler_macros.names | rules.foreign_macros.names,
            rules.macros.calls,
        )
        names = self._not_cpu.names | self._not_cpu.calls
        self._macro = re.compile(b"|".join(name.encode() for name in sorted(names)))

    def parse(self, path: str, *, whatever_its_name: bool = False) -> Parsed:
        """What is known about a source."""
        self._gaps = Gaps()
        parsed = self._parse(path, whatever_its_name)
        return dataclasses.replace(parsed, gaps=self._gaps.all())

    def _parse(self, path: str, whatever_its_name: bool) -> Parsed:
        content = self._tree.reporting_to(self._gaps).read_bytes(path)
        text = decode(content, path, self._gaps)
        lines = content.count(b"\n") + (not content.endswith(b"\n") and content != b"")
        whole = not whatever_its_name and any(rule.match(path) for rule in self._rules.files)
        findings = () if whole else self._findings(path, content, text)
        if posixpath.splitext(path)[1] in PYTHON_SUFFIXES or _is_cmake(path):
            return Parsed(lines, findings, ())
        ends = _CONDITIONAL_END.findall(content)
        if 2 * ends.count(b"endif") != len(ends):
            # Either not balanced, which this says, or some stand in comments and strings.
            self._check_balance(path, text)
        named = includes.named(content)
        # Only conditionals can be about a device; most files have none that are.
        device_lines = (
            self._device_lines(path, text) if named and self._conditional(content) else []
        )
        listed = tuple(
            (name, quoted, any(first <= line <= last for first, last in device_lines))
            for line, name, quoted in named
        )
        return Parsed(lines, findings, listed)

    def _check_balance(self, path: str, text: str) -> None:
        try:
            directives.conditionals(text, path)
        except DecoupleError as error:
            self._gaps.add(Gap.of(error, "the conditionals of the file", (path,)))

    def _findings(self, path: str, content: bytes, text: str) -> tuple[Finding, ...]:
        lowered = content.lower()
        if not any(word in lowered for word in self._words) or self._rules.is_foreign(path):
            return ()
        if posixpath.splitext(path)[1] in PYTHON_SUFFIXES:
            return tuple(self._python(path, text))
        return tuple(self._cmake(path, text) if _is_cmake(path) else self._cpp(path, text))

    def _conditional(self, content: bytes) -> bool:
        return any(self._macro.search(line) for line in _CONDITION.findall(content))

    def _device_lines(self, path: str, text: str) -> list[tuple[int, int]]:
        """The lines that are gone without any device."""
        return [
            (branch.first_line, branch.last_line)
            for region in regions.device_regions(text, self._not_cpu, path, self._gaps)
            for branch in region.device_branches
        ]

    def _python(self, path: str, text: str) -> list[Finding]:
        places = finder.find(text, self._rules.python, self._rules.words, path, self._gaps)
        return [
            Finding(
                path,
                place.first_line,
                place.last_line,
                place.rule,
                Kind.INTRA_FILE,
                place.text,
                place.symbol,
            )
            for place in places
        ]

    def _cmake(self, path: str, text: str) -> list[Finding]:
        places = cmake_finder.find(
            text, self._rules.cmake, self._rules.macros.names, path, self._gaps
        )
        return [
            Finding(
                path,
                place.first_line,
                place.last_line,
                place.rule or f"{self._rules.device}-cmake-guard",
                Kind.INTRA_FILE,
                place.text,
            )
            for place in places
        ]

    def _cpp(self, path: str, text: str) -> list[Finding]:
        device = self._rules.device
        found = self._guards(path, text, self._rules.macros, f"{device}-guard")
        covered = [
            (finding.first_line, finding.last_line)
            for finding in found
            if finding.rule == f"{device}-guard"
        ]
        found += self._guards(path, text, self._rules.compiler_macros, f"{device}-compiler-guard")
        # What a condition names is said by the finding of its region.
        conditions = {finding.first_line for finding in found}
        found += [
            Finding(
                path, marker.first_line, marker.last_line, marker.rule, Kind.INTRA_FILE, marker.text
            )
            for marker in markers.find(text, self._rules.cpp)
            if marker.first_line not in conditions
            and not any(first <= marker.first_line <= last for first, last in covered)
        ]
        if not found:
            return []
        around = scopes.Scopes(text)
        return [
            dataclasses.replace(finding, symbol=around.at(finding.first_line)) for finding in found
        ]

    def _guards(self, path: str, text: str, macros: Macros, rule: str) -> list[Finding]:
        """The branches of conditionals on some macros."""
        if not any(name in text for name in macros.names | macros.calls):
            return []
        return [
            finding
            for region in regions.device_regions(text, macros, path, self._gaps)
            for finding in _branches(path, region, rule)
        ]


def _branches(path: str, region: Region, rule: str) -> list[Finding]:
    """A finding for each branch of a region, from its directive to the last line before the next one."""
    found = []
    for number, branch in enumerate(region.branches):
        condition = f"#{branch.keyword} {branch.condition}".strip()
        if branch.side is Side.DEVICE:
            name, detail = rule, condition
        elif branch.side is Side.CPU:
            name, detail = f"{rule}-without", f"only without the device: {condition}"
        elif number == 0 or branch.keyword != "else":
            name, detail = f"{rule}-shared", f"with and without the device: {condition}"
        else:
            continue
        if branch.keyword == "else":
            detail += f" of #{region.branches[0].keyword} {region.branches[0].condition}"
        found.append(
            Finding(
                path,
                branch.directive_first_line,
                max(branch.last_line, branch.directive_last_line),
                name,
                Kind.INTRA_FILE,
                detail,
            )
        )
    return found
