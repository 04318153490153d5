"""Which members of a wheel are taken, and which wheels are refused."""

import base64
import hashlib
import io
import pathlib
import zipfile

from absl.testing import absltest

from tools.remote_wheel import members


def a_hash(content: bytes) -> str:
    digest = hashlib.sha256(content).digest()
    return "sha256=" + base64.urlsafe_b64encode(digest).decode().rstrip("=")


class ChosenTest(absltest.TestCase):
    _NAMES = ("a/", "a/b.h", "a/c/d.h", "a/c/d.cpp", "e.h")

    def test_globs_cross_folders_by_two_stars_only(self) -> None:
        for glob, names in {
            "a/*": ["a/b.h"],
            "a/**": ["a/b.h", "a/c/d.cpp", "a/c/d.h"],
            "**/*.h": ["a/b.h", "a/c/d.h", "e.h"],
            "a/?.h": ["a/b.h"],
            "e.h": ["e.h"],
        }.items():
            with self.subTest(glob):
                self.assertEqual(members.chosen(self._NAMES, [glob]), names)

    def test_several_globs_add_up(self) -> None:
        self.assertEqual(members.chosen(self._NAMES, ["e.h", "a/*", "a/b.h"]), ["a/b.h", "e.h"])

    def test_a_glob_that_finds_nothing_is_named(self) -> None:
        with self.assertRaisesRegex(members.WheelError, r"it has no a/\*\.py"):
            members.chosen(self._NAMES, ["a/*", "a/*.py"])


class PlaceTest(absltest.TestCase):
    def test_the_prefix_goes(self) -> None:
        self.assertEqual(members.place("a/b/c.h", "a/b"), pathlib.PurePosixPath("c.h"))
        self.assertEqual(members.place("a/b/c.h", "a/"), pathlib.PurePosixPath("b/c.h"))
        self.assertEqual(members.place("a/b/c.h", ""), pathlib.PurePosixPath("a/b/c.h"))

    def test_other_prefixes_and_ways_out_are_refused(self) -> None:
        for name in ("ab/c.h", "a//c.h", "a/../../c.h", "b/c.h"):
            with self.subTest(name), self.assertRaises(members.WheelError):
                members.place(name, "a")


class RecordTest(absltest.TestCase):
    def archive(self, **names: bytes) -> zipfile.ZipFile:
        file = io.BytesIO()
        with zipfile.ZipFile(file, "w") as archive:
            for name, content in names.items():
                archive.writestr(name, content)
        return zipfile.ZipFile(file)

    def test_only_the_pinned_record_is_accepted(self) -> None:
        record = b"a.h,sha256=x,1\r\nb.h,,\n"
        pinned = hashlib.sha256(record).hexdigest()
        self.assertEqual(members.check_record(record, pinned), {"a.h": "sha256=x", "b.h": ""})
        with self.assertRaisesRegex(members.WheelError, f"{pinned}, but 00 is pinned"):
            members.check_record(record, "00")

    def test_the_record_is_the_one_at_the_top(self) -> None:
        names = {"s-1.dist-info/RECORD": b"right", "s/vendored-2.dist-info/RECORD": b"wrong"}
        self.assertEqual(members.record_of(self.archive(**names)), b"right")
        with self.assertRaisesRegex(members.WheelError, "0 RECORD files"):
            members.record_of(self.archive())

    def test_a_member_that_is_not_as_recorded_is_not_written(self) -> None:
        folder = pathlib.Path(self.create_tempdir().full_path)
        archive = self.archive(**{"s/a.h": b"one", "s/b.h": b"two"})
        hashes = {"s/a.h": a_hash(b"one"), "s/b.h": a_hash(b"2")}
        self.assertEqual(members.unpack(archive, hashes, ["s/a.h"], "s", folder), 1)
        self.assertEqual((folder / "a.h").read_bytes(), b"one")
        for wrong in (hashes, {}):
            with self.assertRaisesRegex(members.WheelError, "s/b.h is not the file"):
                members.unpack(archive, wrong, ["s/b.h"], "s", folder)
        self.assertFalse((folder / "b.h").exists())


if __name__ == "__main__":
    absltest.main()
