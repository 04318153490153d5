"""Programs that ask for deterministic algorithms alone are told what has none on a GPU, in PyTorch's words.

    TORCH_CUDA_DEVICES=fake:2 python tests/stock/upstream/deterministic_test.py

The host's kernels give the same in each run. A program that looks for operators that do not would learn nothing here.
"""

from __future__ import annotations

import pathlib
import unittest
import warnings
from collections.abc import Callable, Mapping
from typing import Any

import alerts  # type: ignore[import-not-found]
import deterministic_cases  # type: ignore[import-not-found]
import torch
import torch._inductor.config  # which the setting imports, in each process that does not have it
import unrouted  # type: ignore[import-not-found]

# Names in the library that no call reaches: their functions are not registered, or the reason says it.
_UNREACHED = {
    "adaptive_avg_pool2d_backward_out_cuda": "no operator has this function",
    "scatter_cuda_": "scatters are done by index_put where determinism is asked for",
    "scatter_add_cuda_kernel": "likewise",
    "scatter_reduce_cuda_sum_": "likewise",
    "scatter_reduce_cuda_mean_": "likewise",
}


def _upstream() -> Mapping[str, Callable[[], object]]:
    calls: Mapping[str, Callable[[], object]] = deterministic_cases.cases("cuda:0")
    torch.use_deterministic_algorithms(True)
    # To fill memory is a launch, which would come before the word.
    settings: Any = torch.utils.deterministic
    settings.fill_uninitialized_memory = False
    return calls


class DeterministicTest(unittest.TestCase):
    """Each case, by PyTorch's own CUDA code and by ours."""

    upstream: dict[str, str]
    calls: Mapping[str, Callable[[], object]]

    @classmethod
    def setUpClass(cls) -> None:
        cls.upstream = unrouted.answers(_upstream, deterministic_cases.said)
        cls.calls = deterministic_cases.cases("cuda:0")

    def setUp(self) -> None:
        torch.use_deterministic_algorithms(True)
        self.addCleanup(torch.use_deterministic_algorithms, False)

    def test_the_cases_reach_all_that_the_library_says(self) -> None:
        library = pathlib.Path(torch.__file__).parent / "lib" / "libtorch_cuda.so"
        known = alerts.names(library)
        self.assertGreater(len(known), 30)
        self.assertEqual(known - _UNREACHED.keys() - set(self.upstream.values()), set())

    def test_who_speaks_is_who_speaks_on_a_gpu(self) -> None:
        for name, call in self.calls.items():
            with self.subTest(name=name):
                self.assertEqual(deterministic_cases.said(call), self.upstream[name])

    def test_a_warning_is_given_where_one_is_asked_for_and_the_result_with_it(self) -> None:
        torch.use_deterministic_algorithms(True, warn_only=True)
        for name, call in self.calls.items():
            said = self.upstream[name]
            with self.subTest(name=name), warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                try:
                    call()
                except NotImplementedError:
                    continue  # a type that neither has
                except RuntimeError as error:
                    self.assertNotIn("deterministic", str(error))
                    continue
                texts = [str(w.message) for w in caught if "deterministic" in str(w.message)]
                self.assertEqual(len(texts), 1 if said else 0, texts)
                if said:
                    self.assertTrue(texts[0].startswith(f"{said} does not have"), texts[0])
                    self.assertIn("warn_only=True", texts[0])

    def test_nothing_is_said_to_who_does_not_ask(self) -> None:
        torch.use_deterministic_algorithms(False)
        for name, call in self.calls.items():
            with self.subTest(name=name):
                self.assertEqual(deterministic_cases.said(call), "")

    def test_nothing_is_written_by_what_is_refused(self) -> None:
        numbers = torch.zeros(3, device="cuda")
        places = torch.tensor([0, 0], device="cuda")
        with self.assertRaisesRegex(RuntimeError, "^put_ does not have a deterministic impl"):
            numbers.put_(places, torch.ones(2, device="cuda"), accumulate=True)
        self.assertEqual(numbers.tolist(), [0, 0, 0])

    def test_what_accumulates_in_order_is_the_cpus(self) -> None:
        places = torch.tensor([0, 1, 0, 2, 1])
        values = torch.tensor([1.0, 2.0, 3.0, 4.0, 5.0])
        for device in ("cpu", "cuda"):
            target, at, by = (t.to(device) for t in (torch.zeros(3), places, values))
            self.assertEqual(target.index_put((at,), by, accumulate=True).tolist(), [4, 7, 4])
            self.assertEqual(target.index_add(0, at, by).tolist(), [4, 7, 4])
            self.assertEqual(target.scatter_add(0, at, by).tolist(), [4, 7, 4])

    def test_memory_is_filled_where_that_is_on(self) -> None:
        def made() -> list[torch.Tensor]:
            return [
                torch.empty(3, device="cuda"),
                torch.empty_strided((2, 2), (1, 2), dtype=torch.complex64, device="cuda"),
                torch.empty_like(torch.zeros(3, device="cuda")),
                torch.zeros(1, device="cuda").resize_(4)[1:],
            ]

        for one in made():
            self.assertTrue(one.isnan().all(), one)
        whole = torch.empty(3, dtype=torch.int32, device="cuda")
        self.assertEqual(whole.tolist(), [2**31 - 1] * 3)
        self.assertTrue(torch.empty(3, dtype=torch.bool, device="cuda").all())
        settings: Any = torch.utils.deterministic
        settings.fill_uninitialized_memory = False
        self.addCleanup(setattr, settings, "fill_uninitialized_memory", True)
        before = torch.full((1024,), 7.0, device="cuda")
        del before
        self.assertFalse(torch.empty(1024, device="cuda").isnan().any())

    def test_losses_that_cudnn_computes_are_not_refused(self) -> None:
        paths = torch.randn(5, 1, 3).log_softmax(2)
        gradients = []
        for device in ("cpu", "cuda"):
            leaf = paths.to(device).detach().clone().requires_grad_()
            labels = torch.tensor([1, 2], dtype=torch.int32)
            lengths = torch.tensor([5]), torch.tensor([2])
            torch.nn.functional.ctc_loss(leaf, labels, *lengths).backward()
            assert leaf.grad is not None
            gradients.append(leaf.grad.cpu())
        torch.testing.assert_close(gradients[0], gradients[1], atol=1e-5, rtol=1e-5)


if __name__ == "__main__":
    unittest.main()
