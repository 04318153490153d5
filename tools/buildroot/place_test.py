"""Where bazelw runs Bazel: on the host, or in a build root; and its doctor."""

from absl.testing import absltest

from tools.buildroot import testbed


class PlaceTest(absltest.TestCase):
    def setUp(self) -> None:
        super().setUp()
        self.machine = testbed.Machine()
        self.addCleanup(self.machine.close)

    def place(self) -> str:
        """Returns the last line of the doctor's report."""
        return self.machine.bazelw("doctor").stdout.splitlines()[-1]

    def test_complete_host_runs_bazel_itself(self) -> None:
        self.machine.install_complete_host()
        result = self.machine.bazelw("build", "//python:torch_cuda_wheel")
        self.assertEqual(result.returncode, 0, result.stderr)
        call = self.machine.log()[-1]
        self.assertRegex(
            call, r"^bazel --bazelrc=\S+/bazelw-host-host\.rc build //python:torch_cuda_wh"
        )
        self.assertEmpty(self.machine.roots())

    def test_host_needs_no_root_user(self) -> None:
        self.machine.install_complete_host()
        self.machine.write("uid", "1000")
        self.assertEqual(self.machine.bazelw("version").returncode, 0)

    def test_machine_without_bazel_uses_the_build_root(self) -> None:
        self.assertIn("Bazel in the build root, after making it", self.place())

    def test_old_bazel_is_not_used(self) -> None:
        self.machine.install_complete_host()
        self.machine.write("bazel-version", "bazel 4.2.3\n")
        self.assertIn("Bazel in the build root", self.place())
        self.assertIn("found: 4.2.3", self.machine.bazelw("doctor").stdout)

    def test_newer_bazel_is_used(self) -> None:
        self.machine.install_complete_host()
        self.machine.write("bazel-version", "bazel 10.0.0-pre\n")
        self.assertIn("Bazel of this machine", self.place())

    def test_one_missing_tool_is_named_and_decides(self) -> None:
        self.machine.install_complete_host()
        (self.machine.bin / "nvcc").unlink()
        report = self.machine.bazelw("doctor").stdout
        self.assertRegex(report, r"missing here +nvcc\n")
        self.assertIn("Bazel in the build root", report)

    def test_missing_python_module_is_named(self) -> None:
        self.machine.install_complete_host()
        self.machine.write("python-modules", "module pytest\ntorch 2.6.0 None\n")
        self.assertRegex(self.machine.bazelw("doctor").stdout, "missing here +Python module pytest")

    def test_torch_of_another_version_is_named(self) -> None:
        self.machine.install_complete_host()
        self.machine.write("python-modules", "torch 2.7.1 None\n")
        self.assertIn("(found: 2.7.1, CUDA: None)", self.machine.bazelw("doctor").stdout)

    def test_torch_with_cuda_is_named(self) -> None:
        self.machine.install_complete_host()
        self.machine.write("python-modules", "torch 2.6.0 '12.4'\n")
        self.assertIn("(found: 2.6.0, CUDA: '12.4')", self.machine.bazelw("doctor").stdout)

    def test_variable_forces_the_place(self) -> None:
        self.machine.install_complete_host()
        report = self.machine.bazelw("doctor", TORCH_CUDA_BUILD="root").stdout
        self.assertIn("Bazel in the build root", report)

    def test_wrong_value_names_the_allowed_ones(self) -> None:
        result = self.machine.bazelw("doctor", TORCH_CUDA_BUILD="docker")
        self.assertEqual(result.returncode, 1)
        self.assertIn("TORCH_CUDA_BUILD=docker: use host, root or auto.", result.stderr)

    def test_doctor_does_not_print_the_mirror(self) -> None:
        result = self.machine.bazelw("doctor")
        self.assertRegex(result.stdout, "Debian mirror +yes, with Debian 13")
        self.assertNotIn("mirror.test", result.stdout + result.stderr)

    def test_doctor_changes_nothing(self) -> None:
        self.machine.bazelw("doctor")
        self.assertFalse(self.machine.cache.exists())

    def test_doctor_names_an_older_root(self) -> None:
        (self.machine.cache / "root-0123456789ab").mkdir(parents=True)
        self.assertRegex(
            self.machine.bazelw("doctor").stdout,
            r"older root .*root-0123456789ab .*'./bazelw prune' deletes it",
        )

    def test_prune_deletes_older_roots_only(self) -> None:
        self.assertEqual(self.machine.bazelw("version").returncode, 0)
        current = self.machine.roots()
        for name in ("root-0123456789ab", "root.manual"):
            (self.machine.cache / name).mkdir()
        self.assertEqual(self.machine.bazelw("prune").returncode, 0)
        self.assertEqual(self.machine.roots(), current)
        self.assertTrue((self.machine.cache / "root.manual").is_dir())


if __name__ == "__main__":
    absltest.main()
