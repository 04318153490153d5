"""The stages as they run inside the root, and the list of packages."""

import pathlib

from absl.testing import absltest, parameterized

from tools.buildroot import testbed


class StageTest(parameterized.TestCase):
    def setUp(self) -> None:
        super().setUp()
        self.machine = testbed.Machine()
        self.addCleanup(self.machine.close)

    def apt_calls(self) -> list[str]:
        """Returns the calls of apt-get after the repair of a broken state."""
        calls = [line for line in self.machine.log() if line.startswith("apt-get")]
        self.assertEqual(calls[0], "apt-get --yes --fix-broken install")
        return calls[1:]

    def sources(self) -> str:
        """Returns the APT sources that the stage wrote."""
        folder = self.machine.bed / "stage/etc/apt" / "sources.list.d"
        self.assertLen(list(folder.iterdir()), 1)
        return (folder / "torch-cuda.sources").read_text()

    def test_sources_use_the_mirror_of_apt(self) -> None:
        self.assertEqual(self.machine.stage("sources").returncode, 0)
        self.assertEqual(self.sources().count("URIs: https://mirror.test/debian\n"), 4)

    @parameterized.parameters(
        ("https://a.test/debian-security/ bookworm-security main", None),
        ("https://a.test/debian/ bookworm contrib", None),
        ("https://a.test/ubuntu/ noble main", None),
        ("", None),
        ("https://a.test/debian/ stable main", "https://a.test/debian"),
        ("https://a.test/x/ oldoldstable main", "https://a.test/x"),
        ("http://a.test/debian trixie main", "http://a.test/debian"),
    )
    def test_mirror(self, target: str, expected: str | None) -> None:
        self.machine.write("indextargets", target + "\n")
        result = self.machine.stage("sources")
        if expected is None:
            self.assertEqual(result.returncode, 1)
            self.assertIn("no Debian mirror", result.stderr)
        else:
            self.assertIn(f"URIs: {expected}\n", self.sources())

    def test_security_updates_are_taken_where_apt_takes_them(self) -> None:
        self.machine.stage("sources")
        entry = next(part for part in self.sources().split("\n\n") if "trixie-security" in part)
        self.assertIn("URIs: https://mirror.test/debian-security\n", entry)
        self.assertIn("Components: main contrib non-free non-free-firmware\n", entry)
        self.machine.write("indextargets", "https://mirror.test/debian/ bookworm main\n")
        self.machine.stage("sources")
        self.assertNotIn("security", self.sources())

    def test_dates_of_release_files_count_where_they_can(self) -> None:
        self.machine.stage("sources")
        self.assertNotIn("Check-Valid-Until", self.sources())
        self.machine.write("apt-get-fails-for", "update")
        self.assertIn("past their date", self.machine.stage("sources").stderr)
        old = [part for part in self.sources().split("\n\n") if "Check-Valid-Until: no" in part]
        self.assertLen(old, 2)
        for part in old:
            self.assertRegex(part, r"Suites: (forky|sid)\n")

    def test_mirror_list_of_cloud_images(self) -> None:
        listing = self.machine.bed / "mirrors.list"
        listing.write_text("# mirrors\nhttps://cloud.test/debian\n")
        self.machine.write("indextargets", f"mirror+file:{listing}/ bookworm main\n")
        self.machine.stage("sources")
        self.assertIn("URIs: https://cloud.test/debian\n", self.sources())

    def test_section_is_installed_from_its_suite(self) -> None:
        self.assertEqual(self.machine.stage("cuda").returncode, 0)
        self.assertEqual(
            " ".join(self.apt_calls()),
            "apt-get --yes install nvidia-cuda-toolkit libcupti-dev libnccl-dev",
        )

    def test_unfinished_packages_are_configured_first(self) -> None:
        self.machine.stage("cuda")
        self.assertEqual(self.machine.log()[0], "dpkg --configure -a")

    def test_stale_index_is_fetched_again_and_sid_comes_last(self) -> None:
        self.machine.write("apt-get-fails-for", "forky")
        self.assertEqual(self.machine.stage("bazel").returncode, 0)
        calls = [call.partition(" install")[0] for call in self.apt_calls()]
        forky = "apt-get --yes --target-release forky"
        self.assertEqual(
            calls, [forky, "apt-get update", forky, "apt-get --yes --target-release sid"]
        )

    def test_section_that_no_suite_has_fails(self) -> None:
        self.machine.write("apt-get-fails-for", "forky sid")
        result = self.machine.stage("bazel")
        self.assertEqual(result.returncode, 1)
        self.assertIn("suite sid cannot supply section bazel", result.stderr)

    def test_finish_refuses_an_incomplete_root(self) -> None:
        self.machine.install_complete_host()
        (self.machine.bin / "g++-13").unlink()
        result = self.machine.stage("finish")
        self.assertEqual(result.returncode, 1)
        self.assertIn("the finished root lacks: g++-13", result.stderr)

    def test_manual_pages_left_out_do_not_stop_java(self) -> None:
        self.machine.stage("bazel")
        self.assertTrue((self.machine.bed / "stage/usr/share/man/man1").is_dir())

    def toolchain(self, packages: str) -> str:
        """Returns the tool chain's identity for installed packages."""
        self.machine.write("dpkg-query", packages)
        self.assertEqual(self.machine.stage("finish").returncode, 0)
        return (self.machine.bed / "stage/var/lib/torch_cuda/toolchain").read_text()

    def test_toolchain_depends_on_compilers_only(self) -> None:
        self.machine.install_complete_host()
        first = self.toolchain("gcc-13 13.3.0-1\nlibtorch-dev 2.6.0\nzip 3.0-1\n")
        self.assertRegex(first, r"^[0-9a-f]{12}\n$")
        self.assertEqual(first, self.toolchain("gcc-13 13.3.0-1\nlibtorch-dev 2.6.0\nzip 3.0-2\n"))
        self.assertNotEqual(
            first, self.toolchain("gcc-13 13.3.0-2\nlibtorch-dev 2.6.0\nzip 3.0-1\n")
        )


class PackageListTest(absltest.TestCase):
    def setUp(self) -> None:
        super().setUp()
        text = (testbed.BUILDROOT / "packages.txt").read_text()
        self.lines = [line for line in text.splitlines() if line and not line.startswith("#")]

    def test_every_package_says_who_needs_it(self) -> None:
        for line in self.lines:
            if not line.startswith("["):
                self.assertRegex(line, r"^[a-z0-9.+-]+ +# \S")

    def test_no_package_is_listed_twice(self) -> None:
        names = [line.split()[0] for line in self.lines if not line.startswith("[")]
        self.assertCountEqual(names, set(names))

    def test_dockerfile_runs_the_same_stages_in_order(self) -> None:
        dockerfile = pathlib.Path(testbed.BUILDROOT / "Dockerfile").read_text()
        sections = [line[1:].split()[0] for line in self.lines if line.startswith("[")]
        runs = [
            line.split()[-1] for line in dockerfile.splitlines() if line.startswith("RUN bash ")
        ]
        self.assertEqual(runs, ["sources", *sections, "finish"])


if __name__ == "__main__":
    absltest.main()
