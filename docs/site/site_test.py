"""The site has every page, no dead link, and finds what people look for."""

from __future__ import annotations

import json
import pathlib
import sys
import tempfile

from absl.testing import absltest

from docs.reference import links
from docs.site import write
from tools.lint import workspace


class SiteTest(absltest.TestCase):
    reference: pathlib.Path
    site: pathlib.Path
    warnings: list[str]
    pages: dict[pathlib.Path, links.Page]

    @classmethod
    def setUpClass(cls) -> None:
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.site = pathlib.Path(folder.name).resolve()
        root = workspace.root()
        made = write.Site(root, workspace.files(root))
        made.write(cls.site, cls.reference)
        cls.warnings = made.warnings
        cls.pages = links.read(cls.site)

    def test_every_link_leads_somewhere(self) -> None:
        self.assertEmpty(self.warnings)
        checked, broken = links.broken(self.pages)
        self.assertEmpty(broken)
        self.assertGreater(checked, 10_000)

    def test_every_page_of_docs_is_in_the_site(self) -> None:
        root = workspace.root()
        docs = [path for path in workspace.files(root) if path.suffix == ".md"]
        docs = [path for path in docs if path.parts[0] == "docs"]
        # What Doxygen makes a page of.
        docs.remove(pathlib.PurePath("docs/reference/devices.md"))
        site = write.Site(root, docs)
        self.assertContainsSubset({self.site / site.address(path) for path in docs}, self.pages)

    def test_a_page_has_a_menu_and_a_search_box(self) -> None:
        page = self.pages[self.site / "docs/concepts/launch.html"]
        for name in ("search", "results", "pages"):
            self.assertIn(name, page.names)
        self.assertIn("../../docs/stock.html", page.links)
        self.assertIn('<a href="../../docs/concepts/launch.html" aria-current="page">', page.text)

    def test_the_search_knows_the_sections_of_pages_and_of_the_reference(self) -> None:
        text = (self.site / write.INDEX).read_text(encoding="utf-8")
        sections = json.loads(text.removeprefix("const SECTIONS = ").rstrip(";\n"))
        found = {address: (page, heading) for address, page, heading, *_ in sections}
        self.assertEqual(
            found["CONTRIBUTING.html#add-a-function-to-a-cuda-library"],
            ("Contributing", "Add a function to a CUDA library"),
        )
        self.assertIn("reference/c/structaccel__api.html", found)
        self.assertIn("reference/python/torch_cuda_runtime.html", found)
        for address in found:
            page, _, name = address.partition("#")
            self.assertIn(self.site / page, self.pages)
            if name:
                self.assertIn(name, self.pages[self.site / page].names)


class MarkdownTest(absltest.TestCase):
    def write(self, **texts: str) -> tuple[write.Site, pathlib.Path]:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        root = pathlib.Path(folder.name, "root")
        texts = {"README.md": "# Start", "docs/README.md": "# Docs", **texts}
        for name, text in texts.items():
            place = root / name
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(text, encoding="utf-8")
        out = pathlib.Path(folder.name, "out")
        out.mkdir()
        site = write.Site(root, [pathlib.PurePath(name) for name in texts])
        site.write(out, pathlib.Path(folder.name, "none"))
        return site, out

    def test_a_link_to_nothing_is_a_warning(self) -> None:
        site, _ = self.write(**{"README.md": "# Start\n\n[gone](docs/gone.md)"})
        self.assertEqual(site.warnings, ["README.md: docs/gone.md leads to nothing"])

    def test_linked_sources_become_pages_with_their_text(self) -> None:
        page = "# Start\n\n[code](pkg/a.h), [folder](pkg), [readme](docs)"
        site, out = self.write(**{"README.md": page, "pkg/a.h": "a < b", "pkg/b.h": ""})
        self.assertEmpty(site.warnings)
        self.assertIn("a &lt; b", (out / "pkg/a.h.html").read_text(encoding="utf-8"))
        folder = (out / "pkg/index.html").read_text(encoding="utf-8")
        self.assertIn('<a href="a.h.html">a.h</a>', folder)
        self.assertIn("<li>b.h</li>", folder)
        start = (out / "index.html").read_text(encoding="utf-8")
        self.assertIn('<a href="docs/index.html">readme</a>', start)

    def test_headings_have_the_names_that_links_on_github_have(self) -> None:
        page = "# Start\n\n## `A=1`, and more\n\n## Twice\n\n## Twice\n"
        _, out = self.write(**{"README.md": page})
        text = (out / "index.html").read_text(encoding="utf-8")
        for name in ("a1-and-more", "twice", "twice-1"):
            self.assertIn(f'<h2 id="{name}">', text)

    def test_wide_tables_scroll(self) -> None:
        _, out = self.write(**{"README.md": "# Start\n\n| a | b |\n|---|---|\n| 1 | 2 |\n"})
        text = (out / "index.html").read_text(encoding="utf-8")
        self.assertIn('<div class="table"><table>', text)


class CommandTest(absltest.TestCase):
    def test_a_folder_with_other_files_is_left_alone(self) -> None:
        folder = self.create_tempdir()
        kept = folder.create_file("mine.txt")
        with self.assertRaises(SystemExit) as ended:
            write.main(["--reference=none", folder.full_path])
        self.assertEqual(ended.exception.code, 2)
        self.assertTrue(pathlib.Path(kept.full_path).is_file())


if __name__ == "__main__":
    SiteTest.reference = pathlib.Path(sys.argv.pop(1)).resolve()
    absltest.main()
