"""With the released rules_cuda and pybind11_bazel, this repository's targets build as with their stand-ins."""

from __future__ import annotations

import os
import subprocess
import unittest
from pathlib import Path

from tests.real_rules import released
from tools.lint import workspace

LIBRARY = "//c10_cuda:libc10_cuda.so"
KERNEL = "//aten_cuda/native:cuda/AbsKernel.cu"
# What analyses but takes long to compile.
ANALYSED = ("//python:torch_cuda_wheel",)


class RealRulesTest(unittest.TestCase):
    """The stand-ins have no name, attribute or meaning that the released rules have not."""

    base: Path
    options: list[str]

    @classmethod
    def setUpClass(cls) -> None:
        cls.root = workspace.root()
        found = released.archives(cls.root)
        missing = sorted(set(released.ARCHIVES) - set(found))
        if missing:
            raise unittest.SkipTest(
                f"the releases of {' and '.join(missing)} are not in shared/thirdparty beside the repository"
            )
        cls.base = released.output_base()
        source = Path(os.environ["TEST_SRCDIR"], os.environ["PYTORCH_VERSION_TXT"]).resolve().parent
        cls.options = [
            *released.options(cls.root, cls.base.with_name(cls.base.name + "-modules"), found),
            f"--repo_env=PYTORCH_SOURCE_DIR={source}",
        ]

    @classmethod
    def tearDownClass(cls) -> None:
        subprocess.run(["bazel", f"--output_base={cls.base}", "shutdown"], cwd=cls.root, check=False)

    def bazel(self, command: str, *arguments: str) -> None:
        """Runs Bazel with the released rules; fails with what it printed."""
        result = subprocess.run(
            ["bazel", f"--output_base={self.base}", command, *self.options, "--color=no", "--curses=no", *arguments],
            cwd=self.root,
            capture_output=True,
            text=True,
            check=False,
        )
        self.assertEqual(result.returncode, 0, "\n".join(result.stderr.splitlines()[-60:]))

    def test_a_library_builds(self) -> None:
        """libc10_cuda.so: upstream's C++ units and a link against @cuda."""
        self.bazel("build", LIBRARY)

    def test_a_kernel_builds(self) -> None:
        """One .cu through the released cuda_library, position-independent as the wheel has it."""
        self.bazel("build", "--output_groups=pic_objects", KERNEL)

    def test_the_wheel_analyses(self) -> None:
        """Every rule of the wheel finds its attributes, labels and toolchains."""
        self.bazel("build", "--nobuild", *ANALYSED)


if __name__ == "__main__":
    unittest.main()
