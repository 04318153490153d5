"""Writes the documentation as HTML, with a menu, a search box and the reference.

    ./bazelw run //docs/site -- FOLDER

Pages are the Markdown that README.md and docs/README.md lead to. A source file that a page links to becomes a page,
too, so that every link stays within the site. The site needs no server: it also works from a disk.
"""

from __future__ import annotations

import argparse
import dataclasses
import html
import json
import os
import pathlib
import re
import shutil
import string
import sys
import urllib.parse
from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePath

from markdown_it import MarkdownIt
from markdown_it.token import Token

from tools.lint import workspace
from tools.lint.pages import anchor

FIRST = PurePath("README.md")
CONTENTS = PurePath("docs/README.md")
REFERENCE = "reference"
INDEX = "search_index.js"

_HERE = pathlib.Path(__file__).parent
_COPIED = ("site.css", "search.js")
_PICTURES = (".svg", ".png")
_ELSEWHERE = re.compile(r"^[a-z][a-z0-9+.-]*:")
# What is long and seldom looked for comes last among equal results.
_LISTS = ("docs/coverage/", "docs/results/", f"{REFERENCE}/")


@dataclasses.dataclass(frozen=True)
class Section:
    """What the search finds: the text under one heading."""

    address: str
    page: str
    heading: str
    text: str


@dataclasses.dataclass(frozen=True)
class Page:
    """A page of Markdown as HTML."""

    title: str
    body: str
    targets: list[PurePath]
    sections: list[Section]


class Site:
    """The pages of a workspace.

    Args:
        root: folder of the workspace.
        files: its files, relative to `root`.
    """

    def __init__(self, root: pathlib.Path, files: Sequence[PurePath]) -> None:
        self._root = root
        self._files = set(files)
        self._folders = {folder for file in files for folder in file.parents}
        self._markdown = MarkdownIt("commonmark").enable("table")
        self._markdown.add_render_rule("table_open", lambda *_: '<div class="table"><table>\n')
        self._markdown.add_render_rule("table_close", lambda *_: "</table></div>\n")
        self._template = string.Template((_HERE / "page.html").read_text(encoding="utf-8"))
        self.warnings: list[str] = []

    def write(self, out: pathlib.Path, reference: pathlib.Path) -> int:
        """Writes the site.

        Args:
            out: folder to write into.
            reference: folder of the reference (//docs/reference).

        Returns:
            The number of pages of Markdown.
        """
        pages = self._pages()
        menu = self._menu(pages)
        sections = []
        others: set[PurePath] = set()
        for path, page in pages.items():
            self._put(out, path, page.title, page.body, menu)
            sections += page.sections
            others.update(page.targets)
        for path in sorted(others - set(pages)):
            if path.suffix in _PICTURES:
                copy = out / path
                copy.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(self._root / path, copy)
            else:
                body = f"<h1>{html.escape(str(path))}</h1>\n{self._shown(path, others)}"
                self._put(out, path, str(path), body, menu)
        sections += _copy_reference(reference, out)
        for name in _COPIED:
            shutil.copyfile(_HERE / name, out / name)
        entries = [
            [one.address, one.page, one.heading, one.text, not one.address.startswith(_LISTS)]
            for one in sections
        ]
        index = json.dumps(entries, ensure_ascii=False, separators=(",", ":"))
        (out / INDEX).write_text(f"const SECTIONS = {index};\n", encoding="utf-8")
        return len(pages)

    def _pages(self) -> dict[PurePath, Page]:
        """The pages that the first two lead to, in the order in which they are met."""
        pages: dict[PurePath, Page] = {}
        waiting = [FIRST, CONTENTS]
        while waiting:
            path = waiting.pop(0)
            if path in pages:
                continue
            pages[path] = self._page(path)
            waiting += [target for target in pages[path].targets if target.suffix == ".md"]
        return pages

    def _page(self, path: PurePath) -> Page:
        tokens = self._markdown.parse((self._root / path).read_text(encoding="utf-8"))
        targets = self._linked(path, tokens)
        title, sections = _sections(self.address(path), tokens)
        body = self._markdown.renderer.render(tokens, self._markdown.options, {})
        return Page(title or str(path), body, targets, sections)

    def _linked(self, path: PurePath, tokens: list[Token]) -> list[PurePath]:
        """Lets the links of a page lead to the site's pages; returns what they lead to."""
        targets = []
        for token in _all(tokens):
            name = {"link_open": "href", "image": "src"}.get(token.type, "")
            link = str(token.attrGet(name) or "") if name else ""
            if not link or _ELSEWHERE.match(link):
                continue
            place, _, fragment = urllib.parse.unquote(link).partition("#")
            target = self._resolved(PurePath(os.path.normpath(path.parent / place)))
            if not place:
                target = path
            if target is None:
                self.warnings.append(f"{path}: {link} leads to nothing")
                continue
            targets.append(target)
            there = os.path.relpath(self.address(target), PurePath(self.address(path)).parent)
            token.attrSet(name, there + (f"#{fragment}" if fragment else ""))
        return targets

    def _resolved(self, path: PurePath) -> PurePath | None:
        """What a link to a path shows: a folder is shown by its README, if it has one."""
        if path in self._folders and path / "README.md" in self._files:
            return path / "README.md"
        return path if path in self._files or path in self._folders else None

    def address(self, path: PurePath) -> str:
        """Where the page of a file or folder is in the site."""
        if path in self._folders:
            return str(path / "index.html")
        if path.name == "README.md":
            return str(path.with_name("index.html"))
        if path.suffix in _PICTURES:
            return str(path)
        return str(path.with_suffix(".html") if path.suffix == ".md" else f"{path}.html")

    def _shown(self, path: PurePath, others: set[PurePath]) -> str:
        """A source file as it is, or a folder's files."""
        if path not in self._folders:
            text = (self._root / path).read_text(encoding="utf-8")
            return f'<pre class="source"><code>{html.escape(text)}</code></pre>\n'
        rows = []
        for file in sorted(file for file in self._files if path in file.parents):
            name = html.escape(str(file.relative_to(path)))
            link = os.path.relpath(self.address(file), path)
            rows.append(f'<a href="{link}">{name}</a>' if file in others else name)
        return "<ul>\n" + "".join(f"<li>{row}</li>\n" for row in rows) + "</ul>\n"

    def _menu(self, pages: Mapping[PurePath, Page]) -> list[tuple[str, list[tuple[str, str]]]]:
        """The groups of links of docs/README.md: a heading, then titles with their addresses."""
        tokens = self._markdown.parse((self._root / CONTENTS).read_text(encoding="utf-8"))
        start = [(title, self.address(path)) for title, path in [("Overview", FIRST)]]
        menu = [("Start", [*start, ("All pages", self.address(CONTENTS))])]
        for before, token in zip([None, *tokens], tokens, strict=False):
            if before is not None and before.type == "heading_open" and before.tag == "h2":
                menu.append((token.content, []))
            for child in token.children or []:
                link = str(child.attrGet("href") or "").partition("#")[0]
                path = PurePath(os.path.normpath(CONTENTS.parent / link))
                address = self.address(path)
                if link and path in pages and all(address != has for _, has in menu[-1][1]):
                    menu[-1][1].append((pages[path].title, address))
        menu.append(("Reference", [("Headers and Python packages", f"{REFERENCE}/index.html")]))
        return menu

    def _put(
        self,
        out: pathlib.Path,
        path: PurePath,
        title: str,
        body: str,
        menu: list[tuple[str, list[tuple[str, str]]]],
    ) -> None:
        address = self.address(path)
        up = "../" * (len(PurePath(address).parts) - 1)
        groups = []
        for heading, links in menu:
            items = "".join(
                f'<li><a href="{up}{link}"{_current(link, address)}>{html.escape(text)}</a></li>\n'
                for text, link in links
            )
            groups.append(f"<h2>{html.escape(heading)}</h2>\n<ul>\n{items}</ul>\n")
        place = out / address
        place.parent.mkdir(parents=True, exist_ok=True)
        page = self._template.substitute(
            title=html.escape(title),
            language="zh" if "zh" in path.parts else "en",
            up=up,
            menu="".join(groups),
            body=body,
        )
        place.write_text(page, encoding="utf-8")


def _current(link: str, address: str) -> str:
    return ' aria-current="page"' if link == address else ""


def _all(tokens: Sequence[Token]) -> Iterator[Token]:
    for token in tokens:
        yield token
        yield from _all(token.children or [])


def _text(token: Token) -> str:
    """The words of a token, without Markdown's marks."""
    if token.type == "inline":
        return "".join(map(_text, token.children or []))
    return " " if token.type in ("softbreak", "hardbreak") else token.content


def _sections(address: str, tokens: list[Token]) -> tuple[str, list[Section]]:
    """Gives the headings of a page the names that GitHub gives them; returns its title and sections."""
    title, heading, name = "", "", ""
    words: list[str] = []
    names: dict[str, int] = {}
    sections = []

    def end() -> None:
        if heading or words:
            place = f"{address}#{name}" if name else address
            sections.append(Section(place, title, heading, " ".join(" ".join(words).split())))
        words.clear()

    for before, token in zip([None, *tokens], tokens, strict=False):
        if before is not None and before.type == "heading_open":
            end()
            heading = _text(token)
            slug = anchor(heading)
            count = names.get(slug, 0)
            names[slug] = count + 1
            name = f"{slug}-{count}" if count else slug
            before.attrSet("id", name)
            title = title or heading
        elif token.type in ("inline", "fence", "code_block"):
            words.append(_text(token))
    end()
    return title, sections


def _copy_reference(reference: pathlib.Path, out: pathlib.Path) -> Iterator[Section]:
    """Copies the reference, gives its first page a way back, and yields what the search finds."""
    for source in sorted(reference.rglob("*")):
        place = out / REFERENCE / source.relative_to(reference)
        if source.is_dir():
            continue
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, place)
        if source.suffix != ".html":
            continue
        text = source.read_text(encoding="utf-8")
        if source.parent == reference:
            back = '<p><a href="../index.html">torch_cuda: documentation</a></p>\n'
            place.write_text(text.replace("<h1>", f"{back}<h1>", 1), encoding="utf-8")
        elif re.match(r"(struct|class|torch_|table_|device__)", source.name):
            title = re.search(r"<title>(.*?)</title>", text, re.DOTALL)
            body = re.sub(r"<(script|style|head)\b.*?</\1>", " ", text, flags=re.DOTALL)
            words = html.unescape(re.sub(r"<[^>]*>", " ", body))
            name = html.unescape(title[1]).strip() if title else source.stem
            address = str(place.relative_to(out))
            yield Section(address, "Reference", name, " ".join(words.split()))


def main(argv: Sequence[str] | None = None) -> int:
    """Writes the site; returns the exit status."""
    parser = argparse.ArgumentParser(
        prog="./bazelw run //docs/site --", description="Write the documentation as HTML."
    )
    parser.add_argument("--reference", type=pathlib.Path, required=True, help=argparse.SUPPRESS)
    parser.add_argument("out", metavar="FOLDER", type=pathlib.Path, help="new or written before")
    arguments = parser.parse_args(argv)
    # Bazel starts a program in its own folder; the user means the folder of the command.
    out = pathlib.Path(os.environ.get("BUILD_WORKING_DIRECTORY", "."), arguments.out)
    if out.exists() and any(out.iterdir()):
        if not (out / INDEX).is_file():
            parser.exit(
                2, f"{out} has files that are not the site's. Name a new or empty folder.\n"
            )
        shutil.rmtree(out)
    out.mkdir(parents=True, exist_ok=True)
    root = workspace.root()
    site = Site(root, workspace.files(root))
    count = site.write(out, arguments.reference)
    print("".join(f"{line}\n" for line in site.warnings), end="")
    print(f"{count} pages: {out / 'index.html'}")
    return 1 if site.warnings else 0


if __name__ == "__main__":
    sys.exit(main())
