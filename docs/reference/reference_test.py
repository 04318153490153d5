"""The reference has no warnings, and a page for everything that is public."""

from __future__ import annotations

import ast
import html.parser
import pathlib
import re
import sys
import urllib.parse

from absl.testing import absltest


class Page(html.parser.HTMLParser):
    """A page's links and the names that links can have."""

    def __init__(self, path: pathlib.Path) -> None:
        super().__init__()
        self.links: list[str] = []
        self.names: set[str] = set()
        self.text = path.read_text(encoding="utf-8")
        self.feed(self.text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name in ("id", "name") and value:
                self.names.add(value)
            if name == "href" and tag == "a" and value:
                self.links.append(value)


class ReferenceTest(absltest.TestCase):
    site: pathlib.Path
    warnings: pathlib.Path
    pages: dict[pathlib.Path, Page]

    @classmethod
    def setUpClass(cls) -> None:
        cls.pages = {path: Page(path) for path in cls.site.rglob("*.html")}

    def test_nothing_is_undocumented_and_no_reference_is_broken(self) -> None:
        text = self.warnings.read_text(encoding="utf-8")
        self.assertEmpty(
            text,
            f"the reference has warnings; needed are none (docs/reference/README.md):\n{text}",
        )

    def test_the_first_page_leads_to_all_packages_and_headers(self) -> None:
        links = self.pages[self.site / "index.html"].links
        packages = {
            path.stem
            for path in (self.site / "python").glob("torch_*.html")
            if "." not in path.stem
        }
        self.assertEqual(
            packages, {pathlib.Path(link).stem for link in links if link.startswith("python/")}
        )
        self.assertLen(packages, 6)
        headers = {path.name for path in (self.site / "c").glob("*_8h.html")}
        self.assertEqual(
            headers, {pathlib.Path(link).name for link in links if link.endswith("_8h.html")}
        )

    def test_links_within_the_site_lead_somewhere(self) -> None:
        checked, broken = 0, set()
        for path, page in self.pages.items():
            for link in page.links:
                parts = urllib.parse.urlsplit(link)
                if parts.scheme or parts.netloc:
                    continue
                checked += 1
                target = path
                if parts.path:
                    target = (path.parent / urllib.parse.unquote(parts.path)).resolve()
                # Doxygen's menu has letters for pages that are too short to be divided.
                letter = parts.fragment.startswith("index_")
                fragment = "" if letter else urllib.parse.unquote(parts.fragment)
                if not target.is_file() or (fragment and fragment not in self.pages[target].names):
                    broken.add(f"{path.relative_to(self.site)}: {link}")
        self.assertEmpty(broken)
        self.assertGreater(checked, 1000)

    def test_every_member_of_the_structs_is_told_of(self) -> None:
        header = pathlib.Path("accelerator/abi/device_api.h").read_text(encoding="utf-8")
        code = re.sub(r"/\*.*?\*/", "", header, flags=re.DOTALL)
        structs = re.findall(r"^typedef struct (\w+) \{\n(.*?)^\}", code, re.MULTILINE | re.DOTALL)
        self.assertLen(structs, 11)
        for struct, body in structs:
            page = self.site / "c" / f"struct{struct.replace('_', '__')}.html"
            functions = re.findall(r"^  \S.*\(\s*\*(\w+)\)\(", body, re.MULTILINE)
            data = re.findall(r"(\w+)(?:\[\d+\])?;", body)
            shown = re.findall(
                r'class="memItemRight"[^\n]*?(?:<b>|">)(\w+)(?:</a>|</b>)', self.pages[page].text
            )
            self.assertNotEmpty(shown)
            self.assertCountEqual(shown, functions + data)

    def test_every_public_name_of_the_packages_has_its_place(self) -> None:
        for source in sorted(pathlib.Path().rglob("python/torch_*/__init__.py")):
            package = source.parent.name
            for name in _exported(source):
                full = f"{package}.{name}"
                anchors = self.pages[self.site / "python" / f"{package}.html"].names
                self.assertTrue(
                    full in anchors
                    or name in anchors
                    or self.site / "python" / f"{full}.html" in self.pages,
                    full,
                )


def _exported(source: pathlib.Path) -> list[str]:
    """What a module's `__all__` names."""
    for statement in ast.parse(source.read_text(encoding="utf-8")).body:
        if isinstance(statement, ast.Assign) and ast.unparse(statement.targets[0]) == "__all__":
            names: list[str] = ast.literal_eval(statement.value)
            return names
    return []


if __name__ == "__main__":
    ReferenceTest.site, ReferenceTest.warnings = (
        pathlib.Path(argument).resolve() for argument in sys.argv[1:3]
    )
    del sys.argv[1:3]
    absltest.main()
