"""The tokenizer on what the standard says of tokens, on random texts and on upstream's sources.

Argument: build_variables.bzl at the top of the PyTorch sources.
"""

from __future__ import annotations

import pathlib
import random
import sys

from absl.testing import absltest, parameterized

from decouple.cpp import lexer
from torch_cuda_adapter.sources.tokenizer import SILENT, Kind, Positions, Token, tokenize

ROOT = pathlib.Path(sys.argv.pop(1)).resolve().parent
FOLDERS = ("aten/src/ATen/cuda", "aten/src/ATen/native/cuda", "c10/cuda", "torch/csrc/cuda")
SUFFIXES = (".cu", ".cuh", ".cpp", ".h")
SEED = 20261122
# Pieces that change what follows them.
PIECES = (
    *[
        "x",
        "cuda",
        "#",
        "%:",
        "include",
        "define",
        "error",
        "__has_include",
        "<",
        ">",
        "<<<",
        ">>>",
        "/*",
        "*/",
        "//",
        "1",
        "1'0",
        ".",
        "e+",
        ":",
        "::",
    ],
    *('R"', 'u8R"', "L", "u8", "(", ")", '"', "'", "\\\n", "\\ \r\n", "\\", "\n", "\r\n", "\r"),
    *(" ", "\t", "\\u00e9", "é", "\ufeff", "\udc80"),
)


def shown(source: str) -> list[tuple[str, str]]:
    """The tokens that are not silent, as (kind, what the compiler sees)."""
    return [(t.kind.value, t.spelling) for t in tokenize(source) if t.kind not in SILENT]


class TokensTest(parameterized.TestCase):
    @parameterized.parameters(
        ("cuda\\\nMalloc", [("identifier", "cudaMalloc")]),
        ("a/\\\n/ cudaFree\nb", [("identifier", "a"), ("identifier", "b")]),
        (
            "/* cudaFree */ x // cudaFree \\\n cudaFree\ny",
            [("identifier", "x"), ("identifier", "y")],
        ),
        (
            "1'000'000ull 0x1p-3 .5e+7f",
            [("number", n) for n in ("1'000'000ull", "0x1p-3", ".5e+7f")],
        ),
        ('u8"a\\"b"_s L\'c\' R"(")"', [("string", s) for s in ('u8"a\\"b"_s', "L'c'", 'R"(")"')]),
        # In a raw string a backslash and a line end are what they are.
        ('R"x(\\\n)" )x" y', [("string", 'R"x(\\\n)" )x"'), ("identifier", "y")]),
        ('R\\\n"(a)" b', [("string", 'R\\\n"(a)"'), ("identifier", "b")]),
        ('fooR"(x)"', [("identifier", "fooR"), ("string", '"(x)"')]),
        (
            "k<<<1, 2>>>()",
            [
                ("identifier" if t == "k" else "number" if t.isdigit() else "punctuator", t)
                for t in ("k", "<<<", "1", ",", "2", ">>>", "(", ")")
            ],
        ),
        (
            "a<::b> <:c:>",
            [
                *(
                    ("identifier", "a"),
                    ("punctuator", "<"),
                    ("punctuator", "::"),
                    ("identifier", "b"),
                ),
                *(
                    ("punctuator", ">"),
                    ("punctuator", "<:"),
                    ("identifier", "c"),
                    ("punctuator", ":>"),
                ),
            ],
        ),
        (
            "$x \\u00e9t\\U000000e9 ñ",
            [("identifier", n) for n in ("$x", "\\u00e9t\\U000000e9", "ñ")],
        ),
        # A quote that nothing closes ends nothing.
        (
            "#error don't cudaFree",
            [
                *(
                    ("punctuator", "#"),
                    ("identifier", "error"),
                    ("identifier", "don"),
                    ("other", "'"),
                ),
                *(("identifier", "t"), ("identifier", "cudaFree")),
            ],
        ),
    )
    def test_tokens(self, source: str, expected: list[tuple[str, str]]) -> None:
        self.assertEqual(shown(source), expected)

    @parameterized.parameters(
        ("#include <a/b.h>", "<a/b.h>"),
        ('  %: /* x */ include_next \\\n "a b.h" // c', '"a b.h"'),
        ("#if defined(A) && __has_include(<cub/cub.cuh>)", "<cub/cub.cuh>"),
        ("\ufeff#include <a.h>", "<a.h>"),
        ("#include <a\\\nb.h>", "<ab.h>"),
    )
    def test_names_of_headers(self, source: str, expected: str) -> None:
        self.assertIn(("header", expected), shown(source))

    @parameterized.parameters("a < b > c", "#define X <a>", "x #include <a.h>", "#include X <a>")
    def test_no_header(self, source: str) -> None:
        self.assertNotIn("header", [kind for kind, _ in shown(source)])

    def test_a_token_knows_its_directive(self) -> None:
        source = "#define A \\\n  cudaFree /* \n */ b\ncudaFree\n#pragma unroll\nx"
        found = {t.spelling: t.directive for t in tokenize(source) if t.kind is Kind.IDENTIFIER}
        self.assertEqual(found["b"], "define")
        self.assertEqual(found["cudaFree"], "")
        self.assertEqual(found["unroll"], "pragma")
        self.assertEqual(found["x"], "")

    def test_positions(self) -> None:
        source = "ab\ncd\r\n\ne"
        at = Positions(source).at
        self.assertEqual(
            [at(i) for i in (0, 1, 2, 3, 7, 8)], [(1, 1), (1, 2), (1, 3), (2, 1), (3, 1), (4, 1)]
        )


class LosslessTest(absltest.TestCase):
    def _check(self, source: str) -> list[Token]:
        tokens = tokenize(source)
        self.assertEqual("".join(token.text for token in tokens), source)
        self.assertEqual([token.offset for token in tokens], _offsets(tokens))
        return tokens

    def test_random_texts(self) -> None:
        generator = random.Random(SEED)
        for _ in range(5000):
            pieces = generator.choices(PIECES, k=generator.randint(0, 40))
            self._check("".join(pieces))

    def test_random_bytes(self) -> None:
        generator = random.Random(SEED)
        for _ in range(300):
            content = generator.randbytes(generator.randint(0, 200))
            self._check(content.decode("utf-8", "surrogateescape"))

    def test_upstreams_sources(self) -> None:
        """Nothing is lost, and what is a comment is one for the masking lexer of decouple as well."""
        count = 0
        for path in sorted(path for folder in FOLDERS for path in (ROOT / folder).glob("*")):
            if path.suffix not in SUFFIXES:
                continue
            source = path.read_bytes().decode("utf-8", "surrogateescape")
            count += 1
            with self.subTest(path.name):
                tokens = self._check(source)
                mine = "".join(
                    lexer.GAP * len(t.text) if t.kind is Kind.COMMENT else t.text for t in tokens
                )
                theirs = lexer.mask(source)
                gaps = [t.offset for t in tokens if t.kind is Kind.COMMENT]
                self.assertEqual(mine.count(lexer.GAP), theirs.count(lexer.GAP))
                self.assertTrue(all(theirs[offset] == lexer.GAP for offset in gaps))
        self.assertGreater(count, 300)


def _offsets(tokens: list[Token]) -> list[int]:
    offset = 0
    offsets = []
    for token in tokens:
        offsets.append(offset)
        offset += len(token.text)
    return offsets


if __name__ == "__main__":
    absltest.main()
