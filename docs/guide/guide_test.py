"""Both languages of the guide have the same chapters and code, and what they quote and name is there."""

from __future__ import annotations

import pathlib
import re
import tomllib

import yaml
from absl.testing import absltest
from torchgen.model import FunctionSchema

from docs.guide import guide

# The workspace, wherever the test runs.
_ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
_LINK = re.compile(r"\]\(([^)#]+)\)")
_LABEL = re.compile(r"(?<![\w:])//([\w/]*)(?::([\w.-]+))?")
_FLAG = re.compile(r"(?<=\s)--(\w+)")


class GuideTest(absltest.TestCase):
    def test_both_languages_have_the_same_chapters(self) -> None:
        names = list(guide.chapters("en"))
        self.assertLen(names, 8)
        self.assertEqual(list(guide.chapters("zh")), names)
        page = (guide.HERE / "README.md").read_text(encoding="utf-8")
        for language in guide.LANGUAGES:
            for name in names:
                self.assertIn(f"({language}/{name}.md)", page)

    def test_both_languages_have_the_same_blocks_and_headings(self) -> None:
        for name, english in guide.chapters("en").items():
            chinese = guide.chapters("zh")[name]
            self.assertNotEmpty(list(guide.blocks(english)), name)
            self.assertEqual(list(guide.blocks(english)), list(guide.blocks(chinese)), name)
            ours, theirs = (re.findall("^#+ ", text, re.MULTILINE) for text in (english, chinese))
            self.assertEqual(ours, theirs, name)
            # Fences that are not closed would hide the text behind them.
            for text in (english, chinese):
                self.assertEqual(text.count("```"), 2 * len(list(guide.blocks(text))), name)

    def test_quotes_are_parts_of_their_files(self) -> None:
        quotes = 0
        for name, text in guide.chapters("en").items():
            for block in guide.blocks(text):
                if block.file is not None:
                    quotes += 1
                    whole = (_ROOT / block.file).read_text(encoding="utf-8")
                    self.assertIn(f"\n{block.text}", whole, f"{name}: not in {block.file}")
        self.assertGreater(quotes, 5)

    def test_links_lead_somewhere(self) -> None:
        folder = _ROOT / "docs" / "guide"
        for path in [folder / "README.md", *folder.glob("*/*.md")]:
            for target in _LINK.findall(path.read_text(encoding="utf-8")):
                self.assertTrue((path.parent / target).exists(), f"{path}: {target}")

    def test_schemas_are_such(self) -> None:
        found = 0
        for text in guide.chapters("en").values():
            for block in guide.blocks(text):
                if block.language == "yaml":
                    for entry in yaml.safe_load(block.text):
                        schema = entry["func"].rpartition("::")[2]
                        self.assertEqual(str(FunctionSchema.parse(schema)), schema)
                        found += 1
                elif block.language == "toml":
                    self.assertIn(
                        "torch_cuda.devices", tomllib.loads(block.text)["project"]["entry-points"]
                    )
                    found += 1
        self.assertGreater(found, 3)

    def test_commands_name_targets_and_flags_that_are_there(self) -> None:
        conformance = (_ROOT / "tests/conformance/run.py").read_text(encoding="utf-8")
        labels = 0
        for text in guide.chapters("en").values():
            for block in guide.blocks(text):
                if block.language != "sh":
                    continue
                for package, target in _LABEL.findall(block.text):
                    labels += 1
                    build = _ROOT / package / "BUILD.bazel"
                    self.assertTrue(build.is_file(), f"//{package}")
                    name = target or pathlib.PurePath(package).name
                    self.assertIn(f'"{name}"', build.read_text(encoding="utf-8"))
                if "//tests/conformance -- " in block.text:
                    for flag in _FLAG.findall(block.text):
                        self.assertIn(f'"--{flag}"', conformance)
        self.assertGreater(labels, 5)


if __name__ == "__main__":
    absltest.main()
