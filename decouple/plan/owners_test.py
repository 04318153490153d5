"""Who owns what, as a file says it."""

from __future__ import annotations

import pathlib

from absl.testing import absltest

from decouple.errors import DecoupleError
from decouple.plan import owners
from decouple.plan.owners import NOBODY, Owners

_FILE = """
LAYERS = {"runtime": [], "python": ["runtime"], "python/bindings": ["runtime"]}
_RULES = [{"package": "runtime/core", "folder": "c10/"}, {"package": "python/bindings", "list": "bindings"}]
def package_of(path, lists = []):
    for rule in _RULES:
        if path.startswith(rule.get("folder", "?")) or rule.get("list") in lists:
            return rule["package"]
    return ""
def cut_package_of(path):
    return "python" if path.endswith(".py") else package_of(path)
"""


class OwnersTest(absltest.TestCase):
    def _read(self, text: str) -> Owners:
        return owners.read(pathlib.Path(self.create_tempfile("o.bzl", text).full_path))

    def test_a_file_says_who_owns_what(self) -> None:
        found = self._read(_FILE)
        self.assertTrue(found.given)
        self.assertEqual(found.package_of("c10/x.cpp"), "runtime/core")
        self.assertEqual(found.package_of("torch/x.cpp", ["bindings"]), "python/bindings")
        self.assertEqual(found.package_of("torch/x.cpp"), "")
        self.assertEqual(found.cut_package_of("torch/x.py"), "python")

    def test_a_package_is_in_the_longest_layer(self) -> None:
        found = self._read(_FILE)
        self.assertEqual(found.layer_of("python/bindings/cuda"), "python/bindings")
        self.assertEqual(found.layer_of("python/torch_cuda"), "python")
        self.assertEqual(found.layer_of("other"), "")
        self.assertEqual(found.layers["python"], {"runtime"})

    def test_nobody_owns_anything(self) -> None:
        self.assertFalse(NOBODY.given)
        self.assertEqual(NOBODY.package_of("c10/x.cpp", ["core"]), "")

    def test_a_file_answers_as_often_as_it_is_asked(self) -> None:
        found = self._read(_FILE)
        for number in range(20_000):
            self.assertEqual(found.package_of(f"c10/{'x' * 100}{number}.cpp"), "runtime/core")

    def test_a_file_that_says_it_not_is_refused(self) -> None:
        cases = {
            "": "says not who owns what: it has to define the mapping LAYERS",
            "import os\n": r"o\.bzl:1: Import is not Starlark",
            "LAYERS = [\n": r"o\.bzl:1: is not Starlark",
            _FILE.replace("LAYERS = {", "LAYERS = [] and {"): "says not who owns what",
        }
        for text, message in cases.items():
            with self.subTest(text), self.assertRaisesRegex(DecoupleError, message):
                self._read(text)
        with self.assertRaisesRegex(DecoupleError, "cannot be read"):
            owners.read(pathlib.Path("/nowhere/o.bzl"))

    def test_answers_that_are_none_are_refused(self) -> None:
        for body, message in (("1", "answers 1 for 'x'"), ("[][0]", "fails for 'x': IndexError")):
            text = f"LAYERS = {{}}\ndef package_of(p, l):\n    return {body}\n"
            found = self._read(text + "def cut_package_of(p):\n    return ''\n")
            with self.subTest(body), self.assertRaisesRegex(DecoupleError, message):
                found.package_of("x")


if __name__ == "__main__":
    absltest.main()
