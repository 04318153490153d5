"""Every way from a tensor of pu to one of cuda and back makes a copy, as between any two devices."""

from __future__ import annotations

import copy
import itertools
from collections.abc import Callable

import torch
import torch_pu  # noqa: F401 - gives torch the device
from absl.testing import absltest, parameterized

Convert = Callable[[torch.Tensor, str], torch.Tensor]

# By the name of the device that the result has to be on.
WAYS: dict[str, Convert] = {
    "to": lambda x, device: x.to(device),
    "to_device": lambda x, device: x.to(torch.device(device, 0)),
    "to_same_type": lambda x, device: x.to(device, x.dtype),
    "to_non_blocking": lambda x, device: x.to(device, non_blocking=True),
    "to_format": lambda x, device: x.to(device, memory_format=torch.preserve_format),
    "to_copy": lambda x, device: x.to(device, copy=True),
    "to_other": lambda x, device: x.to(torch.empty(1, device=device)),
    "method": lambda x, device: getattr(x, device)(),
    "method_non_blocking": lambda x, device: getattr(x, device)(
        torch.device(device, 0), non_blocking=True
    ),
    "as_tensor": lambda x, device: torch.as_tensor(x, device=device),
    "asarray": lambda x, device: torch.asarray(x, device=device),
    "copy": lambda x, device: torch.empty_like(x, device=device).copy_(x),
    "copy_non_blocking": lambda x, device: torch.empty_like(x, device=device).copy_(
        x, non_blocking=True
    ),
    "internal": lambda x, device: torch.ops.aten._to_copy(x, device=device),
    "there_and_back_again": lambda x, device: x.to(device).to(x.device).to(device),
}
SIDES = (("pu", "cuda"), ("cuda", "pu"))
CASES = [
    (f"{name}_from_{here}", here, there, convert)
    for (name, convert), (here, there) in itertools.product(WAYS.items(), SIDES)
]


def reached(tensor: torch.Tensor) -> set[int]:
    """The addresses of a tensor's elements."""
    offsets = itertools.product(*(range(size) for size in tensor.shape))
    return {tensor[offset].data_ptr() for offset in offsets}


class ConversionsTest(parameterized.TestCase):
    @parameterized.named_parameters(*CASES)
    def test_written_before_backward(self, here: str, there: str, convert: Convert) -> None:
        leaf = torch.ones(3, device=here, requires_grad=True)
        x = leaf * 1
        y = convert(x, there)
        y.mul_(3)
        x.sum().backward()
        self.assertEqual((x.sum().item(), y.sum().item()), (3, 9))
        self.assertEqual(leaf.grad.tolist(), [1, 1, 1])  # type: ignore[union-attr]

    # torch.asarray gives up gradients.
    @parameterized.named_parameters(case for case in CASES if not case[0].startswith("asarray"))
    def test_gradients_go_through(self, here: str, there: str, convert: Convert) -> None:
        leaf = torch.ones(3, device=here, requires_grad=True)
        y = convert(leaf, there)
        self.assertEqual(y.device, torch.device(there, 0))
        self.assertFalse(y.is_leaf)
        y.mul_(3)  # would be an error for a view of a leaf
        (gradient,) = torch.autograd.grad(y.pow(3).sum(), leaf, create_graph=True)
        self.assertEqual(gradient.device, leaf.device)
        self.assertEqual(gradient.tolist(), [81, 81, 81])
        (second,) = torch.autograd.grad(gradient.sum(), leaf)
        self.assertEqual(second.tolist(), [162, 162, 162])
        self.assertEqual(leaf.tolist(), [1, 1, 1])

    def keeps_gradients(self) -> bool:
        """Whether torch.asarray gives a copy that requires gradients, whatever the device."""
        return torch.asarray(torch.ones(1, requires_grad=True), device="meta").requires_grad

    @parameterized.named_parameters(*CASES)
    def test_a_leaf_stays(self, here: str, there: str, convert: Convert) -> None:
        for guard in (torch.no_grad, torch.inference_mode):
            leaf = torch.ones(3, device=here, requires_grad=True)
            version = leaf._version
            with guard():
                y = convert(leaf, there)
                # torch.asarray asks the array, not the mode, from 2.15 on.
                asked = convert is WAYS["asarray"] and self.keeps_gradients()
                self.assertEqual(y.requires_grad, asked)
                self.assertEqual(y.is_inference(), guard is torch.inference_mode)
                y.mul_(3)
            self.assertEqual((leaf.tolist(), leaf._version), ([1, 1, 1], version))

    @parameterized.named_parameters(*CASES)
    def test_what_was_saved_stays(self, here: str, there: str, convert: Convert) -> None:
        leaf = torch.full((3,), 2.0, device=here, requires_grad=True)
        inner = leaf * 1
        loss = inner.square().sum()
        convert(inner, there).detach().zero_()
        loss.backward()
        self.assertEqual(leaf.grad.tolist(), [4, 4, 4])  # type: ignore[union-attr]

    @parameterized.named_parameters(*CASES)
    def test_views(self, here: str, there: str, convert: Convert) -> None:
        whole = torch.arange(12.0, device=here).reshape(3, 4)
        for view in (whole.t(), whole[1:, ::2], whole[:1].expand(3, 4), whole[0, 0]):
            y = convert(view, there)
            self.assertEqual(y.tolist(), view.tolist())
            self.assertFalse(reached(y) & reached(whole))
            self.assertIsNone(y._base)

    @parameterized.parameters(*SIDES)
    def test_modules(self, here: str, there: str) -> None:
        model = torch.nn.Sequential(torch.nn.Linear(3, 2), torch.nn.BatchNorm1d(2)).to(here)
        before = copy.deepcopy(model.state_dict())
        held = {name: tensor.detach() for name, tensor in model.state_dict().items()}
        model.to(there)
        with torch.no_grad():
            for tensor in (*model.parameters(), *model.buffers()):
                self.assertEqual(tensor.device.type, there)
                tensor.zero_()
        for name, tensor in held.items():
            torch.testing.assert_close(tensor, before[name], rtol=0, atol=0)

    @parameterized.parameters(*SIDES)
    def test_storages(self, here: str, there: str) -> None:
        tensor = torch.ones(3, device=here)
        storage = getattr(tensor.untyped_storage(), there)()
        self.assertEqual(storage.device.type, there)
        self.assertNotEqual(storage.data_ptr(), tensor.data_ptr())

    def test_another_number(self) -> None:
        tensor = torch.ones(4, device="pu:0")
        moved = tensor.to("cuda:1")
        self.assertEqual(moved.device, torch.device("cuda", 1))
        self.assertNotEqual(moved.data_ptr(), tensor.data_ptr())


if __name__ == "__main__":
    absltest.main()
