"""Platforms are found, read, and refused where their file has not the form."""

from __future__ import annotations

import os
import pathlib
import re
from unittest import mock

from absl.testing import absltest, parameterized

from torch_cuda_adapter import platforms
from torch_cuda_adapter.errors import AdapterError

SHIPPED = ("mlu", "musa", "npu", "stand-in")
MINE = """
format = 1
name = "mine"
summary = "a fourth platform"
[device]
type = "mine"
dispatch_key = "PrivateUse1"
module = "torch_mine"
namespace = "torch.mine"
[sources.families.runtime]
replace = [["cuda", "mine"]]
"""


class LoadTest(parameterized.TestCase):
    def setUp(self) -> None:
        super().setUp()
        self.folder = pathlib.Path(self.create_tempdir().full_path)
        self.file = self.folder / "mine.toml"
        self.file.write_text(MINE, encoding="utf-8")

    def refused(self, text: str) -> str:
        self.file.write_text(text, encoding="utf-8")
        with self.assertRaises(AdapterError) as caught:
            platforms.load(self.file)
        self.assertIn(str(self.file), str(caught.exception))
        return str(caught.exception)

    def test_what_is_shipped(self) -> None:
        self.assertSequenceEqual(platforms.names(), SHIPPED)

    @parameterized.parameters(*SHIPPED)
    def test_a_shipped_platform(self, name: str) -> None:
        platform = platforms.load(name)
        self.assertEqual(platform.name, name)
        self.assertRegex(platform.digest, r"^[0-9a-f]{64}$")
        for table in ("device", "collectives", "profiler", "libraries", "capabilities", "sources"):
            self.assertNotEmpty(platform.table(table), table)

    def test_a_file_of_ones_own(self) -> None:
        platform = platforms.load(self.file)
        self.assertEqual(platform.name, "mine")
        self.assertEqual(platform.path, self.file)
        self.assertEmpty(platform.table("libraries"))

    def test_a_folder_of_ones_own_comes_first(self) -> None:
        (self.folder / "musa.toml").write_text(MINE.replace("mine", "musa"), encoding="utf-8")
        with mock.patch.dict(os.environ, {platforms.FOLDERS_VARIABLE: f"{self.folder}:"}):
            self.assertSequenceEqual(platforms.names(), ["mine", *SHIPPED])
            self.assertEqual(platforms.load("mine").path, self.file)
            self.assertEqual(platforms.load("musa").summary, "a fourth platform")

    @parameterized.parameters("nobody", "", "../musa", "/etc/passwd")
    def test_no_such_platform(self, name: str) -> None:
        with self.assertRaisesRegex(
            AdapterError, "needed one of mlu, musa, npu, stand-in, or a file"
        ):
            platforms.load(name)

    def test_no_such_file(self) -> None:
        with self.assertRaisesRegex(AdapterError, "found no file .*no.toml that can be read"):
            platforms.load(self.folder / "no.toml")

    def test_no_toml(self) -> None:
        self.assertIn("not valid TOML", self.refused("name = "))
        self.file.write_bytes(b"\xff\xfe")
        with self.assertRaisesRegex(AdapterError, "not valid TOML"):
            platforms.load(self.file)

    @parameterized.parameters(
        ('name = "mine"', "", "the file: found no 'name', which is needed"),
        ("format = 1", "format = 2", "format: found 2; this version of torch_cuda_adapter reads 1"),
        ('summary = "a', 'sumary = "a', "the file: found 'sumary'; needed one of format, name"),
        (
            'type = "mine"',
            'type = "my device"',
            "device.type: found 'my device'; needed a C++ identifier",
        ),
        (
            '[["cuda", "mine"]]',
            '["cuda"]',
            "replace[0]: found 'cuda'; needed a list of two strings",
        ),
        ('[["cuda", "mine"]]', '[["cuda", 3]]', "replace[0][1]: found 3; needed a string"),
        ("replace", "rename", "families.runtime: found 'rename'; needed one of replace, names"),
        (
            'replace = [["cuda", "mine"]]',
            'calls = { cudaFree = { 1 = "f({1})" } }',
            "calls.cudaFree.1: found {1}; needed {0}",
        ),
        (
            'replace = [["cuda", "mine"]]',
            'calls = { cudaFree = { one = "f({0})" } }',
            "found 'one'; needed a number of arguments",
        ),
        ('replace = [["cuda", "mine"]]', 'names = "a b a"', "names: found a twice"),
        (
            'replace = [["cuda", "mine"]]',
            "kept = false",
            "kept: found False; needed true, or no such key",
        ),
        (
            "[sources.families",
            "[sources]\nheader_patterns = [['(', 'x']]\n[sources.families",
            "found '(', no regular expression",
        ),
        (
            "[sources.families",
            "[modules]\na = { module = 'b' }\nb = { module = 'c' }\n[sources.families",
            "modules.a: found 'b', for which another module stands",
        ),
        (
            "[sources.families",
            "[operators]\nlog_ = { mend = 'out-of-place' }\n[sources.families",
            "found 'log_'; needed an operator such as aten::log_",
        ),
        (
            "[sources.families",
            "[operators]\n'aten::log' = { mend = 'out-of-place' }\n[sources.families",
            "operators.aten::log: found no operator that changes its argument",
        ),
        (
            "[sources.families",
            "[operators]\n'aten::log_' = { mend = 'out-of-place', below = 'two' }\n[sources.families",
            "below: found 'two'; needed a version such as 2.11.0.post2",
        ),
        (
            "[sources.families",
            "[functions.f.composed]\ng = 'h'\n[sources.families",
            "composed.g: found 'h'; needed one of flash_attention_forward",
        ),
    )
    def test_what_has_not_the_form(self, old: str, new: str, message: str) -> None:
        self.assertRegex(self.refused(MINE.replace(old, new)), re.escape(message))


if __name__ == "__main__":
    absltest.main()
