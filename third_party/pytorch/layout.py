"""Lays a PyTorch source tree out for Bazel, without changing it and without copying it.

Run by the repository rule of @pytorch. It writes, below the repository's root:

* symbolic links to the tree, so that every file keeps its upstream path, minus the BUILD and WORKSPACE files with which
  upstream cuts the tree into packages of its own;
* `cuda_include/`, a view of the header folders that CUDA owns: everything else is included from the installed torch,
  whose ABI is the one that counts;
* `units.bzl`, the translation units that upstream's CMake files list or glob for CUDA, group by group.

It prints the folders in which upstream globs, one a line: a new file there is a new unit.
"""

import argparse
import pathlib
import re
import sys

ATEN = pathlib.PurePosixPath("aten/src/ATen")
CUDA_FOLDERS = frozenset({"cuda", "cudnn", "THC"})
HEADER_ROOTS = (pathlib.PurePosixPath("aten/src"), pathlib.PurePosixPath("."))
HEADER_SEARCH = ("aten/src/ATen", "c10", "torch/csrc")
BUILD_FILES = frozenset(
    {
        "BUILD",
        "BUILD.bazel",
        "MODULE.bazel",
        "REPO.bazel",
        "WORKSPACE",
        "WORKSPACE.bazel",
        "WORKSPACE.bzlmod",
    }
)
# Upstream's names for what one set of globs builds for CUDA; "hip" marks the ROCm half. The operators of MIOpen are in
# CUDA builds too: without it they are its error messages.
CUDA_GLOB = re.compile(r"(?!.*hip).*(?:cuda|cudnn|native_miopen).*(?:_cu|_cpp)$")
GLOB_CALL = re.compile(r"^\s*file\(GLOB\s+(\w+)\s+([^)]*)\)", re.MULTILINE)
SET_CALL = re.compile(r"^\s*set\((\w+)\s+([^)]*)\)", re.MULTILINE)


class LayoutError(Exception):
    """The tree does not look as this project expects; the message says which file and why."""


def read(path: pathlib.Path) -> str:
    """Returns the text of an upstream file.

    Raises:
        LayoutError: the file is not there.
    """
    try:
        return path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise LayoutError(f"{path} is missing: this is not a complete PyTorch tree.") from None


def cmake_globs(tree: pathlib.Path) -> dict[str, list[str]]:
    """Evaluates the `file(GLOB …)` calls with which ATen's CMake file collects CUDA units.

    Args:
        tree: the root of a PyTorch source tree.

    Returns:
        For each of upstream's variables, the patterns relative to the tree.
    """
    text = read(tree / ATEN / "CMakeLists.txt")
    globs = {}
    for name, arguments in GLOB_CALL.findall(text):
        if CUDA_GLOB.match(name):
            globs[name] = [str(ATEN / pattern) for pattern in re.findall(r'"([^"]+)"', arguments)]
    if not globs:
        raise LayoutError(f"{tree / ATEN}/CMakeLists.txt has no file(GLOB …) for CUDA any more.")
    return globs


def expand(tree: pathlib.Path, patterns: list[str]) -> list[str]:
    """Returns the files of the tree that match any pattern, sorted, as paths relative to it."""
    found = {
        path.relative_to(tree).as_posix() for pattern in patterns for path in tree.glob(pattern)
    }
    return sorted(found)


def cmake_set(tree: pathlib.Path, cmake_file: str, variable: str) -> list[str]:
    """Returns the files that a `set(VARIABLE …)` of a CMake file lists, relative to the tree.

    Raises:
        LayoutError: the variable is no longer set there.
    """
    calls = dict(SET_CALL.findall(read(tree / cmake_file)))
    if variable not in calls:
        raise LayoutError(f"{cmake_file} no longer sets {variable}, the list of its units.")
    folder = pathlib.PurePosixPath(cmake_file).parent
    return [str(folder / name) for name in calls[variable].split()]


def units(tree: pathlib.Path) -> dict[str, list[str]]:
    """Returns every group of CUDA translation units that upstream's CMake files name."""
    groups = {name: expand(tree, patterns) for name, patterns in cmake_globs(tree).items()}
    groups["c10_cuda"] = cmake_set(tree, "c10/cuda/CMakeLists.txt", "C10_CUDA_SRCS")
    return groups


def watched_folders(tree: pathlib.Path) -> list[str]:
    """Returns the folders whose listing decides what the globs find."""
    patterns = [pattern for group in cmake_globs(tree).values() for pattern in group]
    folders = {pathlib.PurePosixPath(pattern).parent for pattern in patterns}
    return sorted(str(folder) for folder in folders if (tree / folder).is_dir())


def has_build_file(folder: pathlib.Path) -> bool:
    """Says whether Bazel would find a package of its own in or below the folder."""
    return any(path.name in BUILD_FILES for path in folder.rglob("*"))


def link_tree(source: pathlib.Path, destination: pathlib.Path) -> None:
    """Mirrors a folder with symbolic links, whole folders where possible, leaving BUILD files out."""
    destination.mkdir(parents=True, exist_ok=True)
    for entry in sorted(source.iterdir()):
        if entry.name in BUILD_FILES or entry.name == ".git":
            continue
        if entry.is_dir() and not entry.is_symlink() and has_build_file(entry):
            link_tree(entry, destination / entry.name)
        else:
            (destination / entry.name).symlink_to(entry)


def cuda_header_folders(tree: pathlib.Path) -> list[pathlib.PurePosixPath]:
    """Returns the topmost folders that CUDA owns by name and that hold headers."""
    found = []
    for root in HEADER_SEARCH:
        for folder in sorted(path for path in (tree / root).rglob("*") if path.is_dir()):
            relative = pathlib.PurePosixPath(folder.relative_to(tree).as_posix())
            if relative.name in CUDA_FOLDERS and not CUDA_FOLDERS.intersection(relative.parts[:-1]):
                found.append(relative)
    return found


def include_path(folder: pathlib.PurePosixPath) -> pathlib.PurePosixPath:
    """Returns the path under which upstream's code includes from a folder."""
    root = next(root for root in HEADER_ROOTS if folder.is_relative_to(root))
    return folder.relative_to(root)


def link_headers(tree: pathlib.Path, view: pathlib.Path) -> None:
    """Writes the view of CUDA's header folders."""
    for folder in cuda_header_folders(tree):
        link_tree(tree / folder, view / include_path(folder))


def units_bzl(groups: dict[str, list[str]]) -> str:
    """Renders the groups as a Starlark file."""
    lines = ['"""CUDA translation units by upstream\'s own groups. Written by layout.py."""', ""]
    lines.append("UNITS = {")
    for name, files in sorted(groups.items()):
        lines.append(f'    "{name}": [')
        lines.extend(f'        "{file}",' for file in files)
        lines.append("    ],")
    lines.append("}")
    return "\n".join(lines) + "\n"


def main(arguments: list[str]) -> int:
    """Lays out the tree named by --tree into --out; returns the exit code."""
    parser = argparse.ArgumentParser(description="Lay a PyTorch tree out for Bazel.")
    parser.add_argument("--tree", type=pathlib.Path, required=True)
    parser.add_argument("--out", type=pathlib.Path, required=True)
    options = parser.parse_args(arguments)
    tree = options.tree.resolve()
    try:
        groups = units(tree)
        folders = watched_folders(tree)
        link_tree(tree, options.out)
        link_headers(tree, options.out / "cuda_include")
    except LayoutError as error:
        print(error, file=sys.stderr)
        return 1
    (options.out / "units.bzl").write_text(units_bzl(groups), encoding="utf-8")
    print("\n".join(folders))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
