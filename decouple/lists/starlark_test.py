"""Tests of starlark."""

from __future__ import annotations

import pathlib

from absl.testing import absltest

from decouple.errors import DecoupleError
from decouple.gaps import Gap, Gaps
from decouple.lists import starlark
from decouple.testing import make_tree


class StarlarkTest(absltest.TestCase):
    def setUp(self) -> None:
        self.root = pathlib.Path(self.create_tempdir().full_path)

    def _lists(self, text: str, **files: str) -> dict[str, tuple[str, ...]]:
        changes = {f"{name}.bzl": content for name, content in files.items()}
        return starlark.lists(make_tree(self.root, {"lists.bzl": text, **changes}), "lists.bzl")

    def _read(self, text: str) -> tuple[dict[str, tuple[str, ...]], tuple[Gap, ...]]:
        """What can be read, and what cannot."""
        gaps = Gaps()
        tree = make_tree(self.root, {"lists.bzl": text}, gaps)
        return starlark.lists(tree, "lists.bzl"), gaps.all()

    def test_a_statement_is_lost_and_not_the_file(self) -> None:
        for broken in (
            "lost = [",
            "lost = import",
            "lost = native.read_config('a')",
            "lost = 1 // 0",
            "lost = nowhere",
            "lost = '",
            "lost = [1, 2))",
        ):
            with self.subTest(broken):
                found, gaps = self._read(f'a = ["x"]\n{broken}\nb = a + ["y"]\n')
                self.assertEqual(found, {"a": ("x",), "b": ("x", "y")})
                (gap,) = gaps
                self.assertEqual((gap.path, gap.line), ("lists.bzl", 2))
                self.assertIn("lost", gap.affects)

    def test_what_is_made_of_what_is_lost_is_named(self) -> None:
        text = (
            'lost = nowhere()\ndef more():\n    return lost\nlist_a = ["x"] + lost\nlist_b = ["y"] + list_a\n'
            'other = ["z"]\nuses = more()\n'
        )
        found, gaps = self._read(text)
        self.assertEqual(found, {"list_a": ("x",), "list_b": ("y", "x"), "other": ("z",)})
        self.assertEqual(gaps[0].affects, ("list_a", "list_b", "lost", "more", "uses"))
        self.assertEqual([(gap.line, gap.skipped) for gap in gaps][1], (4, "what it would add"))

    def test_a_function_runs_up_to_what_is_no_starlark(self) -> None:
        text = (
            'def names(config):\n    if config:\n        import os\n    return ["x"]\n'
            "a = names(False)\nb = names(True)\n"
        )
        found, gaps = self._read(text)
        self.assertEqual(found, {"a": ("x",)})
        self.assertEqual([gap.line for gap in gaps], [3, 3])
        self.assertEqual([gap.affects for gap in gaps], [("a", "b", "names"), ("b",)])

    def test_no_file_takes_the_memory_or_does_not_end(self) -> None:
        for text in (
            "x = 3\nx *= 10000000000\nx *= x\nfor i in range(100000):\n    x = x * x\n",
            "x = [1]\nx *= 10000000000\n",
            "x = 'a'\nfor i in range(100):\n    x += x\n",
            "x = [1]\nfor i in range(100):\n    x.extend(x)\n",
            "x = [1]\nfor i in x:\n    x.append(i)\n",
            "x = []\nfor i in range(100):\n    x = [x, x]\nx = str(x)\n",
            "x = ()\nfor i in range(100):\n    y = (x, x)\n    x = y\nx = {x: 1}\n",
            "x = [a for a in range(1000000) for b in range(1000000)]\n",
            "def f(n):\n    return f(n - 1) + f(n - 1) if n else []\nx = f(100)\n",
            "def f(n):\n    return f(n)\nx = f(1)\n",
            "x = '%1000000000d' % 1\n",
            "x = ('a' * 1000000).replace('a', 'b' * 1000000)\n",
            "x = ('a' * 1000000).join(['b'] * 1000000)\n",
            "x = ('{0}' * 100000).format('b' * 1000000)\n",
            "x = 2 ** 10 ** 9\n",
            "x = 1 << 10000000000\n",
            "x = " + "[" * 3000 + "]" * 3000 + "\n",
            "x = 1" + " + 1" * 30000 + "\n",
            "x = " + "9" * 5000 + "\n",
        ):
            with self.subTest(text[:60]):
                found, gaps = self._read(f'{text}end = ["x"]\n')
                self.assertEqual(found["end"], ("x",))
                self.assertNotEmpty(gaps)

    def test_lists_are_computed(self) -> None:
        text = (
            'kinds = ["add", "mul"]\n'
            'def sources(pattern):\n    """Names."""\n'
            "    return [pattern.format(kind) for kind in kinds]\n"
            'both = sources("{}.cpp") + ["%s.cu" % kind for kind in kinds if kind != "mul"]\n'
            'both += ["end.cpp"] * 2\n'
        )
        self.assertEqual(
            self._lists(text)["both"], ("add.cpp", "mul.cpp", "add.cu", "end.cpp", "end.cpp")
        )

    def test_only_lists_of_strings_are_lists(self) -> None:
        self.assertEqual(self._lists('a = ["x"]\nb = [1]\nc = "x"\nd = {}\n'), {"a": ("x",)})

    def test_load_and_glob_look_in_the_tree(self) -> None:
        text = (
            'load("//:other.bzl", "names", more = "names")\n'
            'load("@bazel_skylib//:lib.bzl", "paths")\n'
            'found = names + more + glob(["c10/**/*.cpp"], exclude = ["**/none.cpp"])\n'
        )
        found = self._lists(text, other='names = ["a"]\n')["found"]
        self.assertEqual(found, ("a", "a", "c10/cuda/Stream.cpp"))

    def test_what_is_not_starlark_does_not_run(self) -> None:
        cases = {
            "x = 1\nimport os\n": r"lists\.bzl:2: Import is not Starlark",
            "x = ().__class__\n": r"lists\.bzl:1: '\.__class__' is not Starlark",
            "x = __builtins__\n": r"the name '__builtins__' is not Starlark",
            "while True:\n    pass\n": r"lists\.bzl:1: While is not Starlark",
            "x = open('f')\n": r"lists\.bzl:1: fails: NameError",
            "x = '{0.real}'.format(1)\n": r"lists\.bzl:1: fails: ValueError",
            "x = [0] * 99999999999\n": r"lists\.bzl:1: fails: ValueError: the product",
            "x = [\n": r"lists\.bzl:1: is not Starlark",
            "a = 1\nfail('no')\n": r"lists\.bzl:2: fails: ValueError: fail: no",
            "def f():\n    return f()\nf()\n": r"lists\.bzl:\d: fails: RecursionError",
        }
        for text, message in cases.items():
            with self.subTest(text), self.assertRaisesRegex(DecoupleError, message):
                self._lists(text)

    def test_using_a_name_of_another_repository_says_whose_it_is(self) -> None:
        with self.assertRaisesRegex(DecoupleError, "paths of @lib//:x.bzl cannot be used"):
            self._lists('load("@lib//:x.bzl", "paths")\npaths("a")\n')

    def test_file_that_loads_itself_is_refused(self) -> None:
        self.assertEqual(self._lists('load(":lists.bzl", "a")\nb = ["c"]\n'), {"b": ("c",)})


if __name__ == "__main__":
    absltest.main()
