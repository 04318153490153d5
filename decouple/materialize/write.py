"""Writes the restructured tree: all of it, or nothing."""

from __future__ import annotations

import dataclasses
import difflib
import pathlib
import re
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator

from decouple import text_edits
from decouple.cpp import includes
from decouple.errors import DecoupleError
from decouple.gaps import Gap
from decouple.materialize.cut import cut
from decouple.materialize.rewrite import Rewriter
from decouple.model import Inventory
from decouple.plan.layout import Layout, rfc_layout
from decouple.plan.plan import Plan
from decouple.rules.load import Rules
from decouple.text_edits import Edit
from decouple.tree import Tree

_CPP = (".c", ".cc", ".cpp", ".cu", ".cuh", ".h", ".hpp", ".inl", ".in")
_INCLUDE_LINE = re.compile(rb"#[ \t]*include[^\n]*")


@dataclasses.dataclass(frozen=True, slots=True)
class Written:
    """What was written."""

    copied: int
    moved: int
    cut: int
    patches: int


def materialize(
    tree: Tree,
    inventory: Inventory,
    plan: Plan,
    rules: Rules,
    out: pathlib.Path,
    progress: Callable[[int, int], None] = lambda done, all_files: None,
) -> Written:
    """Writes the tree as the RFC draws it ("Directory restructuring").

    Args:
        tree: the tree as it is.
        inventory: what was found in it.
        plan: where that goes.
        rules: the rules that it was found by.
        out: folder to write; it must not be there, or be empty.
        progress: called with how many files are done, and how many there are.

    Raises:
        DecoupleError: `out` has something in it or cannot be written, or a file cannot be read. Nothing is left.
    """
    out = out.absolute()
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise DecoupleError(
            f"{out} is not empty; name a folder that is not there yet, or empty it."
        )
    if out.is_relative_to(tree.root) or tree.root.is_relative_to(out):
        raise DecoupleError(
            f"{out} and the tree are inside of each other; name a folder elsewhere."
        )
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=out.parent, prefix=f".{out.name}.") as folder:
            work = pathlib.Path(folder, "tree")
            written = _Writer(tree, inventory, plan, rules, work, progress).write()
            if out.exists():
                out.rmdir()
            work.rename(out)
    except OSError as error:
        raise DecoupleError(
            f"cannot be written: {error.strerror}.", path=str(error.filename)
        ) from None
    return written


class _Writer:
    """Writes one tree."""

    def __init__(
        self,
        tree: Tree,
        inventory: Inventory,
        plan: Plan,
        rules: Rules,
        work: pathlib.Path,
        progress: Callable[[int, int], None],
    ) -> None:
        self._tree = tree
        self._inventory = inventory
        self._plan = plan
        self._rules = rules
        self._work = work
        self._progress = progress
        self._layout: Layout = rfc_layout()
        resolver = includes.Resolver(tree.has, rules.include_roots, rules.generated)
        self._rewriter = Rewriter(plan.moves, self._layout, resolver)
        self._hints = tuple(sorted({name.encode() for name in _words(plan.moves)}))
        self._series: list[str] = []

    def write(self) -> Written:
        copied = 0
        for done, path in enumerate(self._tree.files):
            if done % 500 == 0:
                self._progress(done, len(self._tree.files))
            if path in self._plan.moves:
                self._move(path)
            elif not self._change(path):
                self._copy(path)
                copied += 1
        self._write_series()
        self._progress(len(self._tree.files), len(self._tree.files))
        return Written(copied, len(self._plan.moves), len(self._plan.cuts), len(self._series))

    def _move(self, path: str) -> None:
        """A whole file at its new place."""
        new = self._plan.moves[path]
        text = self._tree.read_text(path) if path.endswith(_CPP) else ""
        if not text:
            # Not a source, or one that cannot be read.
            self._copy(path, new)
            return
        self._put(new, text_edits.apply_edits(text, self._rewriter.edits(text, path)), path)

    def _change(self, path: str) -> bool:
        """A file that stays without its device code and with new includes; False where nothing changes."""
        cuts = path in self._plan.cuts
        if not cuts and not (path.endswith(_CPP) and self._includes_moved(path)):
            return False
        text = self._tree.read_text(path)
        if not text:
            return False
        edits: list[Edit] = []
        reasons = []
        if cuts:
            parts = cut(text, self._rules.macros, path, self._tree.gaps)
            if parts is not None:
                edits += parts.edits
                self._put(self._plan.cuts[path], parts.pieces, None)
                reasons.append(
                    f"Code under the macros of {self._rules.device} is cut out; it is in\n"
                    f"{self._plan.cuts[path]} now."
                )
        renamed = [
            edit
            for edit in self._rewriter.edits(text, path)
            if not any(other.start <= edit.start < other.end for other in edits)
        ]
        if renamed:
            edits += renamed
            reasons.append("Headers of the device are included from where they are now.")
        changed = text_edits.apply_edits(text, edits)
        if changed == text:
            return False
        self._put(path, changed, path)
        diff = _diff(path, text, changed)
        name = self._layout.patch(path)
        head = f"{path} without {self._rules.device}\n\n" + "\n".join(reasons) + "\n"
        source = f"\nMade from PyTorch {self._inventory.version} by decouple materialize.\n---\n"
        self._put(name, head + source + diff, None)
        self._series.append(name)
        return True

    def _includes_moved(self, path: str) -> bool:
        """Whether the file may include something that moves: a quick look at its lines."""
        includes = b"\n".join(_INCLUDE_LINE.findall(self._tree.read_bytes(path)))
        return any(hint in includes for hint in self._hints)

    def _write_series(self) -> None:
        names = "".join(pathlib.PurePosixPath(name).name + "\n" for name in self._series)
        folder = pathlib.PurePosixPath(self._layout.patch("x")).parent
        self._put(
            f"{folder}/series",
            "# What changes in the files that stay: decouple patches apply TREE --series THIS\n"
            + names,
            None,
        )

    def _copy(self, path: str, new: str | None = None) -> None:
        source, target = self._tree.root / path, self._work / (new or path)
        target.parent.mkdir(parents=True, exist_ok=True)
        if source.is_symlink():
            target.symlink_to(source.readlink())
        else:
            try:
                file = source.open("rb")
            except OSError as error:
                problem = f"cannot be read: {error.strerror}"
                self._tree.gaps.add(Gap(path, 0, problem, "the file, which is not copied", (path,)))
                return
            with file, target.open("wb") as copy:
                shutil.copyfileobj(file, copy)
            shutil.copymode(source, target)

    def _put(self, new: str, text: str, original: str | None) -> None:
        target = self._work / new
        target.parent.mkdir(parents=True, exist_ok=True)
        # Bytes that are not UTF-8 stay what they are.
        target.write_text(text, encoding="utf-8", errors="surrogateescape", newline="")
        if original is not None:
            shutil.copymode(self._tree.root / original, target)


def _diff(path: str, before: str, after: str) -> str:
    """A unified diff of one file, as `git apply` reads it."""
    old, new = text_edits.split_lines(before), text_edits.split_lines(after)
    lines = difflib.unified_diff(old, new, f"a/{path}", f"b/{path}")
    end = "\n\\ No newline at end of file\n"
    return "".join(line if line.endswith("\n") else line + end for line in lines)


def _words(paths: Iterable[str]) -> Iterator[str]:
    """Pieces of paths, one of which is in every include of a header that moves."""
    for path in paths:
        if path.endswith((".h", ".hpp", ".cuh", ".inl", ".in")):
            yield pathlib.PurePosixPath(path).name.removesuffix(".in")
