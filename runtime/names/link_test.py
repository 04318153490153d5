"""A program that calls everything that NVIDIA's libraries of a release have links with these libraries, and starts.

link_test.py VERSIONS_HEADER PACKAGES LIBRARY=LIST…: what a list names for the library's major version is in it.
"""

from __future__ import annotations

import os
import pathlib
import re
import subprocess
import sys
from typing import ClassVar

from absl.testing import absltest

HEADER, PACKAGES = (pathlib.Path(path) for path in sys.argv[1:3])
LISTS = [argument.split("=") for argument in sys.argv[3:]]
del sys.argv[1:]

# What came with CUDA 13.3 to 13.5, among others.
NEW = {
    "libcuda.so.1": (
        "cuEventElapsedTime_v2",
        "cuLogsCurrent",
        "cuMemGetLocationInfo",
        "cuMemcpyBatchAsync_v2",
    ),
    "libcudart.so.13": (
        "cudaMemGetLocationInfo",
        "cudaStreamBeginRecaptureToGraph",
        "cudaSubgridCreate",
    ),
    "libnvJitLink.so.13": ("__nvJitLinkCreate_13_5",),
    "libnvidia-ml.so.1": ("nvmlDeviceGetName", "nvmlDeviceGetComputeRunningProcesses_v3"),
    "libnvrtc.so.13": (
        "nvrtcGetBundledHeadersInfo",
        "nvrtcInstallBundledHeaders",
        "nvrtcGetPCHCreateStatus",
    ),
}


class LinkTest(absltest.TestCase):
    folder: ClassVar[pathlib.Path]
    folders: ClassVar[str]

    @classmethod
    def setUpClass(cls) -> None:
        super().setUpClass()
        cls.folder = pathlib.Path(absltest.get_default_test_tmpdir())
        known = {str(pathlib.Path(library).parent.absolute()) for library, _ in LISTS}
        known.add(str(pathlib.Path("runtime/core").absolute()))
        cls.folders = ":".join(sorted(known))

    def link(self, library: pathlib.Path, names: list[str]) -> pathlib.Path:
        """A program that has the addresses of all these functions, and calls none."""
        program = self.folder / f"{library.parent.name}-{library.name}-program"
        code = "".join(f"extern int {name}(void);\n" for name in names)
        code += f"int (*volatile all[])(void) = {{{', '.join(names)}}};\n"
        code += f"int main(void) {{ return all[{len(names) - 1}] == 0; }}\n"
        command = [
            "gcc",
            "-w",
            "-fno-builtin",
            "-x",
            "c",
            "-",
            "-x",
            "none",
            str(library.absolute()),
        ]
        command += [
            "-Wl,--no-as-needed",
            "-Wl,--unresolved-symbols=ignore-in-shared-libs",
            "-o",
            str(program),
        ]
        done = subprocess.run(command, input=code, capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr[:3000])
        return program

    def test_programs_start(self) -> None:
        for path, names in LISTS:
            library = pathlib.Path(path)
            with self.subTest(path):
                major = "13" if "cu13/" in path else "12"
                lines = pathlib.Path(names).read_text(encoding="utf-8").splitlines()
                wanted = [line.split()[0] for line in lines if line.split()[1:] in ([], [major])]
                self.assertContainsSubset(NEW.get(library.name, ()), wanted)
                program = self.link(library, wanted)
                env = os.environ | {"LD_LIBRARY_PATH": self.folders, "LD_BIND_NOW": "1"}
                done = subprocess.run(
                    [program], env=env, capture_output=True, text=True, check=False
                )
                self.assertEqual(done.returncode, 0, done.stderr[:3000])

    def test_the_driver_is_of_the_release_that_the_names_are_of(self) -> None:
        (major, minor) = re.findall(
            r"^nvidia-cuda-runtime==(\d+)\.(\d+)\.",
            PACKAGES.read_text(encoding="utf-8"),
            re.MULTILINE,
        )[0]
        (version,) = re.findall(r"kDriverVersion = (\d+);", HEADER.read_text(encoding="utf-8"))
        self.assertEqual(int(version), 1000 * int(major) + 10 * int(minor))


if __name__ == "__main__":
    absltest.main()
