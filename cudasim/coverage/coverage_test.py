"""What tests record becomes the right page."""

from __future__ import annotations

import pathlib
import stat

from absl.testing import absltest

from cudasim.coverage import inventory, page
from cudasim.coverage.inventory import Instruction


class InventoryTest(absltest.TestCase):
    def setUp(self) -> None:
        super().setUp()
        self.folder = pathlib.Path(self.create_tempdir().full_path)

    def program(self, text: str) -> pathlib.Path:
        path = self.folder / "test"
        path.write_text("#!/bin/sh\n" + text, encoding="utf-8")
        path.chmod(path.stat().st_mode | stat.S_IXUSR)
        return path

    def test_what_tests_record_is_read(self) -> None:
        program = self.program(r"""printf 'checked\tadd\ta_test.cpp\n' >> "$CUDASIM_COVERAGE" """)
        lines = ["checked\tadd\ta_test.cpp"]
        self.assertEqual(inventory.run_and_record([program, program]), lines * 2)

    def test_a_test_that_fails_is_an_error(self) -> None:
        with self.assertRaisesRegex(inventory.CoverageError, "test fails(.|\n)*broken"):
            inventory.run_and_record([self.program("echo broken; exit 1")])

    def test_a_test_that_records_nothing_is_an_error(self) -> None:
        with self.assertRaisesRegex(inventory.CoverageError, "recorded no instruction"):
            inventory.run_and_record([self.program("exit 0")])

    def test_instructions_without_a_handler_are_the_schedulers(self) -> None:
        found = inventory.instructions(
            [
                "checked\tbra\tbranch_test.cpp",
                "has\tinteger\tadd.s32",
                "has\tinteger\tadd.s32",
                "has\tlogic\tmov.b32",
            ]
        )
        self.assertEqual(
            found,
            [
                Instruction("integer", "add.s32", ()),
                Instruction("logic", "mov.b32", ()),
                Instruction("control", "bra", ("branch_test.cpp",)),
            ],
        )


class PageTest(absltest.TestCase):
    def test_all_pairs_of_types_are_written_once(self) -> None:
        pairs = [("f32", "s32"), ("f32", "u8"), ("f64", "s32"), ("f64", "u8")]
        self.assertEqual(page.type_list(pairs), "{f32, f64}.{s32, u8}")

    def test_other_pairs_are_written_by_their_first_type(self) -> None:
        pairs = [("f32", "s32"), ("f32", "u8"), ("f64", "s32")]
        self.assertEqual(page.type_list(pairs), "f32.{s32, u8}, f64.s32")

    def test_an_instruction_without_a_test_says_so(self) -> None:
        text = page.render(
            [
                Instruction("integer", "add.sat.s32", ()),
                Instruction("integer", "add.s32", ("integer_test.cpp",)),
                Instruction("integer", "add.u32", ("integer_test.cpp",)),
                Instruction("logic", "setp", ("a.cpp",)),
            ],
            {"integer": "here/integer.cpp", "logic": "here/logic.cpp"},
        )
        self.assertIn("[integer.cpp](../../here/integer.cpp)", text)
        self.assertIn("\n`add` ({s32, u32}); `add.sat` (s32)\n", text)
        self.assertIn("\nWithout a test: `add.sat.s32`\n", text)
        self.assertIn("\n`setp`\n", text)
        self.assertEqual(text.count("Without a test"), 1)
        self.assertIn("| PTX instructions, by all modifiers | 4 | 3 |", text)


if __name__ == "__main__":
    absltest.main()
