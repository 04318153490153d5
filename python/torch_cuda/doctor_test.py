"""What `python -m torch_cuda doctor` prints, and how it exits."""

from __future__ import annotations

import pathlib

from absl.testing import absltest

from torch_cuda.fake_installation import FakeInstallation
from torch_cuda.utils import doctor


class RenderTest(absltest.TestCase):
    def test_columns_are_aligned_and_further_lines_indented(self) -> None:
        rows = [
            doctor.Row(doctor.OK, "Python", "as needed"),
            doctor.Row(doctor.WRONG, "torch version", "found this\nneeded that"),
        ]
        self.assertEqual(
            doctor.render(rows),
            "ok     Python         as needed\n"
            "WRONG  torch version  found this\n"
            "                      needed that",
        )


class DoctorTest(absltest.TestCase):
    def setUp(self) -> None:
        super().setUp()
        self.site = pathlib.Path(self.create_tempdir().full_path)

    def test_healthy_installation_is_active_and_exits_with_0(self) -> None:
        run = FakeInstallation(self.site).python("-m", "torch_cuda", "doctor")
        self.assertEqual((run.code, run.err), (0, ""))
        self.assertNotIn(doctor.WRONG, run.out)
        self.assertEqual(run.out.splitlines()[-1].split(), ["ok", "active", "yes"])

    def test_fused_attention_is_named_where_the_build_has_some(self) -> None:
        for attention, said in (("none", []), ("flash-128", ["attention kernels: flash-128"])):
            site = self.site / attention
            site.mkdir()
            run = FakeInstallation(site, ATTENTION=attention).python("-m", "torch_cuda", "doctor")
            (line,) = [line for line in run.out.splitlines() if "built with" in line]
            parts = [part for part in line.split("; ") if "attention" in part]
            self.assertEqual(parts, said)

    def test_several_faults_are_all_named_and_it_exits_with_1(self) -> None:
        installation = FakeInstallation(
            self.site,
            TORCH_VERSION="2.5.1",
            CUDA_LIBRARIES={"libnosuchblas.so.12": "nvidia-nosuchblas-cu12"},
        )
        run = installation.python("-m", "torch_cuda", "doctor")
        self.assertEqual((run.code, run.err), (1, ""))
        wrong = [line.split()[1] for line in run.out.splitlines() if line.startswith(doctor.WRONG)]
        self.assertEqual(wrong, ["torch", "libnosuchblas.so.12", "active"])

    def test_other_contents_of_the_same_size_are_found(self) -> None:
        installation = FakeInstallation(self.site)
        module = installation.package / "_CUDAC.py"
        module.write_text(module.read_text().replace("No CUDA GPUs", "NO CUDA GPUS"))
        run = installation.python("-m", "torch_cuda", "doctor")
        self.assertIn("other contents than at installation: _CUDAC.py", run.out)
        self.assertIn("--force-reinstall", run.out)

    def test_wrong_command_line_exits_with_2(self) -> None:
        run = FakeInstallation(self.site).python("-m", "torch_cuda", "cure")
        self.assertEqual(run.code, 2)
        self.assertIn("doctor", run.err)


if __name__ == "__main__":
    absltest.main()
