"""Tests of markers, with the rules for CUDA."""

from __future__ import annotations

from absl.testing import absltest

from decouple.cpp import markers
from decouple.rules.load import load

_RULES = load("cuda").cpp


def _rules(text: str) -> list[tuple[int, str]]:
    return [(marker.first_line, marker.rule) for marker in markers.find(text, _RULES)]


class MarkersTest(absltest.TestCase):
    def test_the_usual_ways_to_name_the_device_are_found(self) -> None:
        for text, rule in (
            ("#include <c10/cuda/CUDAStream.h>", "cuda-header"),
            ("class TORCH_CUDA_CPP_API A;", "cuda-macro"),
            ("CUDA_KERNEL_ASSERT(a);", "cuda-macro"),
            ('register_cuda_runner("cuda", &f);', "cuda-registration"),
            ("TORCH_LIBRARY_IMPL(_, AutogradCUDA, m) {", "cuda-registration"),
            ("DEFINE_DISPATCH(cudnn_convolution_stub);", "cuda-registration"),
            ("at::detail::getCUDAHooks();", "cuda-hooks"),
            ("a == c10::DeviceType::CUDA;", "cuda-key"),
            ("ActivityType::CUDA_RUNTIME;", "cuda-key"),
            ("x.is_cuda();", "cuda-query"),
            ("ctx.userEnabledCuDNN();", "cuda-query"),
            ("namespace at::cuda {", "cuda-namespace"),
            ('device = "cuda:0";', "cuda-string"),
            ("class AsyncBroadcastCUDAWork {};", "cuda-identifier"),
        ):
            with self.subTest(text):
                self.assertIn((1, rule), _rules(text))

    def test_comments_and_prose_in_strings_are_not_found(self) -> None:
        self.assertEmpty(_rules('// is_cuda\n/* kCUDA */\nf("is_cuda is needed, see kCUDA");\n'))

    def test_the_last_rule_is_for_lines_that_no_other_one_names(self) -> None:
        self.assertEqual(_rules("if (x.is_cuda()) cuda_a();\n"), [(1, "cuda-query")])


if __name__ == "__main__":
    absltest.main()
