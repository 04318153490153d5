"""Makes #include lines name headers where they are after the move."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Mapping

from decouple.cpp.includes import Resolver
from decouple.plan.layout import Layout
from decouple.text_edits import Edit

_INCLUDE = re.compile(r'^(?:\A\ufeff)?[ \t]*#[ \t]*include[ \t]*([<"])([^>"\n]+)[>"]', re.MULTILINE)
_TEMPLATE = ".in"


class Rewriter:
    """Knows which files move, and what includes of them are called then."""

    def __init__(self, moves: Mapping[str, str], layout: Layout, resolver: Resolver) -> None:
        """A rewriter.

        Args:
            moves: whole files that move, old path to new path.
            layout: where they move.
            resolver: finds what an include means in the tree as it was.
        """
        self._moves = moves
        self._layout = layout
        self._resolver = resolver

    def edits(self, text: str, path: str) -> list[Edit]:
        """The includes of a file that have to change.

        Args:
            text: the file.
            path: where it was; whether it moves follows from the moves.
        """
        found = []
        for match in _INCLUDE.finditer(text):
            name = match[2]
            new = self._name(path, name, quoted=match[1] == '"')
            if new != name:
                found.append(Edit(match.start(2), match.end(2), new))
        return found

    def _name(self, path: str, name: str, *, quoted: bool) -> str:
        """What an include has to say afterwards."""
        targets = self._resolver.files(path, name, quoted)
        moved = [target for target in targets if target in self._moves]
        here = self._moves.get(path, path)
        if not moved:
            beside = posixpath.normpath(posixpath.join(posixpath.dirname(path), name))
            if quoted and here != path and targets == (beside,):
                return self._from_root(beside)
            return name
        target = moved[0]
        there = self._moves[target]
        if target.endswith(_TEMPLATE):  # the header is written from it, beside it
            there = there.removesuffix(_TEMPLATE)
        if quoted and posixpath.normpath(posixpath.join(posixpath.dirname(here), name)) == there:
            return name
        return self._layout.include_name(there)

    def _from_root(self, path: str) -> str:
        """How a header that stays is included from anywhere."""
        for root in self._layout.include_roots:
            if path.startswith(root + "/"):
                return path[len(root) + 1 :]
        return path
