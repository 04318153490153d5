"""Translates files together with the headers of theirs that they include, and writes what comes out.

Out of place the folders below the deepest that all of them share are made again. In place a header is
changed below the folders of the sources, and below those that are named for it, and nowhere else: an
include folder may be anybody's. Nothing is written before everything is translated, and no file is
ever half written.
"""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import os
import pathlib
import tempfile
from collections import Counter
from collections.abc import Iterable, Sequence

from torch_cuda_adapter.errors import AdapterError
from torch_cuda_adapter.sources import families, translator
from torch_cuda_adapter.sources.cache import Cache
from torch_cuda_adapter.sources.report import Finding
from torch_cuda_adapter.sources.rules import Rules, Unsupported

_UTF16 = (b"\xff\xfe", b"\xfe\xff")
# What tells that an include folder is a toolkit's, PyTorch's or Python's, and not one's own.
_FOREIGN = ("cuda_runtime_api.h", "torch/extension.h", "Python.h")
_NOT_NAMED = "it lies below no folder that was named, so it is not changed in place"
# Bytes that are no UTF-8 stay what they are.
_ENCODING = ("utf-8", "surrogateescape")


@dataclasses.dataclass(frozen=True, slots=True)
class TranslatedFile:
    """One file, before and after.

    Attributes:
        source: the file.
        target: where the translation belongs; the same as `source` in place, but for its suffix.
        before: the content of the source.
        after: the content of the translation.
        findings: what could not be translated, or is not sure.
        translated: how many names of each family were translated.
    """

    source: pathlib.Path
    target: pathlib.Path
    before: bytes
    after: bytes
    findings: tuple[Finding, ...]
    translated: Counter[str]


def translate_files(
    sources: Sequence[str | os.PathLike[str]],
    rules: Rules,
    *,
    out: str | os.PathLike[str] | None,
    include_folders: Sequence[str | os.PathLike[str]] = (),
    own_folders: Sequence[str | os.PathLike[str]] = (),
    cache: Cache | None = None,
) -> list[TranslatedFile]:
    """Translates files; writes nothing.

    Args:
        sources: the files. Headers that they include are translated too where they lie beside them
            (`#include "x.cuh"`) or in one of the include folders.
        rules: of the platform.
        out: the folder for the translations; None for translating in place.
        include_folders: as a compiler's `-I`; those of CUDA, PyTorch and Python are left alone.
        own_folders: include folders below which headers may be changed in place, as they may below
            the folders of the sources. A header elsewhere that would have to be is a finding.
        cache: of translations; None for translating all.

    Returns:
        The files: the sources in their order, then the headers in the order of their paths.

    Raises:
        AdapterError: a file is not there or is no text, or two translations would be one file.
    """
    paths = [absolute(source) for source in sources]
    own = [absolute(folder) for folder in own_folders]
    folders = [*own, *(absolute(folder) for folder in include_folders)]
    tree = _Tree(rules, None if out is None else absolute(out), folders, cache or Cache(None))
    if out is None:
        tree.change_only(paths, [*own, *(path.parent for path in paths)])
    return tree.translated(paths)


def write(files: Iterable[TranslatedFile], *, in_place: bool = False) -> list[pathlib.Path]:
    """Writes translations; a file that has its content already is not touched.

    Args:
        files: from `translate_files`.
        in_place: delete the sources whose translations have another suffix.

    Returns:
        The files that were written.

    Raises:
        OSError: a file cannot be written. Then none of them is.
    """
    pending: list[tuple[pathlib.Path, pathlib.Path]] = []
    listed = list(files)
    try:
        for file in listed:
            if _content(file.target) == file.after:
                continue
            target = file.target.resolve()
            target.parent.mkdir(parents=True, exist_ok=True)
            handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
            unfinished = pathlib.Path(name)
            pending.append((unfinished, target))
            with os.fdopen(handle, "wb") as stream:
                stream.write(file.after)
            unfinished.chmod(file.source.stat().st_mode & 0o777)
        for unfinished, target in pending:
            unfinished.replace(target)
    except BaseException:
        for unfinished, _ in pending:
            with contextlib.suppress(OSError):
                unfinished.unlink()
        raise
    for file in listed if in_place else ():
        if file.target != file.source:
            file.source.unlink()
    return [target for _, target in pending]


@dataclasses.dataclass(frozen=True, slots=True)
class _Include:
    """A header that a file names: where it is, and whether it was found in an include folder."""

    path: pathlib.Path
    from_folder: bool


class _Tree:
    """The files that are translated together."""

    def __init__(
        self,
        rules: Rules,
        out: pathlib.Path | None,
        folders: Sequence[pathlib.Path],
        cache: Cache,
    ) -> None:
        self._rules = rules
        self._out = out
        self._folders = [
            folder for folder in folders if not any((folder / name).exists() for name in _FOREIGN)
        ]
        self._cache = cache
        self._contents: dict[pathlib.Path, bytes] = {}
        self._root = pathlib.Path()
        self._sources: frozenset[pathlib.Path] = frozenset()
        self._named: tuple[pathlib.Path, ...] | None = None
        self._changed: dict[pathlib.Path, bool] = {}

    def change_only(self, sources: Sequence[pathlib.Path], folders: Sequence[pathlib.Path]) -> None:
        """Lets only the sources be changed, and what lies below folders, links followed."""
        self._sources = frozenset(sources)
        self._named = tuple(folder.resolve() for folder in folders)

    def translated(self, sources: Sequence[pathlib.Path]) -> list[TranslatedFile]:
        """Translates the sources and their headers."""
        self._read(sources)
        headers = sorted(set(self._contents) - set(sources))
        ordered = [*dict.fromkeys(sources), *(path for path in headers if self._may_change(path))]
        if not ordered:
            return []
        self._root = pathlib.Path(os.path.commonpath([path.parent for path in ordered]))
        owners: dict[pathlib.Path, pathlib.Path] = {}
        for path in ordered:
            target = self._target(path)
            other = owners.setdefault(target, path)
            if other != path:
                raise AdapterError(
                    f"found {other} and {path}, which both become {target}; rename one of them"
                )
            if self._out is not None and target in self._contents:
                raise AdapterError(
                    f"found {target} among what is translated, and it would be written over; "
                    "needed another folder, or --in-place"
                )
            if self._out is None and target != path and target.exists():
                raise AdapterError(
                    f"found {target}, which would be written over by the translation of "
                    f"{path}; move it away, or translate into a folder"
                )
        return [self._file(path) for path in ordered]

    def _read(self, sources: Sequence[pathlib.Path]) -> None:
        """Reads the sources, and the headers of their own that they include."""
        waiting = list(sources)
        while waiting:
            path = waiting.pop()
            if path in self._contents:
                continue
            content = _read(path)
            self._contents[path] = content
            for name, quoted in self._headers(content):
                found = self._find(path, name, quoted)
                if found is not None:
                    waiting.append(found.path)

    def _headers(self, content: bytes) -> Sequence[tuple[str, bool]]:
        """The headers that a file names, each with whether it is in quotes."""
        digest = hashlib.sha256(content).hexdigest()
        kept = self._cache.read("headers", digest)
        if kept is None:
            kept = translator.names_of_headers(content.decode(*_ENCODING))
            self._cache.write(kept, "headers", digest)
        return [(name, quoted) for name, quoted in kept]

    def _find(self, path: pathlib.Path, name: str, quoted: bool) -> _Include | None:
        """The header of one's own that a file names, as a compiler looks for it."""
        if "/" in name and families.of_header(name) is not None and not quoted:
            # A copy of CUB, CUTLASS or PyTorch among one's own: the platform has its own.
            return None
        places = [(path.parent, False)] if quoted else []
        for folder, from_folder in [*places, *((folder, True) for folder in self._folders)]:
            found = absolute(folder / name)
            if found.is_file():
                return _Include(found, from_folder)
        return None

    def _may_change(self, path: pathlib.Path) -> bool:
        """Whether a file is one that may be translated where it is to be."""
        if self._named is None or path in self._sources:
            return True
        return any(path.resolve().is_relative_to(folder) for folder in self._named)

    def _would_change(self, path: pathlib.Path) -> bool:
        """Whether there is something to translate in a file that may not be changed."""
        if path not in self._changed:
            self._changed[path] = False  # while files that include each other are looked at
            file = self._file(path)
            new_name = file.target != path
            self._changed[path] = new_name or file.after != file.before or bool(file.findings)
        return self._changed[path]

    def _target(self, path: pathlib.Path) -> pathlib.Path:
        name = self._renamed(path.name)
        if self._out is None:
            return path.with_name(name)
        return self._out / path.relative_to(self._root).with_name(name)

    def _renamed(self, name: str) -> str:
        """A file's name, or a path, with the platform's suffix."""
        for old, new in self._rules.suffixes.items():
            if name.endswith(old):
                return name.removesuffix(old) + new
        return name

    def _included(self, path: pathlib.Path, name: str, quoted: bool) -> str | Unsupported | None:
        """What a file includes in the place of a header; None where it is none of these files."""
        found = self._find(path, name, quoted)
        if found is None:
            return None
        if not self._may_change(found.path):
            if self._would_change(found.path):
                return Unsupported(_NOT_NAMED, "headers")
            return f'"{name}"' if quoted else f"<{name}>"
        if not found.from_folder or self._out is None:
            return f'"{self._renamed(name)}"' if quoted else f"<{self._renamed(name)}>"
        # The folder is not that of the translation, so the way to it is written out.
        way = os.path.relpath(self._target(found.path), self._target(path).parent)
        return f'"{pathlib.PurePath(way).as_posix()}"'

    def _file(self, path: pathlib.Path) -> TranslatedFile:
        before = self._contents[path]
        includes = {
            (name, quoted): self._included(path, name, quoted)
            for name, quoted in self._headers(before)
        }
        digest = hashlib.sha256(before).hexdigest()
        made_from = (self._rules.platform.digest, digest, sorted(map(repr, includes.items())))
        kept = self._cache.read("text", *made_from)
        if kept is None:
            result = translator.translate(
                before.decode(*_ENCODING),
                self._rules,
                _shown(path),
                includes=lambda name, quoted: includes.get((name, quoted)),
            )
            kept = {
                "text": result.text,
                "findings": [dataclasses.asdict(finding) for finding in result.findings],
                "translated": result.translated,
            }
            self._cache.write(kept, "text", *made_from)
        findings = [Finding(**{**entry, "path": _shown(path)}) for entry in kept["findings"]]
        return TranslatedFile(
            source=path,
            target=self._target(path),
            before=before,
            after=kept["text"].encode(*_ENCODING),
            findings=tuple(findings),
            translated=Counter(kept["translated"]),
        )


def absolute(path: str | os.PathLike[str]) -> pathlib.Path:
    """A path from the root without "..", by its names alone: what links lead to does not matter."""
    return pathlib.Path(os.path.normpath(pathlib.Path(path).absolute()))


def _shown(path: pathlib.Path) -> str:
    """A path as people write it: relative where it is below the current folder."""
    relative = os.path.relpath(path)
    return str(path) if relative.startswith(os.pardir) else relative


def _read(path: pathlib.Path) -> bytes:
    try:
        content = path.read_bytes()
    except OSError as error:
        raise AdapterError(f"found no source {path} that can be read: {error.strerror}") from None
    if content.startswith(_UTF16) or b"\0" in content:
        raise AdapterError(f"found {path}, which is no text in UTF-8; convert it, or leave it out")
    return content


def _content(path: pathlib.Path) -> bytes | None:
    try:
        return path.read_bytes()
    except OSError:
        return None
