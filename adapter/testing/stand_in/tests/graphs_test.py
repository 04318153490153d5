"""Graphs of the stand-in: a capture does nothing, and a replay does all of it on the same memory."""

from __future__ import annotations

import torch
import torch_stand_in
from absl.testing import absltest
from torch.nn import functional


class GraphsTest(absltest.TestCase):
    def test_capture_and_replay(self) -> None:
        tensor = torch.ones(4, device="stand_in")
        graph = torch_stand_in.StandGraph()
        with torch_stand_in.graph(graph):
            self.assertTrue(torch_stand_in.is_current_stream_capturing())
            tensor.add_(1)
            doubled = tensor * 2
            parts = torch.stack([doubled, doubled]).unbind()
        self.assertFalse(torch_stand_in.is_current_stream_capturing())
        self.assertEqual(tensor.tolist(), [1] * 4)
        for number in (2, 3):
            graph.replay()
            self.assertEqual(tensor.tolist(), [number] * 4)
            self.assertEqual(doubled.tolist(), [2 * number] * 4)
            self.assertEqual(parts[1].tolist(), [2 * number] * 4)
        tensor.fill_(10)
        graph.replay()
        self.assertEqual(doubled.tolist(), [22] * 4)

    def test_memory_of_a_graph_is_its_own(self) -> None:
        tensor = torch.ones(1000, device="stand_in")
        graph = torch_stand_in.StandGraph()
        with torch_stand_in.graph(graph):
            inner = tensor + 1
            result = inner * 3
            del inner
        others = [torch.full((1000,), 7.0, device="stand_in") for _ in range(8)]
        graph.replay()
        self.assertEqual(result.unique().tolist(), [6])
        for other in others:
            self.assertEqual(other.unique().tolist(), [7])

    def test_random_numbers_differ_from_replay_to_replay(self) -> None:
        graph = torch_stand_in.StandGraph()
        state = torch_stand_in.get_rng_state()
        with torch_stand_in.graph(graph):
            drawn = torch.rand(8, device="stand_in")
        self.assertTrue(torch.equal(torch_stand_in.get_rng_state(), state))
        graph.replay()
        first = drawn.tolist()
        graph.replay()
        self.assertNotEqual(drawn.tolist(), first)

    def test_copies_are_part_of_it(self) -> None:
        host = torch.ones(4).pin_memory()
        there = torch.zeros(4, device="stand_in")
        graph = torch_stand_in.StandGraph()
        with torch_stand_in.graph(graph):
            there.copy_(host, non_blocking=True)
        self.assertEqual(there.tolist(), [0] * 4)
        host.fill_(5)
        graph.replay()
        self.assertEqual(there.tolist(), [5] * 4)

    def test_what_the_host_waits_for_is_refused(self) -> None:
        tensor = torch.ones(1, device="stand_in")
        graph = torch_stand_in.StandGraph()
        with (
            self.assertRaisesRegex(RuntimeError, "not permitted when a graph is captured"),
            torch_stand_in.graph(graph),
        ):
            tensor.item()
        self.assertFalse(torch_stand_in.is_current_stream_capturing())
        self.assertEqual(tensor.item(), 1)

    def test_states_of_a_graph(self) -> None:
        graph = torch_stand_in.StandGraph()
        with self.assertRaisesRegex(RuntimeError, "without a preceding successful capture"):
            graph.replay()
        with torch_stand_in.graph(graph):
            with self.assertRaisesRegex(RuntimeError, "another graph is being captured"):
                torch_stand_in.StandGraph().capture_begin()
            torch.ones(1, device="stand_in")
        with self.assertRaisesRegex(RuntimeError, "already owns a captured graph"):
            graph.capture_begin()
        graph.reset()
        with torch_stand_in.graph(graph):
            torch.ones(1, device="stand_in")

    def test_a_step_of_training(self) -> None:
        def losses(graphed: bool) -> list[float]:
            torch.manual_seed(0)
            model = torch.nn.Sequential(
                torch.nn.Conv2d(1, 4, 3),
                torch.nn.ReLU(),
                torch.nn.Flatten(),
                torch.nn.Linear(144, 5),
            ).to("stand_in")
            optimizer = torch.optim.SGD(model.parameters(), 0.1, momentum=0.9)
            pictures = torch.zeros(4, 1, 8, 8, device="stand_in")
            labels = torch.arange(4, device="stand_in")
            loss = torch.zeros((), device="stand_in")

            def step() -> None:
                optimizer.zero_grad(set_to_none=False)
                value = functional.cross_entropy(model(pictures), labels)
                value.backward()
                optimizer.step()
                loss.copy_(value.detach())

            step()  # gradients and momenta are there from now on
            graph = torch_stand_in.StandGraph()
            if graphed:
                with torch_stand_in.graph(graph):
                    step()
            found = []
            for number in range(4):
                generator = torch.Generator().manual_seed(number)
                pictures.copy_(torch.randn(4, 1, 8, 8, generator=generator))
                graph.replay() if graphed else step()
                found.append(loss.item())
            return found

        expected = losses(graphed=False)
        self.assertLen(set(expected), 4)
        torch.testing.assert_close(losses(graphed=True), expected)


if __name__ == "__main__":
    absltest.main()
