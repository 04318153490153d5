"""What fetch.py accepts and refuses. No test here leaves the machine."""

from __future__ import annotations

import base64
import hashlib
import io
import json
import os
import tarfile
import zipfile
from pathlib import Path
from unittest import mock

from absl.testing import absltest

from third_party.lint import fetch

TOOLS_JSON = Path(__file__).with_name("tools.json")


def a_tool(**changes: object) -> fetch.Tool:
    """A tool that is in no registry, with some fields changed."""
    fields: dict[str, object] = {
        "source": "npm",
        "package": "@scope/thing",
        "version": "1.2",
        "hashes": ("sha512-none",),
        "member": "package/thing",
    }
    return fetch.Tool(**{**fields, **changes})  # type: ignore[arg-type]


class ToolsJsonTest(absltest.TestCase):
    def test_every_entry_is_complete(self) -> None:
        for name in json.loads(TOOLS_JSON.read_text(encoding="utf-8")):
            tool = fetch.load_tool(TOOLS_JSON, name)
            prefix = {"pypi": "sha256:", "npm": "sha512-"}[tool.source]
            self.assertTrue(tool.hashes, name)
            for value in tool.hashes:
                self.assertStartsWith(value, prefix)
            self.assertNotIn("{", tool.path_inside())

    def test_unknown_tool_is_named_with_the_known_ones(self) -> None:
        with self.assertRaisesRegex(fetch.FetchError, "no tool 'rough'.*ruff"):
            fetch.load_tool(TOOLS_JSON, "rough")


class NpmRegistryTest(absltest.TestCase):
    def setUp(self) -> None:
        self.npmrc = Path(
            self.create_tempfile("npmrc", "x=1\nregistry = https://file/r\n").full_path
        )
        self.absent = Path(self.create_tempdir().full_path, "absent")

    def test_environment_comes_first(self) -> None:
        environ = {"NPM_CONFIG_REGISTRY": "https://environment/r"}
        self.assertEqual(fetch.npm_registry(environ, [self.npmrc]), "https://environment/r/")

    def test_then_the_first_file_that_names_one(self) -> None:
        self.assertEqual(fetch.npm_registry({}, [self.absent, self.npmrc]), "https://file/r/")

    def install_npm(self, script: str) -> None:
        """Puts a program called npm on the PATH, before all others."""
        folder = self.create_tempdir()
        npm = Path(folder.create_file("npm", content=f"#!/bin/sh\n{script}\n").full_path)
        npm.chmod(0o755)
        path = f"{folder.full_path}{os.pathsep}{os.environ['PATH']}"
        self.enter_context(mock.patch.dict(os.environ, {"PATH": path}))

    def test_then_what_npm_says(self) -> None:
        self.install_npm('test "$*" = "config get registry" && echo https://npm.example/r')
        self.assertEqual(fetch.npm_registry({}, [self.absent]), "https://npm.example/r/")

    def test_an_npm_that_does_not_answer_is_an_error(self) -> None:
        self.install_npm("echo broken >&2; exit 1")
        with self.assertRaisesRegex(fetch.FetchError, "broken"):
            fetch.npm_registry({}, [self.absent])


class DownloadTest(absltest.TestCase):
    def registry_with(self, content: bytes) -> str:
        """A registry in a folder that delivers `content` for @scope/thing 1.2."""
        folder = Path(self.create_tempdir().full_path)
        file = folder / "@scope/thing/-/thing-1.2.tgz"
        file.parent.mkdir(parents=True)
        file.write_bytes(content)
        return folder.as_uri() + "/"

    def test_the_pinned_file_is_accepted(self) -> None:
        good = "sha512-" + base64.b64encode(hashlib.sha512(b"content").digest()).decode()
        tool = a_tool(hashes=("sha512-other", good))
        self.assertEqual(fetch.download_npm(tool, self.registry_with(b"content")), b"content")

    def test_another_file_is_refused(self) -> None:
        with self.assertRaisesRegex(fetch.FetchError, "has the hash sha512-.*pins sha512-none"):
            fetch.download_npm(a_tool(), self.registry_with(b"something else"))

    def test_a_registry_that_is_not_there_is_named(self) -> None:
        absent = Path(self.create_tempdir().full_path, "absent").as_uri() + "/"
        with self.assertRaisesRegex(fetch.FetchError, f"did not deliver {absent}@scope/thing"):
            fetch.download_npm(a_tool(), absent)

    def test_an_unknown_source_is_refused(self) -> None:
        with self.assertRaisesRegex(fetch.FetchError, "known are 'pypi' and 'npm'"):
            fetch.fetch(a_tool(source="ftp"), Path("unused"))


class PipReasonTest(absltest.TestCase):
    def test_the_cause_is_told_with_the_error(self) -> None:
        reason = fetch.pip_reason(
            "WARNING: a folder is ignored\n"
            "WARNING: Retrying (Retry(total=0)) after connection broken by 'refused'\n"
            "ERROR: No matching distribution\n"
        )
        self.assertStartsWith(reason, "ERROR: No matching distribution / ")
        self.assertIn("broken by 'refused'", reason)
        self.assertNotIn("ignored", reason)

    def test_no_words_at_all(self) -> None:
        self.assertEqual(fetch.pip_reason("\n"), "it gave no reason")


class BinaryTest(absltest.TestCase):
    def test_taken_out_of_a_tarball(self) -> None:
        packed = io.BytesIO()
        with tarfile.open(fileobj=packed, mode="w:gz") as tarball:
            member = tarfile.TarInfo("package/thing")
            member.size = 3
            tarball.addfile(member, io.BytesIO(b"elf"))
        self.assertEqual(fetch.binary_from(a_tool(), packed.getvalue()), b"elf")

    def test_taken_out_of_a_wheel(self) -> None:
        packed = io.BytesIO()
        with zipfile.ZipFile(packed, "w") as wheel:
            wheel.writestr("thing-1.2.data/scripts/thing", b"elf")
        tool = a_tool(source="pypi", member="thing-{version}.data/scripts/thing")
        self.assertEqual(fetch.binary_from(tool, packed.getvalue()), b"elf")

    def test_headers_go_beside_it(self) -> None:
        packed = io.BytesIO()
        with zipfile.ZipFile(packed, "w") as wheel:
            wheel.writestr("data/include/", b"")
            wheel.writestr("data/include/a/b.h", b"1")
            wheel.writestr("data/include2/c.h", b"2")
        tool = a_tool(source="pypi", headers="data/include")
        folder = Path(self.create_tempdir().full_path)
        fetch.unpack_headers(tool, packed.getvalue(), folder)
        files = {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}
        self.assertEqual(files, {"a/b.h"})
        self.assertEqual((folder / "a/b.h").read_bytes(), b"1")
        with self.assertRaisesRegex(fetch.FetchError, "has no data/other"):
            fetch.unpack_headers(
                a_tool(source="pypi", headers="data/other"), packed.getvalue(), folder
            )

    def test_a_missing_binary_is_named(self) -> None:
        packed = io.BytesIO()
        with zipfile.ZipFile(packed, "w"):
            pass
        with self.assertRaisesRegex(fetch.FetchError, "@scope/thing 1.2 has no package/thing"):
            fetch.binary_from(a_tool(source="pypi"), packed.getvalue())


if __name__ == "__main__":
    absltest.main()
