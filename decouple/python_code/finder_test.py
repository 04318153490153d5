"""Tests of finder."""

from __future__ import annotations

from absl.testing import absltest

from decouple.errors import DecoupleError
from decouple.python_code import finder
from decouple.rules.load import load

_RULES = load("cuda")


def _find(text: str) -> list[tuple[str, int, str, str]]:
    places = finder.find(text, _RULES.python, _RULES.words, "x.py")
    return [(place.rule, place.first_line, place.text, place.symbol) for place in places]


class FinderTest(absltest.TestCase):
    def test_names_and_strings_are_found_with_their_function(self) -> None:
        text = (
            "import torch.cuda\n"
            "class A:\n    def f(self, x='cuda'):\n        return torch.cuda.Stream().wait(x.is_cuda)\n"
            "    @torch.cuda.amp\n    def g(self): pass\n"
            "device = 'cuda:1' if torch._C._cuda_isDriverSufficient() else 'cudax'\n"
        )
        self.assertEqual(
            _find(text),
            [
                ("python-torch-cuda", 1, "torch.cuda", ""),
                ("python-cuda-string", 3, '"cuda"', "A.f"),
                ("python-cuda-attribute", 4, ".is_cuda", "A.f"),
                ("python-torch-cuda", 4, "torch.cuda.Stream", "A.f"),
                ("python-torch-cuda", 5, "torch.cuda.amp", "A.g"),
                ("python-c-cuda", 7, "torch._C._cuda_isDriverSufficient", ""),
                ("python-cuda-string", 7, '"cuda:1"', ""),
            ],
        )

    def test_comments_and_prose_are_not_found(self) -> None:
        self.assertEmpty(_find('"""Moves to cuda."""\n# torch.cuda\nx = "on cuda"\n'))

    def test_imports_by_name_are_found(self) -> None:
        self.assertEqual(
            _find("from torch.cuda import Stream\nfrom torch import cuda\n"),
            [
                ("python-torch-cuda", 1, "torch.cuda.Stream", ""),
                ("python-torch-cuda", 2, "torch.cuda", ""),
            ],
        )

    def test_what_is_not_python_is_named_with_its_line(self) -> None:
        with self.assertRaisesRegex(DecoupleError, r"^x\.py:2: is not Python"):
            _find("x = 'cuda'\ndef (:\n")

    def test_formatted_strings_and_names_in_strings_are_found(self) -> None:
        self.assertEqual(
            _find("a = f'cuda:{i}'\nb = patch('torch.cuda.set_rng_state')\nc = 'USE_CUDNN'\n"),
            [
                ("python-cuda-string", 1, '"cuda:"', ""),
                ("python-cuda-name", 2, '"torch.cuda.set_rng_state"', ""),
                ("python-cuda-variable", 3, '"USE_CUDNN"', ""),
            ],
        )

    def test_the_usual_ways_to_name_the_device_are_found(self) -> None:
        for text, rule in (
            ("if x.device.type == 'cuda': pass", "python-cuda-string"),
            ("x.cuda()", "python-cuda-attribute"),
            ("torch.device('cuda')", "python-cuda-string"),
            ("torch._C._CudaEventBase", "python-c-cuda"),
            ("DispatchKey.AutogradCUDA", "python-cuda-key"),
            ("dist.Backend.NCCL", "python-nccl"),
            ("from torch._inductor.codegen.cuda.cuda_kernel import A", "python-cuda-import"),
            ("init('nccl')", "python-nccl-string"),
        ):
            with self.subTest(text):
                self.assertIn(rule, [place[0] for place in _find(text)])


if __name__ == "__main__":
    absltest.main()
