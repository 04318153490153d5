"""The files that file(GLOB …) finds (cmake-commands(7))."""

from __future__ import annotations

import fnmatch
from collections.abc import Sequence

from decouple.tree import Tree


def folders(tree: Tree, pattern: str, recursive: bool) -> list[str]:
    """The folders of a tree that a pattern looks in.

    Args:
        tree: the tree.
        pattern: relative to the tree.
        recursive: whether it is one of GLOB_RECURSE.
    """
    folder_pattern = pattern.rpartition("/")[0]
    if any(mark in folder_pattern for mark in "*?["):
        parts = folder_pattern.split("/")
        return [folder for folder in tree.folders if _same_shape(folder, parts, recursive)]
    if recursive:
        below = f"{folder_pattern}/"
        return [folder for folder in tree.folders if f"{folder}/".startswith(below)]
    return [folder_pattern] if folder_pattern in tree.folders else []


def files(tree: Tree, pattern: str, chosen: Sequence[str]) -> list[str]:
    """The files of some folders whose names match a pattern.

    Args:
        tree: the tree.
        pattern: relative to the tree.
        chosen: the folders that it looks in.
    """
    name_pattern = pattern.rpartition("/")[2]
    return [
        f"{folder}/{name}" if folder else name
        for folder in chosen
        for name in tree.folders[folder]
        if fnmatch.fnmatchcase(name, name_pattern)
    ]


def _same_shape(folder: str, parts: Sequence[str], recursive: bool) -> bool:
    """Whether a folder matches a pattern of folders."""
    names = folder.split("/")
    if len(names) < len(parts) or (len(names) > len(parts) and not recursive):
        return False
    return all(map(fnmatch.fnmatchcase, names, parts))
