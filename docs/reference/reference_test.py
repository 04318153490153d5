"""The reference has no warnings, and a page for everything that is public."""

from __future__ import annotations

import ast
import pathlib
import re
import sys

from absl.testing import absltest

from docs.reference import links


class ReferenceTest(absltest.TestCase):
    site: pathlib.Path
    warnings: pathlib.Path
    pages: dict[pathlib.Path, links.Page]

    @classmethod
    def setUpClass(cls) -> None:
        cls.pages = links.read(cls.site)

    def test_nothing_is_undocumented_and_no_reference_is_broken(self) -> None:
        text = self.warnings.read_text(encoding="utf-8")
        self.assertEmpty(
            text,
            f"the reference has warnings; needed are none (docs/reference/README.md):\n{text}",
        )

    def test_the_first_page_leads_to_all_packages_and_headers(self) -> None:
        leads = self.pages[self.site / "index.html"].links
        packages = {
            path.stem
            for path in (self.site / "python").glob("torch_*.html")
            if "." not in path.stem
        }
        self.assertEqual(
            packages, {pathlib.Path(link).stem for link in leads if link.startswith("python/")}
        )
        self.assertLen(packages, 6)
        headers = {path.name for path in (self.site / "c").glob("*_8h.html")}
        self.assertEqual(
            headers, {pathlib.Path(link).name for link in leads if link.endswith("_8h.html")}
        )

    def test_links_within_the_site_lead_somewhere(self) -> None:
        checked, broken = links.broken(self.pages)
        self.assertEmpty(broken)
        self.assertGreater(checked, 1000)

    def test_every_member_of_the_structs_is_told_of(self) -> None:
        header = pathlib.Path("device/abi/device_api.h").read_text(encoding="utf-8")
        code = re.sub(r"/\*.*?\*/", "", header, flags=re.DOTALL)
        structs = re.findall(r"^typedef struct (\w+) \{\n(.*?)^\}", code, re.MULTILINE | re.DOTALL)
        self.assertLen(structs, 14)
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
