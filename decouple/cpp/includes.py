"""The include graph: which files of the tree a file includes."""

from __future__ import annotations

import posixpath
import re
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence

from decouple.rules.load import Generated

_INCLUDE = re.compile(
    rb'^(?:\A\xef\xbb\xbf)?[ \t]*#[ \t]*include[ \t]*([<"])([^>"\n]+)[>"]', re.MULTILINE
)


def named(content: bytes) -> list[tuple[int, str, bool]]:
    """The #include lines of a file.

    Args:
        content: the bytes of a C or C++ source.

    Returns:
        For each: its line, the name, and whether it stands in quotes.
    """
    found = []
    position = 0
    line = 1
    for match in _INCLUDE.finditer(content):
        line += content.count(b"\n", position, match.start())
        position = match.start()
        found.append((line, match[2].decode("utf-8", "replace"), match[1] == b'"'))
    return found


class Resolver:
    """Finds the file of the tree that an #include means."""

    def __init__(
        self,
        has: Callable[[str], bool],
        roots: Sequence[str],
        generated: Sequence[Generated],
    ) -> None:
        """A resolver.

        Args:
            has: says whether the tree has a file.
            roots: the include folders, in the compiler's order; "." is the tree.
            generated: where headers that the build writes come from.
        """
        self._has = has
        self._roots = ["" if root == "." else root for root in roots]
        self._generated = generated
        self._known: dict[str, tuple[str, ...]] = {}

    def files(self, includer: str, name: str, quoted: bool) -> tuple[str, ...]:
        """The file that is meant, or the files that it is generated from; empty for system headers."""
        if quoted:
            beside = posixpath.normpath(posixpath.join(posixpath.dirname(includer), name))
            if self._has(beside):
                return (beside,)
        if name not in self._known:
            self._known[name] = self._from_roots(name)
        return self._known[name]

    def _from_roots(self, name: str) -> tuple[str, ...]:
        for root in self._roots:
            path = posixpath.normpath(posixpath.join(root, name))
            if self._has(path):
                return (path,)
        for rule in self._generated:
            match = rule.header.fullmatch(name)
            if match:
                paths = [source.format(**match.groupdict()) for source in rule.sources]
                present = tuple(path for path in paths if self._has(path))
                if present:
                    return present
        return ()


def reach(starts: Iterable[str], includes: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """What some files include, directly or not.

    Args:
        starts: the files to start from.
        includes: the direct includes of each file.

    Returns:
        Each file that is reached, the starts included, with one that includes it; "" for the starts.
    """
    queue = deque(sorted(starts))
    found = dict.fromkeys(queue, "")
    while queue:
        path = queue.popleft()
        for target in includes.get(path, ()):
            if target not in found:
                found[target] = path
                queue.append(target)
    return found
