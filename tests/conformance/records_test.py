"""What was tested is kept for the same library, and for no other."""

from __future__ import annotations

import pathlib

from absl.testing import absltest

from tests.conformance import junit
from tests.conformance.junit import Case
from tests.conformance.records import Records, RecordsError

_CASES = [Case("Memory", "Lasts", junit.PASSED, "", 0.5)]


class RecordsTest(absltest.TestCase):
    def setUp(self) -> None:
        super().setUp()
        self.folder = pathlib.Path(self.create_tempdir().full_path, "made", "here")

    def test_they_are_found_again(self) -> None:
        with Records(self.folder, {"library": "1"}) as records:
            self.assertIsNone(records.read("minimal.Memory"))
            records.write("full.nn/test_pooling.py", _CASES)
        with Records(self.folder, {"library": "1"}) as again:
            self.assertFalse(again.is_fresh)
            self.assertEqual(again.read("full.nn/test_pooling.py"), _CASES)

    def test_those_of_another_library_go(self) -> None:
        with Records(self.folder, {"library": "1"}) as records:
            records.write("minimal.Memory", _CASES)
        with Records(self.folder, {"library": "2"}) as again:
            self.assertTrue(again.is_fresh)
            self.assertIsNone(again.read("minimal.Memory"))

    def test_half_a_file_is_none(self) -> None:
        with Records(self.folder, {}) as records:
            records.write("minimal.Memory", _CASES)
            path = records.path("minimal.Memory", ".xml")
            path.write_text(path.read_text(encoding="utf-8")[:50], encoding="utf-8")
            self.assertIsNone(records.read("minimal.Memory"))

    def test_a_folder_with_other_files_is_left_alone(self) -> None:
        self.folder.mkdir(parents=True)
        (self.folder / "thesis.txt").write_text("mine", encoding="utf-8")
        with self.assertRaisesRegex(RecordsError, "other files"):
            Records(self.folder, {})
        self.assertEqual([each.name for each in self.folder.iterdir()], ["thesis.txt"])

    def test_two_runs_do_not_share_one(self) -> None:
        with Records(self.folder, {}), self.assertRaisesRegex(RecordsError, "another run"):
            Records(self.folder, {})
        with Records(self.folder, {}):
            pass

    def test_what_is_no_folder_is_told(self) -> None:
        self.folder.parent.mkdir()
        self.folder.write_text("", encoding="utf-8")
        with self.assertRaisesRegex(RecordsError, "cannot be used"):
            Records(self.folder, {})


if __name__ == "__main__":
    absltest.main()
