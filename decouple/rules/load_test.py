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
            "cpp: [{id: x, pattern: '('}]\n": "rules.yaml:1: pattern is no regular expression",
            "words:\n- a\n- 3\n": "rules.yaml:3: an entry of words has to be a text",
            "macros: {build: USE_X}\n": "build has to be a list",
            "macros: {bild: [USE_X]}\n": "macros has the unknown key 'bild'",
            "macros: {build: [A B]}\n": "'A B' in an entry of build is no name of a macro",
            "files: [{id: x, suffixes: .a}]\n": "suffixes has to be a list",
            "cpp: [{id: x}]\n": "an entry of cpp has no pattern",
            "generated: [{header: a, from: ['{b}']}]\n": "asks for b, which no group is called",
            "python: [{id: x}]\n": "needs one of dotted, import, attribute, string",
        }
        for text, message in cases.items():
            with self.subTest(text), self.assertRaisesRegex(DecoupleError, message) as caught:
                load("cuda", [self._file(text)])
            self.assertNotIn("\n", str(caught.exception))

    def test_unknown_device_lists_the_known_ones(self) -> None:
        with self.assertRaisesRegex(DecoupleError, "known: cuda, rocm, xpu"):
            load("tpu")

    def test_a_new_device_needs_words(self) -> None:
        with self.assertRaisesRegex(DecoupleError, "has no words"):
            load("npu", [self._file("macros: {build: [USE_NPU]}\n")])


if __name__ == "__main__":
    absltest.main()
