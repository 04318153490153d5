"""torch.func on pu, and through conversions between pu and cuda: what the CPU gives."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
import torch_pu  # noqa: F401 - gives torch the device
from absl.testing import absltest, parameterized
from torch.nn import functional
from torch.nn.attention import SDPBackend, sdpa_kernel

Function = Callable[[torch.Tensor], torch.Tensor]


def across(x: torch.Tensor, device: str) -> torch.Tensor:
    """Nothing on the CPU; elsewhere, the tensor under the other name."""
    return x if x.device.type == "cpu" else x.to(device)


def cubes(there: str) -> Function:
    return lambda x: across(across(x, there) ** 3, x.device.type)


def in_place(there: str) -> Function:
    def run(x: torch.Tensor) -> torch.Tensor:
        y = across(x * 2, there)
        y = y * y
        y.mul_(3)
        return across(y, x.device.type)

    return run


def attention(_: str) -> Function:
    return lambda x: functional.scaled_dot_product_attention(
        x.reshape(1, 1, 2, 3), x.reshape(1, 1, 2, 3), x.reshape(1, 1, 2, 3) ** 2
    ).reshape(-1)


def evaluated_dropout(_: str) -> Function:
    return lambda x: functional.dropout(x, training=False) ** 2


def normalized(_: str) -> Function:
    def run(x: torch.Tensor) -> torch.Tensor:
        y = functional.layer_norm(x.reshape(2, 3), (3,)) + torch.softmax(x.reshape(2, 3), -1)
        return (y.expand_as(y) * x.reshape(2, 3).var(1, keepdim=True).tile(1, 3)).reshape(-1)

    return run


def convolved(_: str) -> Function:
    return lambda x: functional.conv1d(x.reshape(1, 2, 3), x.reshape(1, 2, 3)[:, :, :2]).reshape(-1)


def pooled(_: str) -> Function:
    return lambda x: functional.max_pool2d(x.reshape(1, 1, 2, 3) ** 3, 2, 1).reshape(-1)


FUNCTIONS = (cubes, in_place, attention, evaluated_dropout, normalized, convolved, pooled)

TRANSFORMS: dict[str, Callable[[Function, torch.Tensor], Any]] = {
    "grad": lambda f, x: torch.func.grad(lambda v: f(v).sum())(x),
    "grad_of_grad": lambda f, x: torch.func.grad(
        lambda v: torch.func.grad(lambda w: f(w).sum())(v).pow(2).sum()
    )(x),
    "vjp": lambda f, x: torch.func.vjp(f, x)[1](torch.ones_like(f(x)))[0],
    "jvp": lambda f, x: torch.func.jvp(f, (x,), (torch.ones_like(x),)),
    "jacrev": lambda f, x: torch.func.jacrev(f)(x),
    "jacfwd": lambda f, x: torch.func.jacfwd(f)(x),
    "hessian": lambda f, x: torch.func.hessian(lambda v: f(v).sum())(x),
    "vmap": lambda f, x: torch.vmap(f)(torch.stack([x, 2 * x, -x])),
    "vmap_of_grad": lambda f, x: torch.vmap(torch.func.grad(lambda v: f(v).sum()))(
        torch.stack([x, 2 * x])
    ),
    "functionalize": lambda f, x: torch.func.functionalize(f)(x),
    "double_backward": lambda f, x: torch.autograd.functional.hessian(lambda v: f(v).sum(), x),
    "forward_mode": lambda f, x: torch.autograd.functional.jacobian(
        f, x, strategy="forward-mode", vectorize=True
    ),
}

CASES = [
    (f"{transform}_of_{function.__name__}_on_{here}", transform, function, here, there)
    for transform in TRANSFORMS
    for function in FUNCTIONS
    for here, there in (("pu", "cuda"), ("cuda", "pu"))
    # Without a conversion, on cuda it is not pu's matter.
    if (here == "pu" or function in (cubes, in_place))
    # PyTorch has no batching rule of what it takes, on no device.
    and (transform, function) != ("forward_mode", pooled)
]


class FunctionsTest(parameterized.TestCase):
    @parameterized.named_parameters(*CASES)
    def test_transform(
        self, transform: str, function: Callable[[str], Function], here: str, there: str
    ) -> None:
        x = torch.linspace(-1, 2, 6)
        run = TRANSFORMS[transform]
        # The CPU's flash attention has no second derivatives.
        with sdpa_kernel(SDPBackend.MATH):
            wanted = run(function(there), x)
        found = run(function(there), x.to(here))
        torch.testing.assert_close(found, wanted, check_device=False)
        for tensor in found if isinstance(found, tuple) else (found,):
            self.assertEqual(tensor.device.type, here)

    def test_composites_of_wrappers_are_no_question(self) -> None:
        refused = [
            name
            for name in torch._C._dispatch_get_all_op_names()
            if "ambiguous" in torch._C._dispatch_dump_table(name)
        ]
        self.assertEmpty(refused)


if __name__ == "__main__":
    absltest.main()
