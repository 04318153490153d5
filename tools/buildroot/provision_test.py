"""Making the build root: stages, interruptions, lock, and what stops it."""

import signal

from absl.testing import absltest, parameterized

from tools.buildroot import testbed

ALL_STAGES = ["bootstrap", "sources", "base", "bazel", "cuda", "finish"]


class ProvisionTest(parameterized.TestCase):
    def setUp(self) -> None:
        super().setUp()
        self.machine = testbed.Machine()
        self.addCleanup(self.machine.close)

    def assertOneRoot(self) -> None:
        self.assertLen(self.machine.roots(), 1)
        self.assertRegex(self.machine.roots()[0], r"^root-[0-9a-f]{12}$")

    def assertRefused(self, *fragments: str) -> None:
        """bazelw says what is missing in one line, and makes nothing."""
        result = self.machine.bazelw("build", "//...")
        self.assertEqual(result.returncode, 1)
        self.assertLen(result.stderr.splitlines(), 1)
        for fragment in fragments:
            self.assertIn(fragment, result.stderr)
        self.assertEmpty(self.machine.stages())
        self.assertEmpty(self.machine.roots())

    def test_first_call_runs_every_stage_and_then_bazel(self) -> None:
        result = self.machine.bazelw("build", "//:x")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(self.machine.stages(), ALL_STAGES)
        self.assertRegex(self.machine.log()[-1], r"^bazel --bazelrc=\S+ build //:x$")
        self.assertOneRoot()

    def test_every_stage_has_a_progress_line(self) -> None:
        stderr = self.machine.bazelw("version").stderr
        for number in range(1, 7):
            self.assertRegex(stderr, rf"bazelw: \[{number}/6\] .*: \d+ s\n")

    def test_second_call_runs_no_stage(self) -> None:
        self.machine.bazelw("version")
        before = self.machine.stages()
        result = self.machine.bazelw("version")
        self.assertEqual(self.machine.stages(), before)
        self.assertNotIn("[1/6]", result.stderr)

    def test_bootstrap_takes_the_mirror_and_the_proxy_of_apt(self) -> None:
        self.machine.write("apt-config", 'Acquire::http::Proxy "http://proxy.test:3128";\n')
        self.machine.install(
            "mmdebstrap",
            'for a in "$@"; do case "$a" in --aptopt=/*) cat "${a#--aptopt=}" >>"$BED/log" ;; '
            'esac; done; echo "last ${!#}" >>"$BED/log"; exit 1',
        )
        self.machine.bazelw("version")
        self.assertContainsSubset(
            [
                'Acquire::http::Proxy "http://proxy.test:3128";',
                "last deb https://mirror.test/debian-security trixie-security main contrib non-free non-free-firmware",
            ],
            self.machine.log(),
        )

    def test_mmdebstrap_is_installed_when_it_is_not_there(self) -> None:
        (self.machine.bin / "mmdebstrap").rename(self.machine.bed / "mmdebstrap")
        self.assertEqual(self.machine.bazelw("shell", "true").returncode, 0)
        self.assertIn(
            "apt-get --yes --no-install-recommends install mmdebstrap", self.machine.log()
        )

    @parameterized.product(
        stage=["base", "cuda", "finish"],
        with_signal=[signal.SIGINT, signal.SIGTERM, signal.SIGKILL],
    )
    def test_interrupted_stage_is_resumed(self, stage: str, with_signal: signal.Signals) -> None:
        self.machine.interrupt_in(stage, with_signal)
        self.assertTrue(self.machine.roots()[0].endswith(".partial"))
        done = ALL_STAGES[: ALL_STAGES.index(stage)]
        result = self.machine.bazelw("shell", "true")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(self.machine.stages(), done + [stage] + ALL_STAGES[len(done) :])
        self.assertOneRoot()

    def test_interrupted_bootstrap_is_made_again(self) -> None:
        self.machine.interrupt_in("bootstrap", signal.SIGKILL)
        self.assertEqual(self.machine.bazelw("shell", "true").returncode, 0)
        self.assertEqual(self.machine.stages(), ["bootstrap", *ALL_STAGES])

    def test_interrupted_call_says_what_comes_next(self) -> None:
        stderr = self.machine.interrupt_in("base", signal.SIGTERM)
        self.assertIn("interrupted; the next call continues", stderr)

    def test_half_root_is_not_entered(self) -> None:
        self.machine.interrupt_in("cuda", signal.SIGTERM)
        self.machine.write("uid", "1000")
        result = self.machine.bazelw("shell", "echo", "entered")
        self.assertEqual(result.returncode, 1)
        self.assertNotIn("entered", result.stdout)

    def test_failed_stage_quotes_and_names_its_log(self) -> None:
        self.machine.write("fail-cuda")
        result = self.machine.bazelw("version")
        self.assertEqual(result.returncode, 1)
        self.assertIn("    E: broken cuda\n", result.stderr)
        self.assertRegex(result.stderr, r"stage 'cuda' failed \(exit 100\): .*/logs/provision-")
        self.assertTrue(self.machine.roots()[0].endswith(".partial"))

    def test_resume_that_fails_starts_over(self) -> None:
        self.machine.interrupt_in("cuda", signal.SIGKILL)
        self.machine.write("fail-cuda")
        result = self.machine.bazelw("shell", "true")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(self.machine.stages()[-6:], ALL_STAGES)
        self.assertOneRoot()

    def test_downloads_survive_an_interruption_but_not_success(self) -> None:
        self.machine.interrupt_in("cuda", signal.SIGKILL)
        self.assertTrue((self.machine.cache / "debs").is_dir())
        self.machine.bazelw("version")
        self.assertFalse((self.machine.cache / "debs").exists())

    def test_partial_root_of_another_recipe_is_deleted(self) -> None:
        (self.machine.cache / "root-0123456789ab.partial").mkdir(parents=True)
        self.machine.bazelw("version")
        self.assertOneRoot()

    def test_new_recipe_makes_a_new_root_and_names_the_old(self) -> None:
        self.machine.bazelw("version")
        old = self.machine.roots()[0]
        with (self.machine.clone / "tools/buildroot/packages.txt").open("a") as packages:
            packages.write("libxyz-dev  # more\n")
        stderr = self.machine.bazelw("version").stderr
        self.assertLen(self.machine.roots(), 2)
        self.assertRegex(stderr, rf"an older root is still there: \S+/{old} .*prune' deletes it")

    def test_comment_in_the_recipe_keeps_the_root(self) -> None:
        self.machine.bazelw("version")
        path = self.machine.clone / "tools/buildroot/packages.txt"
        path.write_text("# Another head.\n" + path.read_text().replace("  # ", "   # about: "))
        self.machine.bazelw("version")
        self.assertOneRoot()
        self.assertLen(self.machine.stages(), len(ALL_STAGES))

    def test_second_call_waits_for_the_first(self) -> None:
        self.machine.write("hang-base")
        first = self.machine.start("shell", "true")
        self.machine.wait_for("hanging")
        second = self.machine.start("shell", "echo", "entered")
        assert second.stderr is not None
        self.assertIn("waiting for it", second.stderr.readline())
        (self.machine.bed / "hang-base").unlink()
        first.send_signal(signal.SIGTERM)
        first.communicate(timeout=30)
        stdout, _ = second.communicate(timeout=30)
        self.assertIn("entered", stdout)
        self.assertEqual(self.machine.stages().count("bootstrap"), 1)
        self.assertOneRoot()

    def test_not_root(self) -> None:
        self.machine.write("uid", "1000")
        self.assertRefused("needs root", "sudo ./bazelw")

    def test_no_mirror(self) -> None:
        self.machine.write("indextargets", "https://mirror.test/ubuntu/ noble main\n")
        self.assertRefused("APT names no Debian mirror", "/etc/apt/sources.list")

    def test_mirror_that_does_not_answer(self) -> None:
        self.machine.write("mirror-is-down")
        self.assertRefused("does not serve Debian 13", "apt-get update")

    def test_archive_of_security_updates_that_does_not_answer(self) -> None:
        self.machine.write("security-is-down")
        result = self.machine.bazelw("version")
        self.assertEqual(result.returncode, 0)
        self.assertIn("without them", result.stderr)
        bootstrap = next(line for line in self.machine.log() if line.startswith("mmdebstrap "))
        self.assertEndsWith(bootstrap, " https://mirror.test/debian")

    def test_no_space(self) -> None:
        self.machine.write("free-kb", "3000000")
        self.assertRefused("needs 12 GB", "3 GB are free", "TORCH_CUDA_CACHE")

    def test_no_namespaces(self) -> None:
        self.machine.write("no-namespaces")
        self.assertRefused("mount namespaces", "--privileged")

    def test_other_processor(self) -> None:
        self.machine.install("uname", "echo riscv64")
        self.assertRefused("x86_64", "riscv64")

    def test_named_root_that_is_none(self) -> None:
        result = self.machine.bazelw("version", TORCH_CUDA_BUILD_ROOT="/nowhere")
        self.assertIn("TORCH_CUDA_BUILD_ROOT=/nowhere is not a build root", result.stderr)


if __name__ == "__main__":
    absltest.main()
