"""What the rules for pages find, and what they leave alone."""

from __future__ import annotations

from pathlib import PurePath

from absl.testing import absltest

from tools.lint import pages

_GLOSSARY = """# Words

| retired | write instead |
|---|---|
| emulator, GPU profile | GPU model |
| host view | host alias |
"""


def _faults(name: str, text: str, *others: str) -> list[str]:
    texts = {pages.GLOSSARY: _GLOSSARY, PurePath(name): text}
    paths = [*texts, *map(PurePath, others)]
    return [str(fault) for fault in pages.check(texts, paths) if fault.path == name]


class PagesTest(absltest.TestCase):
    def test_a_retired_word_is_refused_with_the_word_to_write(self) -> None:
        (fault,) = _faults("docs/a.md", "one\nThe GPU profiles are two.\n")
        self.assertIn("line 2", fault)
        self.assertIn('write "GPU model"', fault)

    def test_the_glossary_names_the_words_in_its_table_alone(self) -> None:
        self.assertEqual(pages.retired(_GLOSSARY)["host view"], "host alias")
        self.assertEqual(_faults(str(pages.GLOSSARY), _GLOSSARY), [])
        self.assertLen(_faults(str(pages.GLOSSARY), _GLOSSARY + "\nAn emulator.\n"), 1)

    def test_words_in_code_and_within_others_and_in_other_pages_are_left_alone(self) -> None:
        text = "`emulator` and emulators2\n\n```\nemulator\n```\n"
        self.assertEqual(_faults("docs/a.md", text), [])
        self.assertEqual(_faults("cudasim/README.md", "an emulator\n"), [])
        self.assertEqual(_faults("docs/guide/zh/1.md", "an emulator\n"), [])

    def test_a_glossary_without_retired_words_is_a_fault(self) -> None:
        (fault,) = pages.check({pages.GLOSSARY: "# Words\n"}, [pages.GLOSSARY])
        self.assertIn("retired", str(fault))

    def test_a_line_of_121_characters_is_long(self) -> None:
        self.assertEqual(_faults("docs/a.md", "a " * 59 + "aa\n"), [])
        (fault,) = _faults("docs/a.md", "one\n" + "a " * 60 + "a\n")
        self.assertIn("line 2", fault)

    def test_rows_and_code_and_links_may_be_long(self) -> None:
        row = "| " + "a " * 80 + "|\n"
        code = "```\n" + "a " * 80 + "\n```\n"
        self.assertEqual(_faults("docs/a.md", row + "\n" + code + "\n" + "a" * 200 + "\n"), [])

    def test_a_link_leads_to_a_file_a_folder_or_a_heading(self) -> None:
        text = (
            "# Top\n\n[a](../b/c.py) [b](../b) [c](#top) [d](architecture.md#words)\n"
            "[e](https://example.com/x) [f](@ROOT@/x.md) `[g](no.md)`\n"
        )
        self.assertEqual(_faults("docs/a.md", text, "b/c.py"), [])

    def test_a_dead_link_is_refused_in_every_page(self) -> None:
        (fault,) = _faults("b/README.md", "# A\n[a](no.md)\n")
        self.assertIn("line 2: b/no.md does not exist", fault)
        (fault,) = _faults("docs/a.md", "[a](architecture.md#nothing)\n")
        self.assertIn("#nothing", fault)

    def test_pages_of_others_are_not_looked_at(self) -> None:
        self.assertFalse(pages.is_page(PurePath("third_party/x/README.md")))
        self.assertTrue(pages.is_page(PurePath("a/README.md")))


if __name__ == "__main__":
    absltest.main()
