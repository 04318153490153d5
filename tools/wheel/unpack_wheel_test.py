"""Tests of unpack_wheel.py: a whole wheel is unpacked, a damaged one is refused by name."""

from __future__ import annotations

import hashlib
import pathlib
import stat
import zipfile
from collections.abc import Callable

from absl.testing import absltest

from tools.wheel import build_wheel, dist_info, fake_wheel, unpack_wheel


class UnpackWheelTest(absltest.TestCase):
    def setUp(self) -> None:
        super().setUp()
        self.folder = pathlib.Path(self.create_tempdir().full_path)
        self.manifest = fake_wheel.manifest(self.folder)
        self.wheel = self.folder / self.manifest.file_name
        build_wheel.build(self.manifest, self.wheel)
        self.target = self.folder / "site"

    def _rewrite(self, change: Callable[[str, bytes], bytes | None]) -> None:
        with zipfile.ZipFile(self.wheel) as archive:
            entries = {name: archive.read(name) for name in archive.namelist()}
        with zipfile.ZipFile(self.wheel, "w") as archive:
            for name, data in entries.items():
                changed = change(name, data)
                if changed is not None:
                    archive.writestr(name, changed)

    def test_files_arrive_unchanged(self) -> None:
        unpack_wheel.unpack(self.wheel, self.target)
        for file in self.manifest.files:
            self.assertEqual((self.target / file.path).read_bytes(), file.source.read_bytes())
        library = self.target / "torch_cuda_fake/lib/libfake.so"
        self.assertEqual(stat.S_IMODE(library.stat().st_mode), 0o755)

    def test_changed_file_is_refused(self) -> None:
        self._rewrite(lambda name, data: data + b"x" if name.endswith("libfake.so") else data)
        with self.assertRaisesRegex(unpack_wheel.DamagedWheelError, "libfake.so has sha256="):
            unpack_wheel.unpack(self.wheel, self.target)

    def test_missing_file_is_refused(self) -> None:
        self._rewrite(lambda name, data: None if name.endswith("py.typed") else data)
        with self.assertRaisesRegex(unpack_wheel.DamagedWheelError, "py.typed, which is not there"):
            unpack_wheel.unpack(self.wheel, self.target)

    def test_unlisted_file_is_refused(self) -> None:
        with zipfile.ZipFile(self.wheel, "a") as archive:
            archive.writestr("stowaway.py", b"")
        with self.assertRaisesRegex(unpack_wheel.DamagedWheelError, "stowaway.py is not in RECORD"):
            unpack_wheel.unpack(self.wheel, self.target)

    def _forge(self, name: str, data: bytes, digest: str | None = None) -> None:
        """Adds a file under a name of its own, and lists it in RECORD with the digest that it has, or another."""
        if digest is None:
            digest = dist_info.encode_digest(hashlib.sha256(data).digest())
        line = f"{name},{digest},{len(data)}\n".encode()
        self._rewrite(lambda entry, old: old + line if entry.endswith("/RECORD") else old)
        with zipfile.ZipFile(self.wheel, "a") as archive:
            archive.writestr(name, data)

    def _files(self) -> list[str]:
        return sorted(
            path.relative_to(self.folder).as_posix()
            for path in self.folder.rglob("*")
            if path.is_file()
        )

    def test_names_that_lead_elsewhere_are_refused(self) -> None:
        whole = self.wheel.read_bytes()
        before = self._files()
        for name in (
            "../outside.py",
            "torch_cuda_fake/../../outside.py",
            str(self.folder / "outside.py"),
            "./torch_cuda_fake/again.py",
            "torch_cuda_fake//again.py",
        ):
            with self.subTest(name):
                self.wheel.write_bytes(whole)
                self._forge(name, b"x")
                with self.assertRaisesRegex(unpack_wheel.DamagedWheelError, "is no path below"):
                    unpack_wheel.unpack(self.wheel, self.target)
                self.assertEqual(self._files(), before)

    def test_a_file_that_is_not_what_record_says_is_never_there(self) -> None:
        self._forge("torch_cuda_fake/evil.py", b"x", "sha256=" + "A" * 43)
        with self.assertRaisesRegex(unpack_wheel.DamagedWheelError, "evil.py has sha256="):
            unpack_wheel.unpack(self.wheel, self.target)
        folder = self.target / "torch_cuda_fake"
        self.assertContainsSubset(
            [path.name for path in folder.iterdir()],
            ["lib", *(pathlib.Path(file.path).name for file in self.manifest.files)],
        )

    def test_a_file_without_a_digest_is_refused(self) -> None:
        self._forge("torch_cuda_fake/evil.py", b"x", "")
        with self.assertRaisesRegex(unpack_wheel.DamagedWheelError, "no digest of .*evil.py"):
            unpack_wheel.unpack(self.wheel, self.target)

    def test_a_file_that_is_there_twice_is_refused(self) -> None:
        with zipfile.ZipFile(self.wheel, "a") as archive:
            archive.writestr(self.manifest.files[0].path, b"x")
        with self.assertRaisesRegex(unpack_wheel.DamagedWheelError, "is in it twice"):
            unpack_wheel.unpack(self.wheel, self.target)

    def test_a_record_that_is_none_is_refused(self) -> None:
        self._rewrite(lambda name, data: b"one,two\n" if name.endswith("/RECORD") else data)
        with self.assertRaisesRegex(unpack_wheel.DamagedWheelError, "RECORD cannot be read"):
            unpack_wheel.unpack(self.wheel, self.target)

    def test_two_wheels_with_one_file_are_refused(self) -> None:
        unpack_wheel.unpack(self.wheel, self.target)
        with self.assertRaisesRegex(unpack_wheel.DamagedWheelError, "another wheel already"):
            unpack_wheel.unpack(self.wheel, self.target)


if __name__ == "__main__":
    absltest.main()
