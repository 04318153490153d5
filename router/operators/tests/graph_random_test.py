"""Random numbers in CUDA graphs: those that the operators would draw one by one."""

from __future__ import annotations

from collections.abc import Callable

import torch
from absl.testing import absltest, parameterized
from torch.nn import functional

from router.operators.tests.captures import capture, equal


class GraphRandomTest(parameterized.TestCase):
    @parameterized.named_parameters(
        ("uniform", lambda a: torch.rand_like(a)),
        ("normal", lambda a: torch.randn_like(a)),
        ("dropout", lambda a: functional.dropout(a, 0.3)),
        ("choices", lambda a: torch.multinomial(a + 1, 3, replacement=True)),
        ("permutation", lambda a: torch.randperm(16, device="cuda")),
        ("bernoulli", lambda a: torch.bernoulli(a / 2) + a.clone().exponential_()),
    )
    def test_replays_draw_what_calls_draw(self, draw: Callable[..., torch.Tensor]) -> None:
        ones = torch.ones(4, 16, device="cuda")
        torch.manual_seed(5)
        torch.rand(3, device="cuda")
        eager = [draw(ones) for _ in range(6)]
        after = torch.rand(4, device="cuda")
        torch.manual_seed(5)
        graph, results = capture(lambda: (draw(ones), draw(ones)))
        torch.rand(3, device="cuda")
        replayed = []
        for _ in range(3):
            graph.replay()
            replayed += [result.clone() for result in results]
        for found, wanted in zip(replayed, eager, strict=True):
            equal(found, wanted)
        equal(torch.rand(4, device="cuda"), after)

    def test_the_state_is_that_of_the_replay(self) -> None:
        graph, result = capture(lambda: torch.rand(8, device="cuda"))
        torch.cuda.manual_seed(7)
        state = torch.cuda.get_rng_state()
        graph.replay()
        torch.cuda.manual_seed(8)  # too late for that replay
        first = result.clone()
        torch.cuda.set_rng_state(state)
        equal(torch.rand(8, device="cuda"), first)

    def test_generators_that_are_registered(self) -> None:
        generator = torch.Generator("cuda").manual_seed(11)
        wanted = [torch.rand(4, device="cuda", generator=generator) for _ in range(2)]
        generator.manual_seed(11)
        graph = torch.cuda.CUDAGraph()
        graph.register_generator_state(generator)
        with torch.cuda.graph(graph):
            result = torch.rand(4, device="cuda", generator=generator)
        for each in wanted:
            graph.replay()
            equal(result, each)
        other = torch.Generator("cuda")
        with self.assertRaisesRegex(RuntimeError, "generator not in capture mode"):
            capture(lambda: torch.rand(4, device="cuda", generator=other))

    def test_numbers_whose_count_depends_on_data_are_no_one_else_s(self) -> None:
        rates = torch.full((64,), 200.0, device="cuda")
        graph, (counts, numbers) = capture(
            lambda: (torch.poisson(rates), torch.rand(64, device="cuda"))
        )
        torch.manual_seed(3)
        graph.replay()
        self.assertGreater(counts.min().item(), 100)
        following = torch.rand(64, device="cuda")
        self.assertFalse(torch.isin(numbers, following).any().item())

    def test_numbers_for_negative_values_alone_are_set_aside_for_all(self) -> None:
        below = torch.full((64,), -1.0, device="cuda")
        graph, (slopes, numbers) = capture(
            lambda: (
                -functional.rrelu(below, 0.0, 1.0, training=True),
                torch.rand(64, device="cuda"),
            )
        )
        torch.manual_seed(3)
        graph.replay()
        self.assertFalse(torch.isin(slopes, numbers).any().item())

    def test_a_normal_number_that_was_kept_is_kept(self) -> None:
        torch.manual_seed(9)
        torch.randn(5, device="cuda")  # of six
        wanted = torch.randn(5, device="cuda")
        torch.manual_seed(9)
        torch.randn(5, device="cuda")
        graph, _ = capture(lambda: torch.rand(16, device="cuda"))
        graph.replay()
        equal(torch.randn(5, device="cuda")[0], wanted[0])


if __name__ == "__main__":
    absltest.main()
