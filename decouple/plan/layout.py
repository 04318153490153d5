"""The RFC's directories ("Directory restructuring"), read from rfc_layout.yaml."""

from __future__ import annotations

import dataclasses
import functools
import pathlib
import posixpath
from collections.abc import Mapping, Sequence

import yaml

_DATA = pathlib.Path(__file__).with_name("rfc_layout.yaml")


@dataclasses.dataclass(frozen=True, slots=True)
class Layout:
    """Where files go. All paths are relative to the tree."""

    root: str
    """Folder of the device, such as third_device/torch_cuda; what is included is relative to it."""
    package: str
    patches: str
    folders: Mapping[str, str]
    python_lists: frozenset[str]
    python_folder: str
    cut_folder: str
    stay_folders: frozenset[str]
    stay_names: frozenset[str]
    include_roots: tuple[str, ...]
    """Folders that headers which stay are included relative to."""

    def destination(self, path: str, lists: Sequence[str] = ()) -> str:
        """The new path of a whole file; "" where the RFC has no place for its folder.

        Args:
            path: the file.
            lists: upstream's lists that name it.
        """
        found = self._folder(path)
        if found is None:
            return ""
        folder, behind = found
        if path.startswith("torch/csrc/") and self.python_lists.intersection(lists):
            folder, behind = self.python_folder, path.removeprefix("torch/csrc/")
        return posixpath.join(self.root, self.package, folder, behind)

    def stays(self, path: str) -> bool:
        """Whether a file stays whatever its folder is: tests, and upstream's own build."""
        *folders, name = path.split("/")
        return name in self.stay_names or not self.stay_folders.isdisjoint(folders)

    def cut_destination(self, path: str) -> str:
        """The file that takes the lines cut out of `path`; "" where the RFC has no place for its folder."""
        found = self._folder(path)
        if found is None:
            return ""
        folder, behind = found
        return posixpath.join(self.root, self.package, folder, self.cut_folder, behind + ".inc")

    def patch(self, path: str) -> str:
        """The patch file for what is changed in `path`."""
        return posixpath.join(self.root, self.patches, path.replace("/", "-") + ".patch")

    def module(self, destination: str) -> str:
        """The part of the device that a destination is in, such as "csrc/aten": csrc's folders count, not csrc."""
        inside = posixpath.relpath(destination, posixpath.join(self.root, self.package)).split("/")
        return "/".join(inside[: 2 if inside[0] == "csrc" else 1])

    def include_name(self, destination: str) -> str:
        """How a moved header is included."""
        return posixpath.relpath(destination, self.root)

    def _folder(self, path: str) -> tuple[str, str] | None:
        folder = posixpath.dirname(path)
        while folder:
            if folder in self.folders:
                return self.folders[folder], path[len(folder) + 1 :]
            folder = posixpath.dirname(folder)
        return None


@functools.cache
def rfc_layout() -> Layout:
    """The layout of the RFC."""
    data = yaml.safe_load(_DATA.read_text(encoding="utf-8"))
    return Layout(
        root=data["root"],
        package=data["package"],
        patches=data["patches"],
        folders=data["folders"],
        python_lists=frozenset(data["python_lists"]),
        python_folder=data["python_folder"],
        cut_folder=data["cut_folder"],
        stay_folders=frozenset(data["stay_folders"]),
        stay_names=frozenset(data["stay_names"]),
        include_roots=tuple(data["include_roots"]),
    )
