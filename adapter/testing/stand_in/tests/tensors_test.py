"""Tensors of the stand-in: where they are, operators, storages, layouts, random numbers, files."""

from __future__ import annotations

import copy
import io
import pickle
import threading
from collections.abc import Callable
from typing import Any

import torch
import torch_stand_in
from absl.testing import absltest, parameterized


class DevicesTest(absltest.TestCase):
    def test_methods_and_properties(self) -> None:
        tensor = torch.ones(3).stand_in()
        self.assertTrue(tensor.is_stand_in)
        self.assertFalse(torch.ones(3).is_stand_in)
        self.assertEqual(tensor.device, torch.device("stand_in", 0))
        self.assertEqual(torch.nn.Linear(2, 2).stand_in().weight.device, tensor.device)
        self.assertEqual(tensor.get_device(), 0)

    def test_two_devices(self) -> None:
        there = torch.arange(4.0, device="stand_in:1")
        here = there.to("stand_in:0")
        self.assertEqual(here.tolist(), [0, 1, 2, 3])
        self.assertEqual((there + 1).device.index, 1)
        with self.assertRaisesRegex(
            RuntimeError, "at least two devices, stand_in:0 and stand_in:1"
        ):
            here + there
        with torch_stand_in.device(1):
            self.assertEqual(torch.zeros(1, device="stand_in").device.index, 1)
            self.assertEqual(torch.full_like(here, 2.0).device.index, 0)
        self.assertEqual(torch.zeros(1, device="stand_in").device.index, 0)
        with self.assertRaisesRegex(RuntimeError, "there is no device 2"):
            torch.ones(1, device="stand_in:2")

    def test_a_tensor_of_the_host_beside_one_of_the_device(self) -> None:
        tensor = torch.ones(3, device="stand_in")
        with self.assertRaisesRegex(RuntimeError, "at least two devices, stand_in:0 and cpu"):
            tensor + torch.ones(3)
        self.assertEqual((tensor + torch.tensor(2.0)).tolist(), [3, 3, 3])
        self.assertEqual(tensor[torch.tensor([0, 2])].tolist(), [1, 1])

    def test_copies(self) -> None:
        host = torch.arange(24.0).reshape(2, 3, 4)
        for view in (host, host.transpose(0, 2), host[:, 1:, ::2], host.bfloat16(), host[:0]):
            there = torch.empty_like(view, device="stand_in").copy_(view)
            torch.testing.assert_close(there.cpu(), view)
            self.assertEqual(view.to("stand_in").stride(), view.to("cpu", copy=True).stride())
        whole = torch.zeros(2, 3, 4, device="stand_in")
        whole[:, 1] = host[:, 0].to("stand_in")
        torch.testing.assert_close(whole[:, 1].cpu(), host[:, 0])
        wide = torch.empty(2, 3, 4, device="stand_in").copy_(torch.arange(4))
        self.assertEqual(wide[1, 2].tolist(), [0, 1, 2, 3])
        conjugate = torch.tensor([1 + 2j]).to("stand_in").conj()
        self.assertEqual(conjugate.cpu().resolve_conj().tolist(), [1 - 2j])

    def test_threads(self) -> None:
        results: list[float] = []

        def work() -> None:
            tensor = torch.ones(100, device="stand_in:1")
            for _ in range(50):
                tensor = tensor + 1
            results.append(tensor.sum().item())

        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(results, [5100.0] * 4)


class OperatorsTest(absltest.TestCase):
    def test_what_goes_tensor_by_tensor_takes_tensors_of_several_devices(self) -> None:
        tensors = [torch.ones(2, device=device) for device in ("stand_in:0", "stand_in:1", "cpu")]
        added = torch._foreach_add(tensors, 1)
        self.assertEqual([tensor.device for tensor in added], [t.device for t in tensors])
        torch._foreach_add_(tensors, 2)
        self.assertEqual([tensor.tolist() for tensor in tensors], [[3.0, 3.0]] * 3)
        self.assertEqual([tensor._version for tensor in tensors], [1, 1, 1])

    def test_sparse_results_are_on_their_device_whichever_is_current(self) -> None:
        tensor = torch.eye(2, device="stand_in:1").to_sparse().mul(2).coalesce()
        self.assertEqual(str(tensor.device), "stand_in:1")
        self.assertEqual(tensor.to_dense().tolist(), [[2.0, 0.0], [0.0, 2.0]])

    def test_numbers_of_lists_are_on_the_host(self) -> None:
        tensors = [torch.ones(2, device="stand_in"), torch.ones(3, device="stand_in")]
        torch._foreach_addcmul_(tensors, tensors, tensors, torch.tensor([2.0, 3.0]))
        self.assertEqual([tensor.tolist() for tensor in tensors], [[3.0] * 2, [4.0] * 3])

    def assert_same(self, function: Callable[[torch.Tensor], Any]) -> None:
        there = function(torch.arange(1.0, 10, device="stand_in").reshape(3, 3))
        here = function(torch.arange(1.0, 10).reshape(3, 3))
        torch.testing.assert_close(
            [t.cpu() for t in (there if isinstance(there, tuple) else (there,))],
            list(here if isinstance(here, tuple) else (here,)),
        )

    def test_a_few_of_each_kind(self) -> None:
        for function in (
            lambda x: x @ x,
            lambda x: x.std(0),
            lambda x: tuple(torch.var_mean(x)),
            lambda x: torch.linalg.svdvals(x),
            lambda x: torch.fft.rfft(x),
            lambda x: x.unfold(0, 2, 1),
            lambda x: x.sort(descending=True)[1],
            lambda x: torch.einsum("ij,kj->ik", x, x),
            lambda x: tuple(torch._foreach_add([x, x], 1)),
            lambda x: x.to_sparse().to_dense(),
            lambda x: torch.cumsum(x, 1).clamp_(max=9),
            lambda x: x.where(x > 4, torch.tensor(0.0)),
            lambda x: torch.cat([x, x.t()]).masked_fill_(torch.tensor(False), 1),
            lambda x: torch.nn.functional.scaled_dot_product_attention(x[None], x[None], x[None]),
        ):
            self.assert_same(function)

    def test_in_place_and_out(self) -> None:
        tensor = torch.ones(3, device="stand_in")
        self.assertIs(tensor.add_(1), tensor)
        result = torch.empty(0, device="stand_in")
        torch.mul(tensor, 2, out=result)
        self.assertEqual(result.tolist(), [4, 4, 4])
        view = tensor[1:]
        view.zero_()
        self.assertEqual(tensor.tolist(), [2, 0, 0])
        tensor.resize_(1000).fill_(3)
        self.assertEqual(tensor.sum().item(), 3000)

    def test_operators_of_a_library_that_comes_later(self) -> None:
        library = torch.library.Library("stand_in_test", "DEF")
        library.define("twice(Tensor x) -> Tensor")
        library.define("nowhere(Tensor x) -> Tensor")
        library.impl("twice", lambda x: x * 2, "CPU")
        tensor = torch.ones(2, device="stand_in")
        doubled = torch.ops.stand_in_test.twice(tensor)
        self.assertEqual((doubled.tolist(), doubled.device), ([2, 2], tensor.device))
        with self.assertRaisesRegex(NotImplementedError, "stand_in_test::nowhere"):
            torch.ops.stand_in_test.nowhere(tensor)

    def test_gradients(self) -> None:
        tensor = torch.ones(3, device="stand_in", requires_grad=True)
        (tensor * 2).square().sum().backward()
        assert tensor.grad is not None
        self.assertEqual(tensor.grad.tolist(), [8, 8, 8])
        tensor.grad = None
        tensor.cpu().sum().backward()
        self.assertEqual(tensor.grad.device, tensor.device)


class RandomTest(parameterized.TestCase):
    @parameterized.parameters(
        lambda: torch.rand(5, device="stand_in"),
        lambda: torch.randn(5, device="stand_in"),
        lambda: torch.randperm(9, device="stand_in"),
        lambda: torch.randint(0, 99, (5,), device="stand_in"),
        lambda: torch.zeros(5, device="stand_in").normal_(),
        lambda: torch.rand_like(torch.zeros(5, device="stand_in")),
        lambda: torch.multinomial(torch.ones(50, device="stand_in"), 5),
        lambda: torch.nn.functional.dropout(torch.ones(50, device="stand_in")),
    )
    def test_numbers_come_from_the_device_s_generator(
        self, draw: Callable[[], torch.Tensor]
    ) -> None:
        torch.manual_seed(3)
        first = draw()
        again = draw()
        self.assertFalse(torch.equal(first, again))
        torch_stand_in.manual_seed(3)
        host = torch.get_rng_state()
        torch.testing.assert_close(draw(), first)
        self.assertTrue(torch.equal(torch.get_rng_state(), host))

    def test_states_and_generators(self) -> None:
        state = torch_stand_in.get_rng_state()
        first = torch.rand(3, device="stand_in")
        torch_stand_in.set_rng_state(state)
        self.assertEqual(torch.rand(3, device="stand_in").tolist(), first.tolist())
        generator = torch.Generator("stand_in:1").manual_seed(5)
        drawn = torch.rand(3, device="stand_in:1", generator=generator)
        generator.manual_seed(5)
        self.assertEqual(
            torch.rand(3, device="stand_in:1", generator=generator).tolist(), drawn.tolist()
        )
        again = pickle.loads(pickle.dumps(generator))
        self.assertEqual(again.device, generator.device)
        self.assertEqual(
            torch.rand(3, device="stand_in:1", generator=again).tolist(),
            torch.rand(3, device="stand_in:1", generator=generator).tolist(),
        )
        self.assertLen(torch_stand_in.default_generators, 2)
        with self.assertRaisesRegex(RuntimeError, "generator"):
            torch.rand(3, device="stand_in", generator=torch.Generator())

    def test_dropout_keeps_the_mean(self) -> None:
        tensor = torch.ones(10000, device="stand_in", requires_grad=True)
        dropped = torch.nn.functional.dropout(tensor, 0.25)
        self.assertAlmostEqual(dropped.mean().item(), 1, delta=0.05)
        dropped.sum().backward()
        torch.testing.assert_close(tensor.grad, dropped.detach())


class StoragesTest(absltest.TestCase):
    def test_save_and_load(self) -> None:
        tensor = torch.arange(6.0, device="stand_in:1").reshape(2, 3)
        file = io.BytesIO()
        torch.save({"all": tensor, "row": tensor[1]}, file)
        for location, device in (
            (None, "stand_in:1"),
            ("cpu", "cpu"),
            ("stand_in:0", "stand_in:0"),
        ):
            file.seek(0)
            loaded = torch.load(file, map_location=location)
            self.assertEqual(loaded["all"].device, torch.device(device))
            self.assertEqual(loaded["all"].tolist(), tensor.tolist())
            loaded["row"].zero_()
            self.assertEqual(loaded["all"][1].tolist(), [0, 0, 0])

    def test_deepcopy_and_resize(self) -> None:
        tensor = torch.ones(4, device="stand_in")
        other = copy.deepcopy(tensor).add_(1)
        self.assertEqual((tensor.tolist(), other.tolist()), ([1] * 4, [2] * 4))
        storage = tensor.untyped_storage()
        self.assertEqual(storage.device.type, "stand_in")
        storage.resize_(1 << 16)
        self.assertEqual((storage.nbytes(), tensor.tolist()), (1 << 16, [1] * 4))

    def test_pinned_memory(self) -> None:
        tensor = torch.arange(4.0).pin_memory()
        self.assertTrue(tensor.is_pinned())
        self.assertFalse(torch.arange(4.0).is_pinned())
        self.assertTrue(torch.empty(3, pin_memory=True).is_pinned())
        there = tensor.to("stand_in", non_blocking=True)
        torch_stand_in.synchronize()
        self.assertEqual(there.tolist(), [0, 1, 2, 3])

    def test_data_loader(self) -> None:
        data = torch.utils.data.TensorDataset(torch.arange(8.0))
        loader = torch.utils.data.DataLoader(
            data, 4, pin_memory=True, pin_memory_device="stand_in", num_workers=1
        )
        batches = [batch for (batch,) in loader]
        self.assertTrue(all(batch.is_pinned() for batch in batches))
        self.assertEqual(torch.cat(batches).tolist(), list(range(8)))


if __name__ == "__main__":
    absltest.main()
