"""Tests of directives."""

from __future__ import annotations

from absl.testing import absltest

from decouple.cpp import directives
from decouple.errors import DecoupleError


def _keywords(text: str) -> list[tuple[str, str, int, int]]:
    return [
        (entry.keyword, entry.expression, entry.first_line, entry.last_line)
        for entry in directives.directives(text)
    ]


class DirectivesTest(absltest.TestCase):
    def test_continued_condition_is_one_directive(self) -> None:
        text = "a\n#if defined(A) && \\\n    defined(B)\n#endif\n"
        self.assertEqual(
            _keywords(text), [("if", "defined(A) && defined(B)", 2, 3), ("endif", "", 4, 4)]
        )

    def test_keyword_may_be_spliced(self) -> None:
        self.assertEqual(_keywords("#if\\\ndef A\n"), [("ifdef", "A", 1, 2)])

    def test_comments_are_no_part_of_a_condition(self) -> None:
        text = "#ifdef A // here\n#elif B /* and\nhere */\n"
        self.assertEqual(_keywords(text), [("ifdef", "A", 1, 1), ("elif", "B", 2, 3)])

    def test_comments_and_literals_hold_no_directives(self) -> None:
        for text in (
            "/*\n#if A\n*/\n",
            "// \\\n#if A\n",
            'auto s = R"x(\n#if A\n)x";\n',
            'auto s = "\\\n#if A";\n',
            "int a; /*\n*/ #if A\n",
        ):
            with self.subTest(text):
                self.assertEqual(_keywords(text), [])

    def test_quote_of_a_number_starts_no_literal(self) -> None:
        self.assertEqual(_keywords("int a = 1'000;\n#if A\n"), [("if", "A", 2, 2)])

    def test_comment_before_a_directive_belongs_to_its_line(self) -> None:
        self.assertEqual(_keywords("/* a\n */ # ifdef A\n"), [("ifdef", "A", 1, 2)])

    def test_branches_have_exact_lines(self) -> None:
        text = "#if A\n1\n2\n#elif B\n#else\n3\n#ifdef C\n#endif\n#endif\n"
        (conditional,) = directives.conditionals(text, "x.h")
        self.assertEqual((conditional.first_line, conditional.last_line), (1, 9))
        lines = [(branch.first_line, branch.last_line) for branch in conditional.branches]
        self.assertEqual(lines, [(2, 3), (5, 4), (6, 8)])
        (inner,) = conditional.branches[2].conditionals
        self.assertEqual((inner.first_line, inner.last_line), (7, 8))

    def test_unbalanced_conditionals_are_named_with_their_line(self) -> None:
        cases = {
            "a\n#if A\n#ifdef B\n#endif\n": r"^x\.h:2: #if has no #endif",
            "#if A\n#else\n": r"^x\.h:1: #if has no #endif",
            "a\n\n#endif\n": r"^x\.h:3: #endif without #if",
            "#else\n": r"^x\.h:1: #else without #if",
            "#if A\n#else\n#elif B\n#endif\n": r"^x\.h:3: #elif behind #else",
        }
        for text, message in cases.items():
            with self.subTest(text), self.assertRaisesRegex(DecoupleError, message):
                directives.conditionals(text, "x.h")


if __name__ == "__main__":
    absltest.main()
