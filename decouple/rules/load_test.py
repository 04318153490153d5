"""Tests of load."""

from __future__ import annotations

import pathlib

from absl.testing import absltest

from decouple.errors import DecoupleError
from decouple.rules.load import devices, load


class LoadTest(absltest.TestCase):
    def _file(self, text: str) -> pathlib.Path:
        return pathlib.Path(self.create_tempfile("rules.yaml", text).full_path)

    def test_all_devices_have_rules_that_load(self) -> None:
        self.assertEqual(devices(), ["cuda", "rocm", "xpu"])
        for device in devices():
            self.assertNotEmpty(load(device).macros.names)

    def test_users_file_adds_to_the_rules(self) -> None:
        file = self._file("macros: {build: [USE_MINE]}\nfiles: [{id: mine, folders: [mine]}]\n")
        rules = load("cuda", [file])
        self.assertContainsSubset({"USE_CUDA", "USE_MINE"}, rules.macros.names)
        self.assertEqual(rules.files[-1].match("a/mine/b.cpp"), "folder mine")

    def test_users_file_may_be_a_new_device(self) -> None:
        file = self._file("device: npu\nwords: [npu]\nmacros: {build: [USE_NPU]}\n")
        self.assertEqual(load("npu", [file]).macros.names, {"USE_NPU"})

    def test_bad_rules_are_refused_in_one_line(self) -> None:
        cases = {
            "device: npu\n": "has rules for npu, not for cuda; run with --device npu",
            "colour: red\n": "unknown key 'colour'",
            "- a\n": "has to be a mapping",
            "a: [\n": "rules.yaml:2: is not YAML",
            "cpp: [{id: x, pattern: '('}]\n": "a rule cannot be used",
            "python: [{id: x}]\n": "needs one of dotted, attribute, string",
        }
        for text, message in cases.items():
            with self.subTest(text), self.assertRaisesRegex(DecoupleError, message) as caught:
                load("cuda", [self._file(text)])
            self.assertNotIn("\n", str(caught.exception))

    def test_unknown_device_lists_the_known_ones(self) -> None:
        with self.assertRaisesRegex(DecoupleError, "known: cuda, rocm, xpu"):
            load("tpu")


if __name__ == "__main__":
    absltest.main()
