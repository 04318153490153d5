"""The driver and the runtime are siblings over core: neither has, calls or loads anything of the other."""

from __future__ import annotations

import pathlib
import subprocess
import sys

from absl.testing import absltest


def names(library: pathlib.Path, *options: str) -> set[str]:
    """The names of symbols that nm tells of a library, without their versions."""
    command = ["nm", "--format=just-symbols", "--without-symbol-versions", *options, str(library)]
    return set(subprocess.run(command, check=True, capture_output=True, text=True).stdout.split())


class SiblingsTest(absltest.TestCase):
    driver: pathlib.Path
    runtime: pathlib.Path

    def assert_apart(self, library: pathlib.Path, other: pathlib.Path, known: str) -> None:
        """Nothing that `other` exports is defined or wanted in `library`."""
        exported = names(other, "--dynamic", "--defined-only")
        self.assertIn(known, exported)
        self.assertEmpty(exported & (names(library) | names(library, "--dynamic")))

    def test_there_is_no_runtime_in_the_driver(self) -> None:
        self.assert_apart(self.driver, self.runtime, "cudaMalloc")

    def test_there_is_no_driver_in_the_runtime(self) -> None:
        self.assert_apart(self.runtime, self.driver, "cuMemAlloc_v2")

    def test_neither_is_loaded_with_the_other(self) -> None:
        for library in (self.driver, self.runtime):
            command = ["readelf", "--dynamic", str(library)]
            text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
            needed = [line for line in text.splitlines() if "(NEEDED)" in line]
            self.assertNotEmpty(needed)
            for line in needed:
                self.assertNotRegex(line, r"lib(cuda|cudart)\.so")


if __name__ == "__main__":
    SiblingsTest.driver = pathlib.Path(sys.argv.pop(1))
    SiblingsTest.runtime = pathlib.Path(sys.argv.pop(1))
    absltest.main()
