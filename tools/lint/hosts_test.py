"""Which host names are found in a machine's configuration, and where in a text."""

from __future__ import annotations

from pathlib import Path

from absl.testing import absltest

from tools.lint import hosts


class ConfiguredTest(absltest.TestCase):
    def found_in(self, text: str) -> set[str]:
        """The hosts in a configuration file with this text."""
        return hosts.configured({}, [Path(self.create_tempfile(content=text).full_path)])

    def test_each_tool_s_way_to_write_an_address(self) -> None:
        for text in (
            "[global]\nindex-url = https://mirror.example/simple\n",
            "registry=https://mirror.example/npm/\n",
            "deb [signed-by=/k] http://mirror.example/debian trixie main\n",
            "URIs: http://mirror.example:3142/debian\n",
            'Acquire::http::Proxy "http://user:word@mirror.example:3128";\n',
        ):
            self.assertEqual(self.found_in(text), {"mirror.example"}, text)

    def test_variables(self) -> None:
        environ = {"PIP_INDEX_URL": "https://one.example/x", "OTHER": "https://two.example"}
        self.assertEqual(hosts.configured(environ, []), {"one.example"})

    def test_public_registries_may_be_named(self) -> None:
        addresses = [f"https://files.{domain}/x" for domain in hosts.PUBLIC_DOMAINS]
        self.assertEqual(self.found_in(" ".join(addresses)), set())

    def test_a_name_that_only_ends_like_a_public_one_is_not_public(self) -> None:
        name = f"not{hosts.PUBLIC_DOMAINS[0]}"
        self.assertEqual(self.found_in(f"https://{name}"), {name})

    def test_a_file_that_is_not_there_is_no_fault(self) -> None:
        self.assertEqual(hosts.configured({}, [Path("absent")]), set())

    def test_the_files_of_pip_npm_and_apt_are_read(self) -> None:
        machine = self.create_tempdir()
        machine.create_file("etc/apt/sources.list.d/x.sources")
        listed = hosts.configuration_files(Path("home"), Path(machine.full_path))
        names = {path.name for path in listed}
        self.assertContainsSubset({"pip.conf", ".npmrc", "sources.list", "x.sources"}, names)


class PatternTest(absltest.TestCase):
    def test_finds_the_name_and_no_part_of_a_longer_one(self) -> None:
        pattern = hosts.pattern({"mirror.example"})
        assert pattern
        self.assertRegex("see MIRROR.example/simple", pattern)
        self.assertNotRegex("my-mirror.example", pattern)
        self.assertNotRegex("mirror.examples", pattern)

    def test_a_name_that_is_a_word_counts_only_in_an_address(self) -> None:
        pattern = hosts.pattern({"mirror"})
        assert pattern
        self.assertRegex("http://mirror/simple", pattern)
        self.assertNotRegex("the mirror is slow", pattern)

    def test_no_hosts_no_pattern(self) -> None:
        self.assertIsNone(hosts.pattern([]))


if __name__ == "__main__":
    absltest.main()
