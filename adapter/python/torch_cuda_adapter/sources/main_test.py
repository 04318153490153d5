"""The command: what it prints, what it writes, and its exit status."""

from __future__ import annotations

import json
import os
import pathlib
import subprocess
import sys

from absl.testing import absltest, parameterized

SOURCE = "#include <cuda_runtime.h>\r\n__global__ void k();\nvoid f() { cudaFree(p); }"


class CommandTest(parameterized.TestCase):
    def setUp(self) -> None:
        super().setUp()
        self.folder = pathlib.Path(self.create_tempdir().full_path)
        self.source = self.folder / "k.cu"
        self.source.write_bytes(SOURCE.encode())

    def run_command(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "torch_cuda_adapter.sources", *arguments],
            cwd=self.folder,
            env={
                **os.environ,
                "PYTHONPATH": os.pathsep.join(sys.path),
                "TORCH_CUDA_ADAPTER_CACHE": str(self.folder / "cache"),
            },
            capture_output=True,
            check=False,
            text=True,
            timeout=60,
        )

    def listed(self) -> list[str]:
        return sorted(path.name for path in self.folder.iterdir() if path.name != "cache")

    def test_all_is_translated(self) -> None:
        done = self.run_command("--platform", "musa", "--out", "out", "k.cu")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(
            (self.folder / "out" / "k.mu").read_bytes(),
            SOURCE.replace("cuda", "musa").encode(),
        )
        self.assertEqual(self.source.read_bytes(), SOURCE.encode())
        self.assertIn(
            "1 files for musa: 2 names translated, 0 of them assumed; 0 left", done.stderr
        )

    def test_somebody_has_to_look(self) -> None:
        done = self.run_command("--platform", "npu", "--out", "out", "--report", "r.json", "k.cu")
        self.assertEqual(done.returncode, 1)
        self.assertIn("k.cu:2:1: unsupported: __global__ (kernels): an NPU's kernels", done.stderr)
        self.assertTrue((self.folder / "out" / "k.cu.cpp").exists())
        report = json.loads((self.folder / "r.json").read_text(encoding="utf-8"))
        self.assertEqual(report["platform"], "npu")
        self.assertEqual(report["files"], {str(self.source): {"headers": 1, "runtime": 1}})
        (finding,) = report["findings"]
        self.assertEqual((finding["line"], finding["name"]), (2, "__global__"))

    def test_the_diff_is_one_that_patch_takes(self) -> None:
        done = self.run_command("--platform", "musa", "--diff", "k.cu")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.listed(), ["k.cu"])
        lines = done.stdout.splitlines()
        self.assertEqual(lines[:2], ["--- k.cu", "+++ k.mu"])
        self.assertIn("-#include <cuda_runtime.h>", lines)
        self.assertIn("+void f() { musaFree(p); }", lines)
        self.assertEqual(lines.count("\\ No newline at end of file"), 2)

    def test_in_place(self) -> None:
        done = self.run_command("--platform", "musa", "--in-place", "k.cu")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.listed(), ["k.mu"])

    @parameterized.parameters(
        (("--platform", "musa", "k.cu"), "needed --out DIR, --in-place or --diff"),
        (("--platform", "musa", "--out", "o", "--in-place", "k.cu"), "needed one of them"),
        (
            ("--platform", "nobody", "--diff", "k.cu"),
            "found no platform 'nobody'; needed one of mlu",
        ),
        (("--platform", "musa", "--out", "o", "gone.cu"), "found no source"),
        (("--platform", "musa", "--out", "k.cu/x", "k.cu"), "cannot write"),
        (
            ("--platform", "musa", "--out", "o", "--report", "no/r.json", "k.cu"),
            "cannot write no/r.json",
        ),
        (("k.cu",), "required: --platform"),
    )
    def test_what_is_wrong_in_one_line(self, arguments: tuple[str, ...], message: str) -> None:
        done = self.run_command(*arguments)
        self.assertEqual(done.returncode, 2)
        self.assertIn(message, done.stderr.splitlines()[-1])
        self.assertNotIn("Traceback", done.stderr)
        self.assertEqual(self.listed(), ["k.cu"])


if __name__ == "__main__":
    absltest.main()
