"""What a build sees inside the root: folders, environment, Bazel's settings."""

import pathlib
import re

from absl.testing import absltest

from tools.buildroot import testbed


class EnterTest(absltest.TestCase):
    def setUp(self) -> None:
        super().setUp()
        self.machine = testbed.Machine()
        self.addCleanup(self.machine.close)
        self.machine.install_root()

    def bazel(self, *arguments: str, cwd: pathlib.Path | None = None, **extra: str) -> None:
        """Runs bazelw, which must succeed."""
        (self.machine.bed / "log").unlink(missing_ok=True)
        result = self.machine.bazelw(*arguments, cwd=cwd, **extra)
        self.assertEqual(result.returncode, 0, result.stderr)

    def shown(self) -> list[str]:
        """Returns the paths of the host that the last call showed inside."""
        root = str(self.machine.cache / self.machine.roots()[0])
        mounts = [line.split() for line in self.machine.log() if line.startswith("mount ")]
        for _, option, source, target in mounts:
            self.assertEqual((option, target), ("--rbind", root + source))
        return [source for _, _, source, _ in mounts]

    def environment(self) -> dict[str, str]:
        """Returns what Bazel got as environment in the last call."""
        lines = (self.machine.bed / "bazel-env").read_text().splitlines()
        return dict(line.split("=", 1) for line in lines if "=" in line)

    def settings_file(self) -> pathlib.Path:
        """Returns where the rc file is that Bazel got in the last call."""
        call = self.machine.log()[-1].split()
        return pathlib.Path(call[1].removeprefix("--bazelrc="))

    def settings(self) -> str:
        """Returns the rc file that Bazel got in the last call."""
        return self.settings_file().read_text()

    def test_clone_cache_home_and_kernel_are_shown(self) -> None:
        self.bazel("version")
        shown = self.shown()
        self.assertEqual(shown[-3:], ["/proc", "/dev", "/sys"])
        for path in (self.machine.clone, self.machine.cache, self.machine.home):
            self.assertTrue(
                any(path.is_relative_to(seen) for seen in shown[:-3]), f"{path} not in {shown}"
            )

    def test_folder_inside_a_shown_one_is_not_mounted_again(self) -> None:
        inner = self.machine.home / "source"
        inner.mkdir()
        self.bazel("version", PYTORCH_SOURCE_DIR=str(inner))
        self.assertNotIn(str(inner), self.shown())

    def mounted_over(self, path: str) -> str:
        """Shows a path of the host inside and returns where, seen from the root."""
        self.bazel("version", TORCH_CUDA_BIND=path)
        root = str(self.machine.cache / self.machine.roots()[0])
        mounts = [line.split() for line in self.machine.log() if line.startswith("mount ")]
        target = next(target for _, _, source, target in mounts if source == path)
        self.assertStartsWith(target, root + "/")
        return target.removeprefix(root)

    def link_in_root(self, link: str, leads_to: str) -> None:
        """Makes a link in the root."""
        path = self.machine.cache / self.machine.roots()[0] / link
        path.parent.mkdir(parents=True, exist_ok=True)
        path.symlink_to(leads_to)

    def test_links_of_the_root_do_not_lead_out_of_it(self) -> None:
        outside = self.machine.bed / "outside"
        outside.mkdir()
        for link, leads_to in (
            ("usr/share", str(outside)),
            ("usr/lib", "../" * 40 + str(outside).lstrip("/")),
            ("etc", "/usr/share/./deeper/.."),
        ):
            self.link_in_root(link, leads_to)
        for path, place in (
            ("/usr/share/doc", f"{outside}/doc"),
            ("/usr/lib/os-release", f"{outside}/os-release"),
            ("/etc/apt", f"{outside}/apt"),
            ("/etc/passwd", f"{outside}/passwd"),
        ):
            with self.subTest(path):
                self.assertEqual(self.mounted_over(path), place)
        self.assertEmpty(list(outside.iterdir()))

    def test_a_link_of_the_root_to_a_file_does_not_lead_out_of_it(self) -> None:
        outside = self.machine.bed / "outside"
        outside.write_text("untouched")
        self.link_in_root("etc/passwd", str(outside))
        self.assertEqual(self.mounted_over("/etc/passwd"), str(outside))
        self.assertEqual(outside.read_text(), "untouched")

    def test_links_in_a_circle_are_an_error(self) -> None:
        self.link_in_root("usr/share", "/usr/share")
        result = self.machine.bazelw("version", TORCH_CUDA_BIND="/usr/share/doc")
        self.assertNotEqual(result.returncode, 0)
        self.assertIn("/usr/share/doc cannot be shown", result.stderr)

    def test_system_folders_are_not_replaced(self) -> None:
        self.bazel(
            "version", TORCH_CUDA_BIND="/usr:/etc:/lib", TORCH_CUDA_PYTHON="/usr/bin/python3"
        )
        self.assertNoCommonElements(self.shown(), ["/usr", "/etc", "/lib"])

    def test_pip_settings_travel(self) -> None:
        pip_conf = self.machine.home / ".config" / "pip" / "pip.conf"
        pip_conf.parent.mkdir(parents=True)
        pip_conf.write_text("[global]\nfind-links = /usr/share/doc\n")
        self.bazel(
            "version", PIP_FIND_LINKS="/usr/share/python3", PIP_INDEX_URL="https://u:secret@x/"
        )
        self.assertContainsSubset(["/usr/share/doc", "/usr/share/python3"], self.shown())
        self.assertEqual(self.environment()["PIP_FIND_LINKS"], "/usr/share/python3")
        self.assertIn("common --repo_env=PIP_INDEX_URL\n", self.settings())
        self.assertNotIn("secret", self.settings())

    def test_environment_of_the_user_reaches_bazel(self) -> None:
        self.bazel("version", TERM="xterm", USER="ada", CI="1", GREETING="hello")
        expected = {"TERM": "xterm", "USER": "ada", "CI": "1", "GREETING": "hello"}
        self.assertContainsSubset(expected.items(), self.environment().items())

    def test_programs_of_the_host_are_forgotten(self) -> None:
        self.bazel("version", CC="clang", LD_LIBRARY_PATH="/opt/lib", PYTHONPATH="/opt/py")
        self.assertNoCommonElements(self.environment(), ["CC", "LD_LIBRARY_PATH", "PYTHONPATH"])

    def test_working_folder_stays(self) -> None:
        self.bazel("version", cwd=self.machine.clone / "tools")
        self.assertIn(f" --chdir={self.machine.clone}/tools ", self.chroot_call())

    def test_call_from_elsewhere_works_in_the_clone(self) -> None:
        self.bazel("version", cwd=pathlib.Path("/"))
        self.assertIn(f" --chdir={self.machine.clone} ", self.chroot_call())

    def chroot_call(self) -> str:
        """Returns the arguments of the last chroot."""
        return next(line for line in self.machine.log() if line.startswith("chroot "))

    def test_caches_are_outside_the_clone(self) -> None:
        self.bazel("version")
        bazel = self.machine.cache / "bazel"
        root = self.machine.roots()[0].removeprefix("root-")
        self.assertIn(f"startup --output_user_root={bazel}/out-{root}\n", self.settings())
        self.assertIn(f"common --disk_cache={bazel}/disk-0123456789ab\n", self.settings())

    def test_disk_cache_of_the_user_wins(self) -> None:
        (self.machine.home / ".bazelrc").write_text("build --disk_cache=/mine\n")
        self.bazel("version")
        self.assertNotIn("--disk_cache", self.settings())

    def test_settings_come_before_the_users_startup_options(self) -> None:
        self.bazel("--output_base=/elsewhere", "build", "//:x")
        self.assertRegex(
            self.machine.log()[-1], r"^bazel --bazelrc=\S+ --output_base=/elsewhere build //:x$"
        )

    def test_server_is_replaced_only_when_it_would_see_other_folders(self) -> None:
        self.bazel("build")
        first = self.settings()
        file = self.settings_file()
        self.bazel("test", "//...", GREETING="hello")
        self.assertEqual(self.settings(), first)
        self.bazel("build", "--repo_env=PYTORCH_SOURCE_DIR=/usr/share/doc")
        self.assertIn("/usr/share/doc", self.shown())
        self.assertNotEqual(self.settings(), first)
        self.assertEqual(file.read_text(), first)  # Bazel may not have read it yet

    def entered(
        self,
        root: str | None = None,
        ids: str = "0\t0\t0\t0",
        namespace: str = "user:[1]",
    ) -> bool:
        """Returns whether the namespace of a server was entered that lives in a root, ours unless told otherwise."""
        self.bazel("version")
        entry = re.search(r"-Dbazelw\.entry=[0-9a-f]{12}", self.settings())
        assert entry is not None
        processes = self.machine.bed / "proc"
        for name, its_namespace in (("self", "user:[1]"), ("42", namespace)):
            (processes / name / "ns").mkdir(parents=True)
            (processes / name / "ns/user").symlink_to(its_namespace)
        process = processes / "42"
        (process / "cmdline").write_text(f"bazel(main)\0-Xverify:none\0{entry[0]}\0")
        (process / "status").write_text(f"Name:\tbazel(main)\nUid:\t{ids}\nGid:\t0\t0\t0\t0\n")
        (process / "root").symlink_to(root or self.machine.cache / self.machine.roots()[0])
        self.bazel("version", BAZELW_PROC=str(processes))
        return self.machine.log()[-1].startswith("nsenter --target 42 --mount --root ")

    def test_next_call_goes_to_the_running_server(self) -> None:
        self.assertTrue(self.entered())

    def test_server_of_another_root_is_left_alone(self) -> None:
        self.assertFalse(self.entered("/"))

    def test_server_of_another_user_is_left_alone(self) -> None:
        self.assertFalse(self.entered(ids="1000\t1000\t1000\t1000"))

    def test_server_that_another_user_has_started_is_left_alone(self) -> None:
        self.assertFalse(self.entered(ids="1000\t0\t0\t0"))

    def test_server_in_another_user_namespace_is_left_alone(self) -> None:
        self.assertFalse(self.entered(namespace="user:[2]"))

    def test_shell_runs_a_command_inside(self) -> None:
        result = self.machine.bazelw("shell", "echo", "two words")
        self.assertEqual(result.stdout, "two words\n")

    def test_exit_status_is_the_commands(self) -> None:
        self.assertEqual(self.machine.bazelw("shell", "sh", "-c", "exit 42").returncode, 42)


if __name__ == "__main__":
    absltest.main()
