"""A release of PyTorch on a package index: what the check reads of it, by parts of its wheel."""

from __future__ import annotations

import dataclasses
import hashlib
import pathlib
import re
import shutil
import zipfile

import yaml

from tools.remote_wheel import members

_OPERATORS = "torchgen/packaged/ATen/native/native_functions.yaml"
_STANDARD = re.compile(r"-std=c\+\+(\d+)")
_FOLDERS = ("ATen", "c10", "caffe2", "torch")


@dataclasses.dataclass(frozen=True)
class Operator:
    """What native_functions.yaml says of one operator.

    Attributes:
        name: with the overload, such as "add.Tensor".
        keys: the dispatch keys that it has kernels of its own for.
        delegates: whether its kernels are those of another overload (`structured_delegate`).
    """

    name: str
    keys: frozenset[str]
    delegates: bool

    @property
    def cuda_alone(self) -> bool:
        """Whether CUDA has a kernel, and neither the CPU nor a composite has one."""
        others = {key for key in self.keys if key == "CPU" or key.startswith("Composite")}
        return "CUDA" in self.keys and not others and not self.delegates


class Release:
    """A wheel of torch.

    Args:
        archive: the wheel, where it lies.
    """

    def __init__(self, archive: zipfile.ZipFile) -> None:
        self._archive = archive
        self._record = members.record_of(archive)
        self.hashes = members.check_record(self._record, hashlib.sha256(self._record).hexdigest())

    @property
    def record_sha256(self) -> str:
        """What third_party/stock_torch/versions.bzl pins."""
        return hashlib.sha256(self._record).hexdigest()

    def constant(self, name: str) -> str | None:
        """A constant of `torch/version.py`: "__version__" or "cuda"."""
        text = self._archive.read("torch/version.py").decode()
        match = re.search(rf"^{name}\b[^=\n]*= *'([^']+)'", text, re.MULTILINE)
        return match[1] if match else None

    def standard(self) -> str:
        """The standard of C++ that it compiles extensions with, such as "c++20"."""
        text = self._archive.read("torch/utils/cpp_extension.py").decode()
        return f"c++{max(map(int, _STANDARD.findall(text)), default=17)}"

    def operators(self) -> dict[str, Operator]:
        """Its operators by name."""
        found = {}
        for entry in yaml.load(self._archive.read(_OPERATORS), yaml.CSafeLoader):
            keys = {
                key.strip() for keys in entry.get("dispatch", {}) for key in str(keys).split(",")
            }
            name = entry["func"].partition("(")[0]
            found[name] = Operator(name, frozenset(keys), "structured_delegate" in entry)
        return found

    def headers(self) -> dict[str, str]:
        """The hash of each header, by name."""
        return {
            name: sha
            for name, sha in self.hashes.items()
            if name.startswith("torch/include/") and name.endswith(".h")
        }

    def unpack_headers(self, folder: pathlib.Path) -> None:
        """Writes its headers, some 15 MB to receive."""
        globs = [f"torch/include/{name}/**" for name in _FOLDERS]
        names = members.chosen(self._archive.namelist(), globs)
        members.unpack(self._archive, self.hashes, names, "torch/include", folder)

    def libraries(self) -> dict[str, int]:
        """Its shared libraries in torch/lib, and how many bytes each is in the wheel."""
        return {
            info.filename: info.compress_size
            for info in self._archive.infolist()
            if re.fullmatch(r"torch/lib/lib\w+\.so", info.filename)
        }

    def unpack_library(self, name: str, folder: pathlib.Path) -> pathlib.Path:
        """Writes one of `libraries`; all of it has to be received: the names stand at its end."""
        target = folder / pathlib.PurePosixPath(name).name
        with self._archive.open(name) as source, target.open("wb") as file:
            shutil.copyfileobj(source, file, 1 << 20)
        return target
