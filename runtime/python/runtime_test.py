"""What a program's environment gets so that it runs on other devices than NVIDIA's."""

from __future__ import annotations

import importlib.metadata
import os
import pathlib
import subprocess
import sys
from unittest import mock

import torch_cuda_runtime
from absl.testing import absltest

FOLDER = str(torch_cuda_runtime.library_folder())


class EnvironmentTest(absltest.TestCase):
    def setUp(self) -> None:
        super().setUp()
        self.site = pathlib.Path(self.create_tempdir().full_path)
        self.enter_context(mock.patch.object(sys, "path", [str(self.site), *sys.path]))
        self.enter_context(mock.patch.dict(sys.modules))
        (self.site / "acme_device.py").write_text(
            "def paths():\n    return {'library': '/opt/acme/libaccel_acme.so'}\n"
        )
        info = self.site / "acme_device-1.dist-info"
        info.mkdir()
        (info / "METADATA").write_text("Name: acme_device\nVersion: 1\n")
        (info / "entry_points.txt").write_text("[torch_cuda.devices]\nacme = acme_device:paths\n")

    def devices(self, asked: str | None = None, **environ: str) -> str:
        return torch_cuda_runtime.environment(asked, environ)["TORCH_CUDA_DEVICES"]

    def test_installed_devices_get_their_paths(self) -> None:
        self.assertEqual(
            self.devices("acme:2,/opt/libaccel_own.so:count=1;slow=5"),
            "/opt/acme/libaccel_acme.so:2,/opt/libaccel_own.so:count=1;slow=5",
        )

    def test_dicts_of_python_3_10_and_3_11_are_not_used_as_dicts(self) -> None:
        """They warn of it, which may be an error."""
        groups = mock.NonCallableMagicMock(dict)
        groups.get.side_effect = DeprecationWarning
        groups.select = importlib.metadata.entry_points().select
        self.enter_context(
            mock.patch.object(importlib.metadata, "entry_points", return_value=groups)
        )
        self.assertEqual(self.devices("acme"), "/opt/acme/libaccel_acme.so")

    def test_the_variable_says_it_where_nothing_else_does(self) -> None:
        self.assertEqual(
            self.devices(TORCH_CUDA_DEVICES="acme", TORCH_CUDA_SIM="1"),
            "/opt/acme/libaccel_acme.so",
        )

    def test_the_libraries_come_first(self) -> None:
        for before, after in ((None, FOLDER), ("/own", f"{FOLDER}{os.pathsep}/own")):
            environ = {} if before is None else {"LD_LIBRARY_PATH": before}
            found = torch_cuda_runtime.environment("acme", environ)
            self.assertEqual(found["LD_LIBRARY_PATH"], after)

    def test_what_nobody_brings_is_an_error(self) -> None:
        for asked, environ in (("npu", {}), (None, {"TORCH_CUDA_SIM": "1"})):
            with self.assertRaisesRegex(torch_cuda_runtime.DeviceError, "with a device (npu|sim)"):
                torch_cuda_runtime.environment(asked, environ)

    def test_without_a_name_it_says_what_to_set(self) -> None:
        for environ in ({}, {"TORCH_CUDA_SIM": "0"}):
            with self.assertRaisesRegex(torch_cuda_runtime.DeviceError, "set TORCH_CUDA_DEVICES"):
                torch_cuda_runtime.environment(environ=environ)

    def run_module(self, *command: str, devices: str) -> subprocess.CompletedProcess[str]:
        environ = {"PYTHONPATH": os.pathsep.join(sys.path), "PATH": os.environ["PATH"]}
        return subprocess.run(
            [sys.executable, "-m", "torch_cuda_runtime", *command],
            env={**environ, "TORCH_CUDA_DEVICES": devices},
            capture_output=True,
            text=True,
            check=False,
        )

    def test_programs_are_started(self) -> None:
        script = 'echo "$1 $LD_LIBRARY_PATH $TORCH_CUDA_DEVICES"; exit 3'
        done = self.run_module("sh", "-c", script, "sh", "two words", devices="acme:2")
        self.assertEqual(done.stdout, f"two words {FOLDER} /opt/acme/libaccel_acme.so:2\n")
        self.assertEqual(done.returncode, 3, done.stderr)

    def test_shells_are_told(self) -> None:
        lines = self.run_module(devices="acme:count=2;slow=5").stdout
        shell = f'{lines}echo "$TORCH_CUDA_DEVICES"'
        done = subprocess.run(["sh", "-c", shell], capture_output=True, text=True, check=True)
        self.assertEqual(done.stdout, "/opt/acme/libaccel_acme.so:count=2;slow=5\n")

    def test_mistakes_are_told_in_a_line(self) -> None:
        self.assertEqual(self.run_module("true", devices="npu").returncode, 1)
        done = self.run_module("no-such-program", devices="acme")
        self.assertEqual(done.returncode, 127)
        self.assertEqual(done.stderr, "torch_cuda_runtime: found no program no-such-program\n")


if __name__ == "__main__":
    absltest.main()
