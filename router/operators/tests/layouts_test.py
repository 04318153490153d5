"""Tensors that are more than one block of numbers: views, out=, sparse, quantized, nested, lazy bits."""

from __future__ import annotations

import torch
from absl.testing import absltest, parameterized


class LayoutsTest(parameterized.TestCase):
    def assert_same(self, found: torch.Tensor, wanted: torch.Tensor) -> None:
        self.assertEqual(found.device.type, "cuda")
        torch.testing.assert_close(found.cpu(), wanted, rtol=0, atol=0)

    def test_copies_of_quantized_tensors(self) -> None:
        numbers = torch.arange(8.0)
        found = []
        for device in ("cpu", "cuda"):
            target = torch.quantize_per_tensor(numbers.to(device), 0.5, 2, torch.quint8)
            target[::2].copy_(target[1::2])
            strided = target.dequantize().cpu()
            target.copy_(torch.full((8,), 4.0, device=device))
            other = torch.quantize_per_tensor(numbers.to(device), 0.25, 3, torch.quint8)
            of_numbers = target.dequantize().cpu()
            target.copy_(other)
            found.append((strided, of_numbers, target.dequantize().cpu(), target.q_scale()))
        for mine, host in zip(found[1], found[0], strict=True):
            torch.testing.assert_close(mine, host, rtol=0, atol=0)

    def test_nested_tensors_in_place_and_backwards(self) -> None:
        part = torch.ones(2, 3, device="cuda", requires_grad=True)
        nested = torch.nested.as_nested_tensor([part, 2 * part])
        nested.to_padded_tensor(0).sum().backward()
        assert part.grad is not None
        self.assertEqual(part.grad.tolist(), [[3, 3, 3]] * 2)
        changed = nested.detach().clone()
        changed.mul_(-2)
        changed.add_(3)
        torch.relu_(changed)
        self.assertEqual(changed[0].tolist(), [[1, 1, 1]] * 2)
        self.assertEqual(changed[1].tolist(), [[0, 0, 0]] * 2)

    def test_out_is_resized_and_keeps_its_identity(self) -> None:
        left, right = torch.randn(30, 4), torch.randn(4, 5)
        out = torch.empty(0, device="cuda")
        result = torch.mm(left.cuda(), right.cuda(), out=out)
        self.assertIs(result, out)
        self.assert_same(out, left @ right)
        self.assertEqual(out.untyped_storage().device.type, "cuda")
        parts = (torch.empty(0, device="cuda"), torch.empty(0, device="cuda", dtype=torch.long))
        torch.sort(left.cuda(), out=parts)
        self.assert_same(parts[0], left.sort().values)

    def test_out_that_has_room_keeps_its_memory(self) -> None:
        out = torch.empty(64, device="cuda")
        address = out.data_ptr()
        with self.assertWarnsRegex(UserWarning, "resized"):
            torch.add(torch.ones(3, device="cuda"), 1, out=out)
        self.assertEqual((out.data_ptr(), out.shape), (address, (3,)))

    def test_views_share_memory(self) -> None:
        base = torch.zeros(4, 6, device="cuda")
        view = base.t()[1:4:2]
        view.add_(1)
        base[0].mul_(3)
        self.assertEqual(base.sum().item(), 8 + 2 * 2)
        self.assertEqual(view._base is base, True)
        self.assertEqual(view.untyped_storage().data_ptr(), base.untyped_storage().data_ptr())
        self.assertEqual(base.expand(2, 4, 6).sum().item(), 24)

    def test_storages_grow_and_are_replaced(self) -> None:
        tensor = torch.arange(4.0, device="cuda")
        tensor.resize_(100)
        self.assertEqual(tensor[:4].tolist(), [0, 1, 2, 3])
        other = torch.empty(0, device="cuda").set_(tensor.untyped_storage(), 0, (4,), (1,))
        other[0] = 9
        self.assertEqual(tensor[0].item(), 9)

    def test_conjugates_and_negatives_are_lazy(self) -> None:
        host = torch.randn(3, 3, dtype=torch.complex64)
        device = host.cuda()
        self.assertTrue(device.conj().is_conj())
        self.assert_same(device.conj() @ device, host.conj() @ host)
        self.assertTrue(device.conj().imag.is_neg())
        self.assert_same(device.conj().imag + 1, host.conj().imag + 1)

    def test_zero_tensors_of_derivatives(self) -> None:
        with torch.autograd.forward_ad.dual_level():
            dual = torch.autograd.forward_ad.make_dual(
                torch.ones(3, device="cuda"), torch.ones(3, device="cuda")
            )
            result = torch.autograd.forward_ad.unpack_dual(dual * torch.ones(3, device="cuda"))
        self.assert_same(result.tangent, torch.ones(3))
        zero = torch._efficientzerotensor((3,), device="cuda")
        self.assert_same(zero + torch.ones(3, device="cuda"), torch.ones(3))

    def test_sparse(self) -> None:
        host = torch.eye(4).mul(3).to_sparse()
        device = host.cuda()
        self.assertEqual(device.values().device.type, "cuda")
        self.assert_same((device + device).to_dense(), (host + host).to_dense())
        self.assert_same(
            torch.sparse.mm(device, torch.ones(4, 2, device="cuda")), torch.full((4, 2), 3.0)
        )
        twice = torch.sparse_coo_tensor(
            torch.tensor([[0, 0]]), torch.tensor([1.0, 2.0]), (2,), device="cuda"
        )
        self.assertEqual(twice.coalesce().values().tolist(), [3])
        compressed = torch.eye(4).to_sparse_csr().cuda()
        self.assert_same(compressed @ torch.ones(4, device="cuda"), torch.ones(4))

    @parameterized.parameters("sum", "mean", "amax", "amin")
    def test_sparse_products_that_reduce(self, reduce: str) -> None:
        results = []
        for device in ("cpu", "cuda"):
            torch.manual_seed(0)
            matrix = torch.randn(3, 4).relu().to_sparse_csr().to(device).requires_grad_()
            dense = torch.randn(4, 2).to(device).requires_grad_()
            product = torch.sparse.mm(matrix, dense, reduce)
            product.sum().backward()
            assert matrix.grad is not None
            results.append((product.detach(), matrix.grad.values(), dense.grad))
        for found, wanted in zip(results[1], results[0], strict=True):
            self.assert_same(found, wanted)

    def test_gradients_that_are_sparse(self) -> None:
        results = []
        for device in ("cpu", "cuda"):
            torch.manual_seed(0)
            table = torch.nn.Embedding(9, 3, sparse=True).to(device)
            table(torch.tensor([1, 5, 1], device=device)).sum().backward()
            torch.optim.SparseAdam(table.parameters()).step()
            results.append(table.weight.detach())
        self.assert_same(results[1], results[0])

    def test_quantized(self) -> None:
        host = torch.randn(8)
        kept = torch.quantize_per_tensor(host, 0.1, 3, torch.qint8)
        device = torch.quantize_per_tensor(host.cuda(), 0.1, 3, torch.qint8)
        self.assertTrue(device.is_quantized)
        self.assert_same(device.dequantize(), kept.dequantize())
        self.assert_same(device.int_repr(), kept.int_repr())

    def test_nested(self) -> None:
        parts = [torch.randn(2, 3), torch.randn(4, 3)]
        device = torch.nested.nested_tensor([part.cuda() for part in parts])
        for found, part in zip((device + device).unbind(), parts, strict=True):
            self.assert_same(found, part * 2)
        self.assert_same(
            device.to_padded_tensor(0.0), torch.nested.nested_tensor(parts).to_padded_tensor(0.0)
        )

    def test_lists(self) -> None:
        tensors = [torch.randn(n) for n in (1, 5, 3)]
        moved = [tensor.cuda() for tensor in tensors]
        self.assert_same(torch.cat(moved), torch.cat(tensors))
        for found, wanted in zip(torch._foreach_mul(moved, 2.0), tensors, strict=True):
            self.assert_same(found, wanted * 2)
        index = torch.tensor([2, 0])
        self.assert_same(moved[2][index], tensors[2][index])
        self.assert_same(moved[2][index.cuda()], tensors[2][index])

    @parameterized.parameters(torch.float16, torch.bfloat16, torch.float64, torch.int8, torch.bool)
    def test_types(self, dtype: torch.dtype) -> None:
        host = torch.randn(5, 4).mul(3).to(dtype)
        self.assert_same(host.cuda().to(torch.float32), host.to(torch.float32))
        self.assert_same(host.cuda().t().contiguous(), host.t().contiguous())

    def test_nothing_is_left_out_when_there_is_nothing(self) -> None:
        empty = torch.empty(0, 3, device="cuda")
        self.assertEqual((empty @ torch.ones(3, 2, device="cuda")).shape, (0, 2))
        self.assertEqual(empty.sum().item(), 0)
        self.assertEqual(torch.cat([empty, empty]).shape, (0, 3))


if __name__ == "__main__":
    absltest.main()
