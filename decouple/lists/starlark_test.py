"""Tests of starlark."""

from __future__ import annotations

import pathlib

from absl.testing import absltest

from decouple.errors import DecoupleError
from decouple.lists import starlark
from decouple.testing import make_tree


class StarlarkTest(absltest.TestCase):
    def setUp(self) -> None:
        self.root = pathlib.Path(self.create_tempdir().full_path)

    def _lists(self, text: str, **files: str) -> dict[str, tuple[str, ...]]:
        changes = {f"{name}.bzl": content for name, content in files.items()}
        return starlark.lists(make_tree(self.root, {"lists.bzl": text, **changes}), "lists.bzl")

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
