"""Tests of unpack_wheel.py: a whole wheel is unpacked, a damaged one is refused by name."""

from __future__ import annotations

import pathlib
import stat
import zipfile
from collections.abc import Callable

from absl.testing import absltest

from tools.wheel import build_wheel, fake_wheel, unpack_wheel


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

    def test_two_wheels_with_one_file_are_refused(self) -> None:
        unpack_wheel.unpack(self.wheel, self.target)
        with self.assertRaisesRegex(unpack_wheel.DamagedWheelError, "another wheel already"):
            unpack_wheel.unpack(self.wheel, self.target)


if __name__ == "__main__":
    absltest.main()
