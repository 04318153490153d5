"""The whole way: this machine's own pip, and an index on the loopback."""

import base64
import contextlib
import hashlib
import io
import os
import pathlib
import random
import zipfile
from unittest import mock

from absl.testing import absltest

from tools.remote_wheel import fetch
from tools.remote_wheel.package_server import PackageServer

_NAME = "sample-1.5-cp313-cp313-manylinux_2_28_x86_64.whl"
_METADATA = b"Metadata-Version: 2.1\nName: sample\nVersion: 1.5\n"
_TAG = b"Wheel-Version: 1.0\nRoot-Is-Purelib: false\nTag: cp313-cp313-manylinux_2_28_x86_64\n"
# Many blocks of what nobody wants.
_LARGE = random.Random(1).randbytes(8 << 20)
_FILES = {
    "sample/include/a.h": b"// a",
    "sample/include/deep/b.h": b"// b",
    "sample/lib/large.so": _LARGE,
    "sample/include/last.h": b"// last",
    "sample-1.5.dist-info/METADATA": _METADATA,
    "sample-1.5.dist-info/WHEEL": _TAG,
}


def recorded(name: str, content: bytes) -> str:
    digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).decode().rstrip("=")
    return f"{name},sha256={digest},{len(content)}\n"


_RECORD = "".join(recorded(name, content) for name, content in _FILES.items()).encode()


def a_wheel() -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name, content in _FILES.items():
            archive.writestr(name, content)
        archive.writestr("sample-1.5.dist-info/RECORD", _RECORD)
    return file.getvalue()


class FetchTest(absltest.TestCase):
    def setUp(self) -> None:
        super().setUp()
        self.output = pathlib.Path(self.create_tempdir().full_path) / "out"
        self.said = io.StringIO()

    def run_fetch(self, *more: str, ranges: bool = True) -> int:
        """Runs the command against an index of its own, and notes what it says and was asked."""
        with PackageServer(_NAME, a_wheel(), _METADATA, ranges=ranges) as server:
            environment = {
                name: value for name, value in os.environ.items() if not name.startswith("PIP_")
            }
            environment |= {
                "PIP_CONFIG_FILE": os.devnull,
                "PIP_INDEX_URL": server.url,
                "PIP_NO_CACHE_DIR": "1",
                "no_proxy": "127.0.0.1",
            }
            with (
                mock.patch.dict(os.environ, environment, clear=True),
                contextlib.redirect_stderr(self.said),
                contextlib.redirect_stdout(self.said),
            ):
                result = fetch.main(["--requirement=sample==1.5", *more])
            self.requests = server.requests
            return result

    def files(self, *more: str, ranges: bool = True, pin: str = "") -> int:
        pin = pin or hashlib.sha256(_RECORD).hexdigest()
        return self.run_fetch(
            "--include=sample/include/**",
            "--strip-prefix=sample",
            f"--record-sha256={pin}",
            f"--output={self.output}",
            *more,
            ranges=ranges,
        )

    def unpacked(self) -> dict[str, bytes]:
        return {
            path.relative_to(self.output).as_posix(): path.read_bytes()
            for path in self.output.rglob("*.*")
        }

    def test_only_what_is_wanted_comes_over_the_network(self) -> None:
        self.assertEqual(self.files(), 0, self.said.getvalue())
        self.assertEqual(
            self.unpacked(),
            {
                "include/a.h": b"// a",
                "include/deep/b.h": b"// b",
                "include/last.h": b"// last",
            },
        )
        self.assertNotIn("", self.requests, "the whole wheel was asked for")
        self.assertRegex(self.said.getvalue(), rf"{_NAME}: [0-3]\.\d MB received")

    def test_a_server_without_ranges_gives_the_whole_wheel(self) -> None:
        self.assertEqual(self.files(ranges=False), 0, self.said.getvalue())
        self.assertLen(self.unpacked(), 3)
        self.assertIn("pip downloads the whole wheel", self.said.getvalue())

    def test_what_to_pin_is_said(self) -> None:
        self.assertEqual(self.run_fetch(), 0, self.said.getvalue())
        self.assertIn(f"{_NAME} {hashlib.sha256(_RECORD).hexdigest()}", self.said.getvalue())

    def test_another_wheel_than_the_pinned_one_is_refused(self) -> None:
        self.assertEqual(self.files(pin="0" * 64), 1)
        self.assertIn(f"{_NAME}: its RECORD has SHA-256", self.said.getvalue())
        self.assertEqual(self.unpacked(), {})

    def test_what_the_wheel_lacks_is_named(self) -> None:
        self.assertEqual(self.files("--include=sample/share/**"), 1)
        self.assertIn("it has no sample/share/**", self.said.getvalue())

    def test_pips_words_come_through(self) -> None:
        self.assertEqual(self.files("--platform=macosx_14_0_arm64"), 1)
        self.assertIn("finds no wheel of sample==1.5", self.said.getvalue())
        self.assertIn("No matching distribution", self.said.getvalue())


if __name__ == "__main__":
    absltest.main()
