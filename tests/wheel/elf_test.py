"""Tests of elf.py on two libraries, one as it should be and one with every fault it looks for."""

from __future__ import annotations

import pathlib
import re

from absl.testing import absltest

from tests.wheel import elf

FOLDER = pathlib.Path(__file__).parent / "testdata"
SOUND = elf.read(FOLDER / "libsound.so")
FAULTY = elf.read(FOLDER / "libfaulty.so")


class SoundLibraryTest(absltest.TestCase):
    def test_nothing_is_unresolved(self) -> None:
        self.assertEqual(elf.Finder().unresolved(SOUND), [])

    def test_names(self) -> None:
        self.assertEqual(SOUND.soname, "libsound.so")
        self.assertIn("torch_cuda_test_sound", SOUND.defined)
        self.assertIn("libc.so.6", SOUND.needed)

    def test_run_path_starts_at_its_folder(self) -> None:
        self.assertEqual(SOUND.run_path, ("$ORIGIN", "$ORIGIN/lib"))
        self.assertEqual(elf.faults_of_run_path(SOUND), [])

    def test_initialisers_are_told_in_the_order_of_the_link(self) -> None:
        found = elf.initialisers(FOLDER / "libsound.so")
        self.assertEqual([name for name in found if name != "crtstuff.c"], ["first.c", "sound.c"])

    def test_no_stack_to_execute_and_no_text_to_relocate(self) -> None:
        self.assertFalse(SOUND.executable_stack)
        self.assertFalse(SOUND.text_relocations)


class FaultyLibraryTest(absltest.TestCase):
    def test_missing_symbol_is_named(self) -> None:
        self.assertEqual(elf.Finder([FOLDER]).unresolved(FAULTY), ["torch_cuda_test_missing"])

    def test_symbol_of_the_loading_process_is_not_missing(self) -> None:
        given = frozenset({"torch_cuda_test_missing"})
        self.assertEqual(elf.Finder([FOLDER]).unresolved(FAULTY, given), [])

    def test_run_path_of_the_build_machine_is_named(self) -> None:
        self.assertEqual(elf.faults_of_run_path(FAULTY), ["/opt/builder/lib"])

    def test_needed_library_that_is_not_allowed_is_named(self) -> None:
        allowed = [re.compile(r"libc\.so\.6")]
        self.assertEqual(elf.faults_of_needed(FAULTY, allowed), ["libsound.so"])

    def test_needed_library_that_is_nowhere_is_named(self) -> None:
        _, missing = elf.Finder().closure(FAULTY)
        self.assertEqual(missing, ["libsound.so"])

    def test_needed_library_is_found_in_a_given_folder(self) -> None:
        found, missing = elf.Finder([FOLDER]).closure(FAULTY)
        self.assertEqual(missing, [])
        self.assertIn("libsound.so", [library.soname for library in found])

    def test_executable_stack_is_seen(self) -> None:
        self.assertTrue(FAULTY.executable_stack)


if __name__ == "__main__":
    absltest.main()
