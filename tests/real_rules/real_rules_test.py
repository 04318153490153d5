"""With the released rules_cuda and pybind11_bazel, this repository's targets build as with the substitutes for them."""

from __future__ import annotations

import os
import unittest
from pathlib import Path

from tests.nested.bazel import Bazel
from tests.real_rules import released
from tools.lint import workspace

LIBRARY = "//c10_cuda:libc10_cuda.so"
KERNEL = "//aten_cuda/native:cuda/AbsKernel.cu"
# What analyses but takes long to compile.
WHEEL = "//python:torch_cuda_wheel"


class RealRulesTest(unittest.TestCase):
    """The substitutes have no name, attribute or meaning that the released rules have not."""

    bazel: Bazel

    @classmethod
    def setUpClass(cls) -> None:
        root = workspace.root()
        folder = os.environ["REAL_RULES"]
        if not folder:
            raise unittest.SkipTest(
                "no released rules are given: --repo_env=REAL_RULES=FOLDER (third_party/README.md)"
            )
        base = Bazel.output_base("real-rules")
        source = Path(os.environ["TEST_SRCDIR"], os.environ["PYTORCH_VERSION_TXT"]).resolve().parent
        options = released.options(root, base.with_name(base.name + "-modules"), Path(folder))
        cls.bazel = Bazel(root, base, (*options, f"--repo_env=PYTORCH_SOURCE_DIR={source}"))

    @classmethod
    def tearDownClass(cls) -> None:
        cls.bazel.shut_down()

    def build(self, *arguments: str) -> None:
        """Builds with the released rules; fails with what Bazel printed."""
        result = self.bazel.run("build", *arguments)
        self.assertTrue(result.succeeded, result.text)

    def test_a_library_builds(self) -> None:
        """libc10_cuda.so: upstream's C++ units and a link against @cuda."""
        self.build(LIBRARY)

    def test_a_kernel_builds(self) -> None:
        """One .cu through the released cuda_library, position-independent as the wheel has it."""
        self.build("--output_groups=pic_objects", KERNEL)

    def test_the_wheel_analyses(self) -> None:
        """Every rule of the wheel finds its attributes, labels and toolchains."""
        self.build("--nobuild", WHEEL)


if __name__ == "__main__":
    unittest.main()
