"""Which links within a site of HTML lead to nothing."""

from __future__ import annotations

import html.parser
import os
import pathlib
import urllib.parse
from collections.abc import Mapping

_LINKS = {("a", "href"), ("link", "href"), ("img", "src"), ("script", "src")}


class Page(html.parser.HTMLParser):
    """A page's links and the names that links can have.

    Args:
        path: the file.
    """

    def __init__(self, path: pathlib.Path) -> None:
        super().__init__()
        self.links: list[str] = []
        self.names: set[str] = set()
        self.text = path.read_text(encoding="utf-8")
        self.feed(self.text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Notes what a tag links to, or is named.

        Args:
            tag: its name.
            attrs: its attributes.
        """
        for name, value in attrs:
            if name in ("id", "name") and value:
                self.names.add(value)
            if (tag, name) in _LINKS and value:
                self.links.append(value)


def read(site: pathlib.Path) -> dict[pathlib.Path, Page]:
    """All pages of a folder, by their paths."""
    return {path.resolve(): Page(path) for path in site.rglob("*.html")}


def broken(pages: Mapping[pathlib.Path, Page]) -> tuple[int, set[str]]:
    """The number of links within the site, and those that lead to nothing, as `PAGE: LINK`.

    Args:
        pages: what `read` returns.
    """
    checked, found = 0, set()
    for path, page in pages.items():
        for link in page.links:
            parts = urllib.parse.urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            checked += 1
            target = path
            if parts.path:
                place = path.parent / urllib.parse.unquote(parts.path)
                target = pathlib.Path(os.path.normpath(place))
            # Doxygen's menu has letters for pages that are too short to be divided.
            letter = parts.fragment.startswith("index_")
            fragment = "" if letter else urllib.parse.unquote(parts.fragment)
            named = target in pages and fragment in pages[target].names
            known = target in pages or target.is_file()
            if not known or (fragment and not named):
                found.add(f"{path}: {link}")
    return checked, found
