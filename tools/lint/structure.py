"""What files are to each other: how many share a folder, who includes or imports whom, and which they name.

Arrows point down only (docs/architecture.md): neither files nor folders of C++ include each other in
a circle, and no Python modules import each other in one, not even inside a function. A folder holds
few enough files to be taken in at a glance.
"""

from __future__ import annotations

import ast
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from pathlib import PurePath

from tools.lint import workspace

MAX_FILES = 25
# Limits by number are hints: they ask whether a file or a folder has one concept, and a person may answer.
OVERRULE = "Split it, or say why it is one in tools/lint/exceptions.toml"

_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]+"([^"]+)"', re.MULTILINE)

_COMMENT = re.compile(r"//(.*)")
_FILE = re.compile(r"(?<![\w@:/.<>\"$-])(?:[\w-]+/)*[\w-]+\.(?:bzl|cpp|cu|cuh|h|py)\b(?![(/])")
# Where paths in PyTorch's tree begin.
_UPSTREAM = ("aten", "c10", "torch")

Graph = Mapping[PurePath, Iterable[PurePath]]


def is_test(path: PurePath) -> bool:
    """Whether it is a test, which does not count among the files of a folder."""
    return path.stem.endswith("_test") or path.name == "conftest.py"


def full_folders(paths: Iterable[PurePath]) -> Iterator[tuple[PurePath, str]]:
    """The folders with too many files of their own, each with what is wrong with it."""
    count = Counter(path.parent for path in paths if not is_test(path))
    for folder, files in sorted(count.items()):
        if files > MAX_FILES:
            what = (
                f"{files} files besides tests, more than {MAX_FILES}: is it one concept? {OVERRULE}"
            )
            yield folder, what


def undescribed_folders(paths: Iterable[PurePath]) -> Iterator[tuple[PurePath, str]]:
    """The folders at the top without a README.md, each with what it has to say; hidden ones have none."""
    found = set(paths)
    tops = {PurePath(path.parts[0]) for path in found if len(path.parts) > 1}
    for folder in sorted(tops):
        if not folder.name.startswith(".") and folder / "README.md" not in found:
            yield folder, "no README.md: what lives here, what does not, which file first"


def misplaced_names(
    texts: Mapping[PurePath, str], paths: Iterable[PurePath]
) -> Iterator[tuple[PurePath, str]]:
    """The C++ files with a comment that names a file of the workspace at a place where it is not.

    A name counts from the folder of the comment's file, or from one above. Files that nowhere are may be somebody
    else's, such as cuda.h.

    Args:
        texts: the C++ files of the workspace.
        paths: all files of it.
    """
    known = set(paths)
    places: dict[str, list[PurePath]] = defaultdict(list)
    for path in sorted(known):
        places[path.name].append(path)
    for path, text in texts.items():
        for name in _FILE.findall("\n".join(_COMMENT.findall(text))):
            if name.split("/")[0] in _UPSTREAM and "/" in name:
                continue
            found = any(folder / name in known for folder in path.parents)
            if not found and PurePath(name).name in places:
                yield path, f"a comment names {name}; is it {places[PurePath(name).name][0]}?"


def circles(texts: Mapping[PurePath, str]) -> Iterator[tuple[PurePath, str]]:
    """The circles among files, each with its first file and the way round.

    Args:
        texts: the C++ and Python files of the workspace. Others are not looked at, and names that
            are none of these files are somebody else's.
    """
    included = includes(texts)
    yield from _told(included, "includes")
    yield from _told(_of_folders(included), "folders whose files include each other")
    yield from _told(imports(texts), "imports")


def includes(texts: Mapping[PurePath, str]) -> dict[PurePath, list[PurePath]]:
    """Which of the files each C++ file includes: by their path from the root, or beside it."""
    graph = {}
    for path, text in texts.items():
        if workspace.is_cpp(path):
            named = [PurePath(name) for name in _INCLUDE.findall(text)]
            places = ((name, path.parent / name) for name in named)
            graph[path] = [place for pair in places for place in pair if place in texts]
    return graph


def imports(texts: Mapping[PurePath, str]) -> dict[PurePath, list[PurePath]]:
    """Which of the files each Python file imports, wherever in it the import stands."""
    python = {path: text for path, text in texts.items() if path.suffix == ".py"}
    packages = {path.parent for path in python if path.name == "__init__.py"}
    modules = {name: path for path in python for name in _names(path, packages)}
    graph = {}
    for path, text in python.items():
        try:
            tree = ast.parse(text)
        except SyntaxError:
            continue  # ruff says where.
        found = (modules.get(name) for name in _imported(tree, path, packages, modules))
        # A package imports its modules as "from . import x" too; itself it does not import.
        graph[path] = [place for place in found if place is not None and place != path]
    return graph


def _package_root(path: PurePath, packages: set[PurePath]) -> PurePath:
    """The folder that has to be on Python's path for the file to be imported as in a wheel."""
    folder = path.parent
    while folder in packages and folder != folder.parent:
        folder = folder.parent
    return folder


def _names(path: PurePath, packages: set[PurePath]) -> Iterator[str]:
    """The names by which a file can be imported: from the root, and from the top of its package."""
    for root in (PurePath(), _package_root(path, packages)):
        parts = path.relative_to(root).with_suffix("").parts
        yield ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _imported(
    tree: ast.AST, path: PurePath, packages: set[PurePath], modules: Mapping[str, PurePath]
) -> Iterator[str]:
    """The modules that a file names in its imports."""
    here = path.relative_to(_package_root(path, packages)).parent.parts
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = here[: len(here) - node.level + 1] if node.level else ()
            base = ".".join([*above, *([node.module] if node.module else [])])
            for alias in node.names:
                # A name is a module of the package, or something in its __init__.py.
                whole = f"{base}.{alias.name}"
                yield whole if whole in modules else base


def _of_folders(graph: Graph) -> dict[PurePath, list[PurePath]]:
    """The arrows between the folders of files; a test sits beside what it tests, whatever it uses."""
    folders: dict[PurePath, list[PurePath]] = defaultdict(list)
    for path, targets in graph.items():
        if not is_test(path):
            folders[path.parent] += [to.parent for to in targets if to.parent != path.parent]
    return folders


def _told(graph: Graph, kind: str) -> Iterator[tuple[PurePath, str]]:
    for circle in sorted(_circles(graph), key=min):
        way = " -> ".join(str(node) for node in _way_round(graph, circle))
        yield min(circle), f"a circle ({kind}): {way}"


def _circles(graph: Graph) -> list[set[PurePath]]:
    """The sets of nodes that all reach each other: Tarjan's strongly connected components."""
    index: dict[PurePath, int] = {}
    low: dict[PurePath, int] = {}
    stack: list[PurePath] = []
    found = []

    def visit(node: PurePath) -> None:
        index[node] = low[node] = len(index)
        stack.append(node)
        for target in graph.get(node, ()):
            if target not in index:
                visit(target)
                low[node] = min(low[node], low[target])
            elif target in stack:
                low[node] = min(low[node], index[target])
        if low[node] == index[node]:
            circle = set(stack[stack.index(node) :])
            del stack[stack.index(node) :]
            if len(circle) > 1 or node in graph.get(node, ()):
                found.append(circle)

    for node in sorted(graph):
        if node not in index:
            visit(node)
    return found


def _way_round(graph: Graph, circle: set[PurePath]) -> list[PurePath]:
    """A shortest way through a circle from its first node to itself."""
    first = min(circle)
    ways = [[first]]
    seen: set[PurePath] = set()
    while True:
        # There is a way: all nodes of the circle reach each other.
        way = ways.pop(0)
        for target in sorted(set(graph.get(way[-1], ())) & circle):
            if target == first:
                return [*way, first]
            if target not in seen:
                seen.add(target)
                ways.append([*way, target])
