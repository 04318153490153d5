"""Tensors of pu: memory shared with cuda, storages, Parameters, layouts, two devices, errors."""

from __future__ import annotations

import copy
import threading
from typing import Any

import torch
import torch_pu
from absl.testing import absltest, parameterized
from torch.autograd import forward_ad


def same_memory(one: torch.Tensor, other: torch.Tensor) -> bool:
    return one.data_ptr() == other.data_ptr()


class SharingTest(parameterized.TestCase):
    def test_there_and_back_is_the_same_storage(self) -> None:
        tensor = torch.arange(6.0, device="pu").reshape(2, 3)
        there = torch_pu.as_cuda(tensor)
        back = torch_pu.as_pu(there)
        self.assertEqual(there.device, torch.device("cuda", 0))
        self.assertTrue(same_memory(tensor, there))
        self.assertEqual(back.untyped_storage()._cdata, tensor.untyped_storage()._cdata)
        there.add_(1)
        self.assertEqual(back.tolist(), [[1, 2, 3], [4, 5, 6]])

    def test_from_cuda_twice_is_one_storage(self) -> None:
        tensor = torch.ones(4, device="cuda")
        one, other = torch_pu.as_pu(tensor), torch_pu.as_pu(tensor[1:])
        self.assertEqual(one.untyped_storage()._cdata, other.untyped_storage()._cdata)
        self.assertEqual(other.storage_offset(), 1)

    def test_what_has_the_name_is_given_back(self) -> None:
        here, there = torch.ones(2, device="pu", requires_grad=True), torch.ones(2, device="cuda")
        self.assertIs(torch_pu.as_pu(here), here)
        self.assertIs(torch_pu.as_cuda(there), there)

    def test_what_is_no_tensor(self) -> None:
        for change in (torch_pu.as_cuda, torch_pu.as_pu):
            for other in (3, None, [1.0]):
                with self.assertRaisesRegex(TypeError, "needed a tensor"):
                    change(other)  # type: ignore[arg-type]

    def test_another_device_has_other_memory(self) -> None:
        for change in (torch_pu.as_cuda, torch_pu.as_pu):
            with self.assertRaisesRegex(ValueError, "found one of cpu"):
                change(torch.ones(2))
        self.assertEqual(torch_pu.as_cuda(torch.ones(2, device="pu:1")).device.index, 1)

    def test_the_memory_outlives_either(self) -> None:
        tensor = torch.full((1000,), 3.0, device="pu")
        there = torch_pu.as_cuda(tensor)
        del tensor
        torch.full((1000,), 4.0, device="pu")
        self.assertEqual(there.sum().item(), 3000)

    def test_nothing_stays_allocated(self) -> None:
        before = torch.cuda.memory_allocated()
        for _ in range(2000):
            torch_pu.as_pu(torch_pu.as_cuda(torch.ones(64, device="pu"))).add_(1)
        self.assertEqual(torch.cuda.memory_allocated(), before)

    def test_resized_on_the_other_side(self) -> None:
        tensor = torch.ones(2, device="pu")
        there = torch_pu.as_cuda(tensor)
        there.resize_(1 << 16).fill_(2)
        self.assertEqual((tensor + 1).tolist(), [3, 3])
        self.assertTrue(same_memory(tensor, there))
        self.assertEqual(tensor.untyped_storage().nbytes(), 4 << 16)

    @parameterized.parameters(("pu", torch_pu.as_cuda), ("cuda", torch_pu.as_pu))
    def test_autograd_sees_writes_under_the_other_name(self, device: str, change: Any) -> None:
        tensor = torch.ones(3, device=device, requires_grad=True)
        inner = tensor * 2
        loss = inner.square().sum()
        change(inner.detach()).add_(1)
        with self.assertRaisesRegex(RuntimeError, "modified by an inplace operation"):
            loss.backward()

    @parameterized.parameters(("pu", torch_pu.as_cuda), ("cuda", torch_pu.as_pu))
    def test_no_gradient_is_lost_in_silence(self, device: str, change: Any) -> None:
        leaf = torch.ones(3, device=device, requires_grad=True)
        for tensor in (leaf, leaf * 1, torch.nn.Parameter(torch.ones(2, device=device))):
            with self.assertRaisesRegex(RuntimeError, r"carries gradients.*tensor\.detach\(\)"):
                change(tensor)
            with torch.no_grad(), self.assertRaisesRegex(RuntimeError, "carries gradients"):
                change(tensor)
        with forward_ad.dual_level():
            dual = forward_ad.make_dual(leaf.detach(), torch.ones(3, device=device))
            with self.assertRaisesRegex(RuntimeError, "carries gradients"):
                change(dual)
        with self.assertRaisesRegex(RuntimeError, "wraps others"):
            torch.vmap(lambda row: change(row).sum())(torch.ones(2, 3, device=device))

    def test_of_inference(self) -> None:
        with torch.inference_mode():
            tensor = torch.ones(3, device="pu")
            torch_pu.as_cuda(tensor).add_(1)
            self.assertEqual(tensor.tolist(), [2, 2, 2])

    def test_layouts(self) -> None:
        sparse = torch.eye(3, device="pu").to_sparse()
        there = torch_pu.as_cuda(sparse)
        self.assertEqual((there.layout, there.device.type), (torch.sparse_coo, "cuda"))
        self.assertTrue(same_memory(there._values(), sparse._values()))
        conjugate = torch_pu.as_cuda(torch.tensor([1 + 2j], device="pu").conj())
        self.assertEqual(conjugate.tolist(), [1 - 2j])


class StorageTest(parameterized.TestCase):
    def test_deepcopy(self) -> None:
        tensor = torch.arange(4.0, device="pu")
        pair = copy.deepcopy([tensor, tensor[1:]])
        self.assertEqual(pair[0].device.type, "pu")
        self.assertFalse(same_memory(pair[0], tensor))
        pair[0].zero_()
        self.assertEqual(pair[1].tolist(), [0, 0, 0])
        self.assertEqual(tensor.tolist(), [0, 1, 2, 3])

    def test_set(self) -> None:
        one, other = torch.zeros(3, device="pu"), torch.arange(6.0, device="pu")
        one.set_(other.untyped_storage(), 1, (2,), (2,))
        self.assertEqual(one.tolist(), [1, 3])
        self.assertEqual(one.untyped_storage()._cdata, other.untyped_storage()._cdata)

    def test_resize(self) -> None:
        tensor = torch.ones(2, device="pu")
        tensor.resize_(3, 100)
        self.assertEqual(tensor.shape, (3, 100))
        self.assertEqual(tensor.flatten()[:2].tolist(), [1, 1])
        storage = tensor.untyped_storage()
        storage.resize_(0)
        self.assertEqual(storage.nbytes(), 0)
        storage.resize_(1200)
        tensor.fill_(2)
        self.assertEqual(tensor.sum().item(), 600)

    def test_out_grows(self) -> None:
        out = torch.empty(0, device="pu")
        result = torch.add(torch.ones(5, device="pu"), 1, out=out)
        self.assertIs(result, out)
        self.assertEqual(out.tolist(), [2] * 5)

    def test_memory_of_others(self) -> None:
        tensor = torch.from_dlpack(torch.ones(3, device="pu"))
        self.assertEqual(tensor.device.type, "pu")
        self.assertEqual((tensor.add_(1) * 2).tolist(), [4, 4, 4])

    @parameterized.parameters(0, 1)
    def test_empty_and_scalars(self, size: int) -> None:
        tensor = torch.ones(size, device="pu")
        self.assertEqual((tensor + torch.tensor(1.0)).tolist(), [2] * size)
        self.assertEqual(tensor.sum().item(), size)

    def test_pinned(self) -> None:
        pinned = torch.ones(3).pin_memory()
        self.assertTrue(pinned.is_pinned())
        self.assertEqual(pinned.to("pu", non_blocking=True).tolist(), [1, 1, 1])

    def test_pinned_by_a_loader(self) -> None:
        data = torch.utils.data.TensorDataset(torch.arange(8.0))
        loader = torch.utils.data.DataLoader(
            data, batch_size=4, pin_memory=True, pin_memory_device="pu"
        )
        for (batch,) in loader:
            self.assertTrue(batch.is_pinned())


class ParametersTest(absltest.TestCase):
    def test_parameters_stay_the_same_objects(self) -> None:
        model = torch.nn.Linear(3, 2)
        optimizer = torch.optim.SGD(model.parameters(), 0.1)
        weight = model.weight
        for device in ("pu", "cpu", "cuda", "pu", "pu:1"):
            model.to(device)
            self.assertIs(model.weight, weight)
            self.assertIs(optimizer.param_groups[0]["params"][0], weight)
            self.assertIsInstance(weight, torch.nn.Parameter)
            self.assertEqual(weight.device.type, device.partition(":")[0])
            model(torch.ones(1, 3, device=device)).sum().backward()
            self.assertEqual(weight.grad.device, weight.device)  # type: ignore[union-attr]
            optimizer.step()

    def test_methods(self) -> None:
        self.assertTrue(torch.ones(2).pu().is_pu)
        self.assertEqual(torch.nn.Linear(2, 2).pu().weight.device.type, "pu")
        self.assertFalse(torch.ones(2).is_pu)


class LayoutsTest(absltest.TestCase):
    def test_sparse(self) -> None:
        sparse = torch.sparse_coo_tensor(
            torch.tensor([[0, 1], [1, 0]]), torch.tensor([1.0, 2.0]), (2, 2), device="pu"
        )
        self.assertEqual(sparse.device.type, "pu")
        self.assertEqual(sparse.to_dense().tolist(), [[0, 1], [2, 0]])
        product = torch.sparse.mm(sparse, torch.ones(2, 2, device="pu"))
        self.assertEqual(product.tolist(), [[1, 1], [2, 2]])
        self.assertEqual(sparse.cpu().to("pu").coalesce().values().tolist(), [1, 2])

    def test_compressed(self) -> None:
        dense = torch.tensor([[0.0, 1.0], [2.0, 0.0]], device="pu")
        self.assertEqual(dense.to_sparse_csr().to_dense().tolist(), dense.tolist())

    def test_conjugates(self) -> None:
        tensor = torch.tensor([1 + 2j], device="pu").conj()
        self.assertTrue(tensor.is_conj())
        self.assertEqual((tensor * 1).tolist(), [1 - 2j])


class DevicesTest(absltest.TestCase):
    def test_two(self) -> None:
        one, other = torch.ones(3, device="pu:0"), torch.ones(3, device="pu:1")
        self.assertEqual((other + 1).device, torch.device("pu", 1))
        self.assertEqual(one.to("pu:1").add(other).tolist(), [2, 2, 2])
        with torch.pu.device("pu:1"):  # type: ignore[attr-defined]
            self.assertEqual(torch.zeros(2, device="pu").device, torch.device("pu", 1))
            self.assertEqual(torch.accelerator.current_device_index(), 1)
        with torch.device("pu:1"):
            self.assertEqual(torch.zeros(2).device, torch.device("pu", 1))

    def test_sparse_tensors_are_on_theirs_whichever_is_current(self) -> None:
        tensor = torch.eye(2, device="pu:1").to_sparse().mul(2).coalesce()
        self.assertEqual(tensor.device, torch.device("pu", 1))
        self.assertEqual(tensor.to("pu:0").to_dense().tolist(), [[2, 0], [0, 2]])

    def test_threads(self) -> None:
        sums = []

        def work() -> None:
            for number in range(200):
                tensor = torch.full((8,), float(number), device="pu")
                there = torch_pu.as_pu(torch_pu.as_cuda(tensor))
                sums.append(there.sum().item() - 8 * number)

        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(sums, [0] * 800)

    def test_generators(self) -> None:
        generator = torch.Generator("pu")
        self.assertEqual(generator.device.type, "pu")
        numbers = torch.rand(5, generator=generator.manual_seed(3), device="pu")
        state = generator.get_state()
        more = torch.rand(5, generator=generator, device="pu")
        generator.set_state(state)
        torch.testing.assert_close(torch.rand(5, generator=generator, device="pu"), more)
        torch.manual_seed(3)
        torch.testing.assert_close(torch.rand(5, device="cuda").to("pu"), numbers)


class ErrorsTest(absltest.TestCase):
    def test_they_name_pu(self) -> None:
        tensor = torch.ones(2, 3, device="pu")
        with self.assertRaisesRegex(RuntimeError, "two devices, pu:0 and cpu!"):
            tensor.add(torch.ones(2, 3))
        with self.assertRaisesRegex(RuntimeError, "two devices, pu:[01] and pu:[01]"):
            tensor.add(torch.ones(2, 3, device="pu:1"))
        with self.assertRaisesRegex(RuntimeError, r"devices, pu and cuda:0.*tensor.to\(\"pu\"\)"):
            tensor.add(torch.ones(2, 3, device="cuda"))

    def test_an_argument_that_is_written_to_does_not_grow(self) -> None:
        column, wide = torch.ones(3, 1, device="pu"), torch.zeros(3, 4, device="pu")
        for write in (
            lambda: torch.add(column, wide, out=column),
            lambda: column.logical_or_(wide),
            lambda: torch.zeros((), device="pu").addr_(wide[0, :3], wide[:, 0]),
        ):
            with self.assertRaises(RuntimeError):
                write()
            self.assertEqual(column.tolist(), [[1], [1], [1]])

    def test_they_keep_their_types(self) -> None:
        tensor = torch.ones(3, device="pu")
        with self.assertRaises(IndexError):
            tensor.select(0, 5)
        with self.assertRaises(NotImplementedError):
            torch.ops.aten._mkldnn_transpose(tensor, 0, 0)
        self.assertEqual((tensor + 1).tolist(), [2, 2, 2])  # the device goes on


if __name__ == "__main__":
    absltest.main()
