"""Lays a PyTorch source tree out for Bazel, without changing it and without copying it.

Run by the repository rule of @pytorch. It writes, below the repository's root:

* symbolic links to the tree, so that every file keeps its upstream path, minus the BUILD and WORKSPACE files with which
  upstream cuts the tree into packages of its own;
* `cuda_include/`, a view of the header folders that CUDA owns: everything else is included from the installed torch,
  whose ABI is the one that counts;
* `units.bzl`, the translation units that upstream's CMake files list or glob for CUDA, group by group, and in the order in
  which upstream links them.

It prints what decides about the units, one path a line: the folders in which upstream globs, and the files that list.
"""

import argparse
import pathlib
import re
import sys
from collections.abc import Sequence

# Run by the repository rule, outside of Bazel's Python rules.
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2]))

from decouple.errors import DecoupleError
from decouple.gaps import STRICT, Gaps
from decouple.lists import cmake, starlark
from decouple.rules.load import load
from decouple.tree import Tree

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
CMAKE_FILES = ("aten/src/ATen/CMakeLists.txt", "c10/cuda/CMakeLists.txt")
# What makes libraries of these lists: upstream's functions on lists first.
LIBRARY_FILES = ("cmake/public/utils.cmake", "caffe2/CMakeLists.txt")
# The libraries that are linked in upstream's order: units depend on what the static initialisers of others did, and at exit
# on what they have not undone.
LINKED = ("torch_cuda",)
# What torchgen writes for CUDA, under the variable with which upstream adds it, in the order of torchgen's own list.
GENERATED = {
    "cuda_generated_sources": (
        "RegisterCUDA.cpp",
        "RegisterNestedTensorCUDA.cpp",
        "RegisterQuantizedCUDA.cpp",
        "RegisterSparseCUDA.cpp",
        "RegisterSparseCsrCUDA.cpp",
        "UfuncCUDA_add.cu",
    )
}
FILELISTS = "build_variables.bzl"


class LayoutError(Exception):
    """The tree does not look as this project expects; the message says which file and why."""


def configure(
    tree: pathlib.Path, files: Sequence[str] = CMAKE_FILES, gaps: Gaps = STRICT
) -> cmake.Configuration:
    """Runs CMake files of upstream, as in a CUDA build.

    Args:
        tree: PyTorch's source.
        files: what to run; unless told otherwise, the files in which upstream lists CUDA units.
        gaps: what cannot be understood is reported there, and is an error unless told otherwise.

    Raises:
        LayoutError: the tree is not one, or a file of it cannot be understood.
    """
    try:
        rules = load("cuda")
        generated = {
            name: ";".join(f"{cmake.BINARY}/aten/src/ATen/{file}" for file in files)
            for name, files in GENERATED.items()
        }
        definitions = {**rules.definitions, **rules.device_definitions, **generated}
        source = Tree(tree, gaps)
        lists = starlark.lists(source, FILELISTS)
        return cmake.configure(source, files, definitions, lists, partial=True)
    except DecoupleError as error:
        raise LayoutError(str(error)) from None


def units(configuration: cmake.Configuration) -> dict[str, list[str]]:
    """Returns every group of CUDA translation units that upstream's CMake files name.

    Raises:
        LayoutError: upstream no longer has such groups.
    """
    groups = {
        name: list(files) for name, files in configuration.globs.items() if CUDA_GLOB.match(name)
    }
    if not groups:
        raise LayoutError("aten/src/ATen/CMakeLists.txt has no file(GLOB …) for CUDA any more.")
    return {**groups, "c10_cuda": named_by(configuration, "c10_cuda")}


def named_by(configuration: cmake.Configuration, library: str) -> list[str]:
    """Returns the units of one of upstream's libraries, generated ones too, as upstream names them.

    Raises:
        LayoutError: upstream no longer makes that library.
    """
    named = configuration.order.get(library, ())
    found = [path for path in named if path.endswith((".cpp", ".cu"))]
    if not found:
        raise LayoutError(f"Upstream's CMake files no longer add the library {library}.")
    return found


def link_order(tree: pathlib.Path, groups: dict[str, list[str]]) -> dict[str, list[str]]:
    """Returns the units of upstream's libraries in the order in which upstream links them.

    What is not understood around these libraries is passed over, as long as each unit has its place.

    Args:
        tree: PyTorch's source.
        groups: what `units` returned.

    Raises:
        LayoutError: upstream no longer makes such a library, or a unit is in none.
    """
    libraries = configure(tree, LIBRARY_FILES, Gaps())
    orders = {library: named_by(libraries, library) for library in LINKED}
    placed = {path for paths in libraries.order.values() for path in paths}
    for name, paths in groups.items():
        for path in paths:
            if name != "c10_cuda" and path not in placed:
                raise LayoutError(f"{path} is in no library that {LIBRARY_FILES[-1]} adds.")
    return orders


def watched_folders(configuration: cmake.Configuration) -> list[str]:
    """Returns the folders whose listing decides what the globs for CUDA find."""
    return sorted(
        {
            folder
            for name, folders in configuration.folders.items()
            if CUDA_GLOB.match(name)
            for folder in folders
        }
    )


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


def cuda_folders() -> frozenset[str]:
    """Returns the names of folders that are CUDA's as a whole."""
    return frozenset(name for rule in load("cuda").files for name in rule.folders)


def cuda_header_folders(tree: pathlib.Path) -> list[pathlib.PurePosixPath]:
    """Returns the topmost folders that CUDA owns by name and that hold headers."""
    found = []
    folders = cuda_folders()
    for root in HEADER_SEARCH:
        for folder in sorted(path for path in (tree / root).rglob("*") if path.is_dir()):
            relative = pathlib.PurePosixPath(folder.relative_to(tree).as_posix())
            if relative.name in folders and not folders.intersection(relative.parts[:-1]):
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


def units_bzl(groups: dict[str, list[str]], orders: dict[str, list[str]]) -> str:
    """Renders the groups and the orders as a Starlark file."""
    lines = ['"""CUDA translation units, as upstream lists them. Written by layout.py."""']
    for comment, variable, lists in (
        ("By upstream's own groups.", "UNITS", groups),
        ("Library by library, in the order in which upstream links them.", "LINK_ORDER", orders),
    ):
        lines += ["", f"# {comment}", f"{variable} = {{"]
        for name, files in sorted(lists.items()):
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
        configuration = configure(tree)
        groups = units(configuration)
        orders = link_order(tree, groups)
        folders = watched_folders(configuration)
        link_tree(tree, options.out)
        link_headers(tree, options.out / "cuda_include")
    except LayoutError as error:
        print(error, file=sys.stderr)
        return 1
    (options.out / "units.bzl").write_text(units_bzl(groups, orders), encoding="utf-8")
    print("\n".join([*folders, *CMAKE_FILES, *LIBRARY_FILES, FILELISTS]))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
