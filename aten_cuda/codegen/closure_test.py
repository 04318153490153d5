"""The verdict on the core profile, and tests that the verdict notices what it should.

The sources are read once for all of them.
"""

import dataclasses
import os
from pathlib import Path

from absl.testing import absltest

from aten_cuda.codegen.closure import Verdict, check, needed_files, offers, unheard_of
from aten_cuda.codegen.operators import Operators
from aten_cuda.codegen.reach import Sources
from aten_cuda.codegen.selection import Profile, Selection
from aten_cuda.codegen.source_index import SourceIndex

SRCDIR = Path(os.environ["TEST_SRCDIR"])
PYTORCH = (SRCDIR / os.environ["PYTORCH_VERSION_TXT"]).parent
CORE = str(SRCDIR / os.environ["CORE_PROFILE"])
CORE_WITH_LIBRARIES = str(SRCDIR / os.environ["CORE_WITH_LIBRARIES_PROFILE"])
MODELS = str(SRCDIR / os.environ["MODELS_PROFILE"])
INDEX = [SRCDIR / path for path in os.environ["INDEX"].split()]
OUTSIDE = (SRCDIR / os.environ["OUTSIDE_CORE"]).read_text(encoding="utf-8").split()


def profile_of(*operators: str, kernels: tuple[str, ...] = ()) -> Profile:
    """A profile with some operators and kernel files."""
    return Profile("p", selections=(Selection("//p", operators),), kernels=frozenset(kernels))


class ClosureTest(absltest.TestCase):
    sources: Sources
    core: Profile

    @classmethod
    def setUpClass(cls) -> None:
        super().setUpClass()
        cls.sources = Sources(Operators(PYTORCH), SourceIndex.read(INDEX))
        cls.core = Profile.load(CORE)

    def check(self, profile: Profile) -> Verdict:
        return check(self.sources, profile)

    def assert_one_problem(self, profile: Profile, pattern: str) -> None:
        problems = self.check(profile).problems
        self.assertLen([p for p in problems if pattern in p], 1, problems)

    def test_core_has_what_its_operators_need_and_nothing_else(self) -> None:
        self.assertEqual(self.check(self.core).problems, [])

    def test_core_has_it_with_cudnn_and_fused_attention(self) -> None:
        self.assertEqual(self.check(Profile.load(CORE_WITH_LIBRARIES)).problems, [])

    def test_models_has_what_its_operators_need_and_nothing_else(self) -> None:
        self.assertEqual(self.check(Profile.load(MODELS)).problems, [])

    def test_every_kernel_file_is_in_core_or_knowingly_outside(self) -> None:
        self.assertEqual(OUTSIDE, sorted(set(OUTSIDE)))
        self.assertEqual(unheard_of(self.sources, self.core, OUTSIDE), [])
        self.assertEqual(set(OUTSIDE) - self.sources.kernel_files(), set())
        self.assertEqual(set(OUTSIDE) & self.core.kernels, set())

    def test_a_kernel_file_that_is_new_is_unheard_of(self) -> None:
        self.assertEqual(unheard_of(self.sources, self.core, OUTSIDE[1:]), OUTSIDE[:1])

    def test_a_file_of_core_is_missed_when_it_is_gone(self) -> None:
        files = (
            "native/cuda/UnarySignKernels.cu",  # fills stubs
            "native/cuda/CumsumKernel.cu",  # is called by ScanKernels.cpp
            "cuda/cub-RadixSortPairs.cu",  # is called through a header
        )
        for path in files:
            less = dataclasses.replace(self.core, kernels=self.core.kernels - {path})
            found = [p for p in self.check(less).problems if f'add "{path}" to kernels' in p]
            self.assertNotEmpty(found, path)

    def test_a_stub_of_a_function_in_libtorch_cpu_is_missed(self) -> None:
        self.assert_one_problem(
            profile_of("cos"),
            'cos_stub has no CUDA kernel; add "native/cuda/UnaryGeometricCosKernel.cu"',
        )
        self.assertLen(self.check(profile_of("cos")).fatal, 1)

    def test_what_the_linker_or_the_dispatcher_tells_is_not_fatal(self) -> None:
        verdict = self.check(profile_of("conv2d"))
        self.assertTrue([p for p in verdict.problems if 'add "_slow_conv2d_forward"' in p])
        self.assertFalse([p for p in verdict.fatal if "_slow_conv2d_forward" in p])

    def test_the_stub_of_a_generated_kernel_asks_for_its_operator(self) -> None:
        self.assert_one_problem(
            profile_of("sub"), "add_stub has no CUDA kernel; add its operator to operators"
        )

    def test_an_operator_that_a_composed_one_calls_is_missed_with_the_way_to_it(self) -> None:
        self.assert_one_problem(profile_of("conv2d"), 'add "_slow_conv2d_forward" to operators')
        self.assertIn(
            "conv2d > convolution",
            next(
                p for p in self.check(profile_of("conv2d")).problems if "_slow_conv2d_forward" in p
            ),
        )

    def test_what_is_left_out_knowingly_is_not_missed(self) -> None:
        profile = dataclasses.replace(profile_of("cos"), left_out=frozenset({"cos_stub"}))
        self.assertTrue(self.check(profile).closed)

    def test_an_entry_that_leaves_out_nothing_is_reported(self) -> None:
        profile = dataclasses.replace(self.core, left_out=self.core.left_out | {"gcd_stub"})
        self.assert_one_problem(profile, "left_out has gcd_stub, but nothing leads to it")

    def test_a_file_that_no_operator_needs_is_reported(self) -> None:
        more = dataclasses.replace(
            self.core, kernels=self.core.kernels | {"native/cuda/GcdLcmKernel.cu"}
        )
        self.assert_one_problem(more, "GcdLcmKernel.cu is among kernels, but no operator")

    def test_a_file_that_does_not_exist_is_reported_with_those_that_are_near(self) -> None:
        profile = profile_of("cos", kernels=("native/cuda/UnaryGeometricCosinusKernel.cu",))
        self.assert_one_problem(profile, "no kernel file of this PyTorch")
        self.assert_one_problem(profile, "near: native/cuda/UnaryGeometricCosKernel.cu")
        self.assert_one_problem(profile_of("cos", kernels=("native/cuda/Qqq.cu",)), "remove it")
        self.assertNotIn(
            "near", self.check(profile_of("cos", kernels=("native/cuda/Qqq.cu",))).fatal[0]
        )

    def test_what_every_build_has_is_neither_missed_nor_too_much(self) -> None:
        runtime = self.core.runtime_kernels
        self.assertIn("native/transformers/cuda/sdp_utils.cpp", runtime)
        self.assertEqual(self.core.kernels & runtime, set())
        small = profile_of("cos", kernels=("native/cuda/UnaryGeometricCosKernel.cu",))
        self.assertEqual(self.check(small).problems, [])
        with_runtime = dataclasses.replace(small, runtime_kernels=runtime)
        self.assertEqual(self.check(with_runtime).problems, [])

    def test_a_file_of_every_build_that_does_not_exist_is_reported(self) -> None:
        gone = frozenset({"native/cuda/Gone.cpp"})
        profile = dataclasses.replace(self.core, runtime_kernels=self.core.runtime_kernels | gone)
        self.assert_one_problem(profile, "RUNTIME_KERNELS (aten_cuda/profiles/defs.bzl) have")

    def test_needs_follows_links_between_files(self) -> None:
        self.assertContainsSubset(
            {"native/cuda/ScanKernels.cpp", "native/cuda/CumsumKernel.cu"},
            needed_files(self.sources, profile_of("cumsum")),
        )

    def test_needs_have_what_a_build_with_cudnn_compiles(self) -> None:
        self.assertContainsSubset(
            {"native/cudnn/ConvPlaceholders.cpp", "native/cudnn/ConvShared.cpp"},
            needed_files(self.sources, profile_of("cudnn_convolution")),
        )

    def test_offers_what_the_files_could_serve(self) -> None:
        kernels = ("native/cuda/UnaryGeometricCosKernel.cu",)
        offered = offers(self.sources, profile_of("cos.out", kernels=kernels))
        self.assertIn("cos", offered)
        self.assertNotIn("cos.out", offered)
        self.assertNotIn("sin", offered)

    def test_every_cuda_kernel_has_a_source(self) -> None:
        without: list[str] = []
        for op in self.sources.operators:
            for backend in op.kernels:
                try:
                    self.sources.of_operator(op, backend)
                except KeyError as error:
                    without.append(str(error))
        self.assertEqual(without, [])


if __name__ == "__main__":
    absltest.main()
