"""Calls of operators that PyTorch lets take a single number of another device, and of the ones that it does not."""

from __future__ import annotations

from collections.abc import Callable

import torch

RANDOM = frozenset({"normal", "normal of one deviation", "multinomial into"})
"""Of these calls two give different numbers."""


def cases(here: str, there: str) -> dict[str, Callable[[], object]]:
    """The calls by name.

    Args:
        here: the device of most tensors, such as "cuda:0".
        there: that of one of them.
    """
    z, m = torch.zeros(3, 3).to(here), torch.eye(3).bool().to(here)
    i = torch.tensor([0, 2]).to(here)
    v, w = torch.tensor(5.0).to(there), torch.tensor([5.0]).to(there)
    row, far_m, far_i = torch.ones(3).to(there), torch.eye(3).bool().to(there), i.to(there)
    flag, whole = torch.tensor(True).to(there), torch.tensor(2).to(there)
    tracker = torch.tensor([2], dtype=torch.int32).to(there)
    a, b = torch.ones(3).to(here), torch.ones(()).to(here)

    def set_item(at: object, value: torch.Tensor) -> Callable[[], object]:
        def call() -> torch.Tensor:
            target = z.clone()
            target[at] = value  # type: ignore[index]
            return target

        return call

    return {
        "z[i] = v": set_item(i, v),
        "z[i] = w": set_item(i, w),
        "z[i] = row": set_item(i, row),
        "z[m] = v": set_item(m, v),
        "z[m] = w": set_item(m, w),
        "z[0] = v": set_item(0, v),
        "z[0] = row": set_item(0, row),
        "z[:, 1] = row": set_item((slice(None), 1), row),
        "z[far i] = v": set_item(far_i, v),
        "z[far m] = v": set_item(far_m, v),
        "z[far whole] = v": set_item(whole, v),
        "z[i]": lambda: z[i],
        "z[far i]": lambda: z[far_i],
        "z[far m]": lambda: z[far_m],
        "masked_fill_": lambda: z.clone().masked_fill_(m, v),
        "masked_fill": lambda: z.masked_fill(m, v),
        "masked_fill_ by a far mask": lambda: z.clone().masked_fill_(far_m, 1.0),
        "masked_fill_ by one far number": lambda: z.clone().masked_fill_(flag, 1.0),
        "masked_fill_ with a row": lambda: z.clone().masked_fill_(m, w),
        "fill_": lambda: z.clone().fill_(v),
        "fill": lambda: torch.fill(z, v),
        "fill_ with a row": lambda: z.clone().fill_(row),
        "index_fill_": lambda: z.clone().index_fill_(0, i, v),
        "index_fill": lambda: z.index_fill(0, i, v),
        "index_fill_ of far rows": lambda: z.clone().index_fill_(0, far_i, 1.0),
        "index_put_": lambda: z.clone().index_put_((i,), v),
        "index_put_ accumulating": lambda: z.clone().index_put_((i,), v, accumulate=True),
        "index_put": lambda: z.index_put((i,), v),
        "index_put_ of far places": lambda: z.clone().index_put_((far_i,), b),
        "index_put_ accumulating at far places": lambda: z.clone().index_put_(
            (far_i,), b, accumulate=True
        ),
        "index_put_ of one element": lambda: z.clone().index_put_((i,), w),
        "index_put_ of a row": lambda: z.clone().index_put_((i,), row),
        "_unsafe_index_put": lambda: torch.ops.aten._unsafe_index_put(z, [i], v),
        "_index_put_impl_": lambda: torch.ops.aten._index_put_impl_(z.clone(), [i], v),
        "index_copy": lambda: z.index_copy(0, i, row.expand(2, 3)),
        "index_copy of a number": lambda: a.index_copy(0, i[0], v),
        "index_add": lambda: z.index_add(0, i, row.expand(2, 3)),
        "add": lambda: z + v,
        "add_": lambda: z.clone().add_(v),
        "add of numbers": lambda: b + v,
        "mul by a row": lambda: z * row,
        "where": lambda: torch.where(m, z, v),
        "where of numbers": lambda: torch.where(m, v, v),
        "where by a far mask": lambda: torch.where(far_m, z, z),
        "clamp": lambda: z.clamp(min=v),
        "maximum": lambda: torch.maximum(z, v),
        "pow": lambda: z**v,
        "eq": lambda: z == v,
        "lerp": lambda: z.lerp(z, v),
        "addcmul": lambda: z.addcmul(z, v),
        "addcdiv": lambda: z.addcdiv(z, v),
        "copy_": lambda: z.clone().copy_(v),
        "copy_ of a row": lambda: z.clone().copy_(row),
        "cat": lambda: torch.cat([z, z.to(there)]),
        "stack": lambda: torch.stack([b, v]),
        "masked_scatter": lambda: z.masked_scatter(m, row),
        "masked_select": lambda: z.masked_select(far_m),
        "scatter": lambda: z.scatter(0, i[None], row[None]),
        "gather": lambda: z.gather(0, far_i[None]),
        "take": lambda: z.take(far_i),
        "put_": lambda: z.clone().put_(i, row[:2]),
        "select_scatter": lambda: z.select_scatter(row, 0, 0),
        "slice_scatter": lambda: z.slice_scatter(row[None], 0, 0, 1),
        "diagonal_scatter": lambda: z.diagonal_scatter(row),
        "embedding": lambda: torch.nn.functional.embedding(far_i, z),
        "a product": lambda: z @ z.to(there),
        "a product with a vector": lambda: z @ row,
        "a product of vectors": lambda: a @ row,
        "dist": lambda: torch.dist(a, row),
        "equal": lambda: torch.equal(z, z.to(there)),
        "isin": lambda: torch.isin(z, row),
        "searchsorted": lambda: torch.searchsorted(a, row),
        "searchsorted of a number": lambda: torch.searchsorted(a, v),
        "bucketize of a number": lambda: torch.bucketize(v, a),
        "_foreach_add of a number": lambda: torch._foreach_add([z, a], v),
        "_foreach_add of numbers": lambda: torch._foreach_add([z, a], [v, v]),
        "_foreach_mul of a number": lambda: torch._foreach_mul([z, a], v),
        "_foreach_copy_": lambda: torch._foreach_copy_([z.clone()], [z.to(there)]),
        "_foreach_lerp": lambda: torch._foreach_lerp([z], [z.to(there)], 0.5),
        "layer_norm": lambda: torch.nn.functional.layer_norm(z, (3,), row),
        "rms_norm": lambda: torch.nn.functional.rms_norm(z, (3,), row),
        "prelu": lambda: torch.nn.functional.prelu(z, w),
        "mse_loss": lambda: torch.nn.functional.mse_loss(z, v),
        "linear": lambda: torch.nn.functional.linear(z, z.to(there)),
        "bernoulli_": lambda: a.clone().bernoulli_(row),
        "bernoulli_ of the host's": lambda: a.clone().bernoulli_(torch.ones(3)),
        "normal": lambda: torch.normal(a, row),
        "normal of one deviation": lambda: torch.normal(a, w),
        "multinomial into": lambda: torch.multinomial(a, 1, out=far_i.clone()),
        "add into": lambda: torch.add(z, z, out=z.to(there)),
        "add of a far number into": lambda: torch.add(z, v, out=z.clone()),
        "sum into": lambda: torch.sum(z, 0, out=row.clone()),
        "tensor_split": lambda: z.tensor_split(far_i),
        "roll": lambda: z.roll(1, 0),
        "_amp_update_scale_": lambda: torch._amp_update_scale_(
            w.clone(), tracker, a[:1], 2.0, 0.5, 3
        ),
        "_amp_foreach_non_finite_check_and_unscale_": lambda: (
            torch._amp_foreach_non_finite_check_and_unscale_([z.clone()], w.clone(), a[:1])
        ),
    }


def said(call: Callable[[], object]) -> str:
    """What a call is refused with, in one line; "" where it is not.

    Args:
        call: of an operator. Without a GPU PyTorch's own kernels end in an error of their launch, which is no refusal.
    """
    try:
        call()
    except torch.AcceleratorError:  # type: ignore[attr-defined]
        return ""
    except (RuntimeError, IndexError, ValueError) as error:
        return str(error).splitlines()[0]
    return ""
