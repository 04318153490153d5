"""Calls every operator that PyTorch has a CUDA kernel for and none for the CPU.

    TORCH_CUDA_DEVICES=fake python tests/stock/cuda_only_test.py

The list is the dispatcher's of the installed torch. An operator gives the numbers of a reference that is made of
the CPU's operators, or raises NotImplementedError with its name. One that has neither a reference nor a refusal here
fails the test: it came with a new version.
"""

from __future__ import annotations

import itertools
import math
import re
import unittest
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor
from torch._subclasses.fake_tensor import MetadataMismatchError
from torch._subclasses.fake_utils import CrossRefFakeMode
from torch.nn.utils.rnn import PackedSequence, pack_padded_sequence

_ATEN = torch.ops.aten
_LAYOUTS = ("", "Sparse", "SparseCsr", "Quantized", "NestedTensor")
_COMPOSITES = (
    "CompositeImplicitAutograd",
    "CompositeExplicitAutograd",
    "CompositeExplicitAutogradNonFunctional",
)
# PyTorch's own Triton kernels, which serve other operators; a state of random numbers; objects that nobody can make
# where their maker refuses (served_test.py has the latter).
_NOT_CALLED = re.compile(r"_native::|triton::|inductor_prims::|symm_mem::")

Pair = tuple[Any, Any]  # found, wanted
Check = Callable[[], Iterator[Pair]]


def cuda_only() -> list[tuple[str, str]]:
    """Operators with a kernel of CUDA's and none of the CPU's, and the layout that it is for."""
    has = torch._C._dispatch_has_kernel_for_dispatch_key
    return [
        (name, layout)
        for name in sorted(torch._C._dispatch_get_all_op_names())
        for layout in _LAYOUTS
        if has(name, f"{layout}CUDA")
        and not has(name, f"{layout}CPU")
        and not any(has(name, composite) for composite in _COMPOSITES)
        and not _NOT_CALLED.match(name)
    ]


def cuda(value: Any) -> Any:
    """Tensors on the device."""
    if isinstance(value, Tensor):
        return value.cuda()
    if isinstance(value, list | tuple):
        return type(value)(cuda(one) for one in value)
    return value


def grads(results: Sequence[Tensor], given: Sequence[Tensor], seeds: Sequence[Tensor]) -> Any:
    """Derivatives on the CPU."""
    return torch.autograd.grad(list(results), list(given), list(seeds))


def leaf(*shape: int, dtype: torch.dtype = torch.float32) -> Tensor:
    """Random numbers that are derived by."""
    return torch.randn(*shape, dtype=dtype).requires_grad_()


# --- normalization, dropout ------------------------------------------------------------------------------------------


def batch_norm() -> Iterator[Pair]:
    """cuDNN's, and its backward pass."""
    x, w, b = leaf(3, 4, 5, 5), leaf(4), leaf(4)
    mean, var = torch.zeros(4), torch.ones(4)
    near_mean, near_var = mean.cuda(), var.cuda()
    wanted = F.batch_norm(x, mean, var, w, b, True, 0.1, 1e-5)
    given = cuda([x.detach(), w.detach(), b.detach()])
    found = _ATEN.cudnn_batch_norm(*given, near_mean, near_var, True, 0.1, 1e-5)
    yield found[0], wanted
    yield near_mean, mean
    yield near_var, var
    out = [torch.empty(0, device="cuda") for _ in range(3)]
    reserve = torch.empty(0, dtype=torch.uint8, device="cuda")
    _ATEN.cudnn_batch_norm.out(
        *given, None, None, True, 0.1, 1e-5, out0=out[0], out1=out[1], out2=out[2], out3=reserve
    )
    yield out[0], wanted
    seed = torch.randn_like(wanted)
    back = _ATEN.cudnn_batch_norm_backward(
        given[0], seed.cuda(), given[1], None, None, found[1], found[2], 1e-5, found[3]
    )
    yield from zip(back, grads([wanted], [x, w, b], [seed]), strict=True)


def synchronized_batch_norm() -> Iterator[Pair]:
    """Of parts of a batch: statistics, what is gathered, and both passes."""
    x, w, b = leaf(6, 4, 3), leaf(4), leaf(4)
    running_mean, running_var = torch.zeros(4), torch.ones(4)
    wanted = F.batch_norm(x, running_mean, running_var, w, b, True, 0.1, 1e-5)
    near = cuda([x.detach(), w.detach(), b.detach()])
    parts = near[0].split([2, 4])
    stats = [_ATEN.batch_norm_stats(part, 1e-5) for part in parts]
    flat = x.detach().transpose(0, 1)
    yield _ATEN.batch_norm_stats(near[0], 1e-5)[0], flat.reshape(4, -1).mean(1)
    means, invstds = (torch.stack([one[i] for one in stats]) for i in (0, 1))
    counts = torch.tensor([6.0, 12.0], device="cuda")
    near_mean, near_var = torch.zeros(4).cuda(), torch.ones(4).cuda()
    mean, invstd = _ATEN.batch_norm_gather_stats_with_counts(
        near[0], means, invstds, near_mean, near_var, 0.1, 1e-5, counts
    )
    yield near_mean, running_mean
    yield near_var, running_var
    yield _ATEN.batch_norm_elemt(*near, mean, invstd, 1e-5), wanted
    out = torch.empty(0, device="cuda")
    yield _ATEN.batch_norm_elemt.out(*near, mean, invstd, 1e-5, out=out), wanted
    halves = near[0].split(3)
    stats = [_ATEN.batch_norm_stats(half, 1e-5) for half in halves]
    even = _ATEN.batch_norm_gather_stats(
        near[0],
        torch.stack([one[0] for one in stats]),
        torch.stack([one[1] for one in stats]),
        None,
        None,
        0.1,
        1e-5,
        9,
    )
    yield even[0], mean
    yield even[1], invstd
    seed = torch.randn_like(wanted)
    sums = _ATEN.batch_norm_backward_reduce(
        seed.cuda(), near[0], mean, invstd, near[1], True, True, True
    )
    dx, dw, db = grads([wanted], [x, w, b], [seed])
    yield sums[2], dw
    yield sums[3], db
    count = torch.tensor([18], dtype=torch.int32, device="cuda")
    yield (
        _ATEN.batch_norm_backward_elemt(
            seed.cuda(), near[0], mean, invstd, near[1], sums[0], sums[1], count
        ),
        dx,
    )


def rms_norm_backward() -> Iterator[Pair]:
    """Of the definition."""
    x, w = leaf(3, 8), leaf(8)
    rstd = (x.square().mean(-1, keepdim=True) + 1e-5).rsqrt()
    wanted = x * rstd * w
    seed = torch.randn(3, 8)
    found = _ATEN._fused_rms_norm_backward(
        seed.cuda(), x.detach().cuda(), [8], rstd.detach().cuda(), w.detach().cuda(), [True, True]
    )
    yield from zip(found, grads([wanted], [x, w], [seed]), strict=True)


def fused_dropout() -> Iterator[Pair]:
    """What is kept is scaled, and a mask tells what is kept."""
    x = torch.randn(2000)
    found, mask = _ATEN._fused_dropout(x.cuda(), 0.75)
    kept = mask.cpu().float()
    yield found, x * kept / 0.75
    yield (kept.mean() - 0.75).abs() < 0.05, torch.tensor(True)
    yield _ATEN._masked_scale(x.cuda(), mask, 2.0), x * kept * 2


# --- convolutions, grids ---------------------------------------------------------------------------------------------


def convolutions() -> Iterator[Pair]:
    """cuDNN's forms of them."""
    x, w, b = torch.randn(2, 4, 6, 6), torch.randn(6, 2, 3, 3), torch.randn(6)
    near = x.cuda(), w.cuda()
    sizes = [1, 1], [2, 1], [1, 1]  # padding, stride, dilation
    flags = 2, False, False, False
    plain = F.conv2d(x, w, None, [2, 1], 1, 1, 2)
    yield _ATEN.cudnn_convolution(*near, *sizes, *flags), plain
    out = torch.empty(0, device="cuda")
    yield _ATEN.cudnn_convolution(*near, *sizes, *flags, out=out), plain
    with_bias = F.conv2d(x, w, b, [2, 1], 1, 1, 2)
    order = [2, 1], [1, 1], [1, 1], 2  # stride, padding, dilation, groups
    yield _ATEN.cudnn_convolution_relu(*near, b.cuda(), *order), with_bias.relu()
    z = torch.randn_like(plain)
    yield (
        _ATEN.cudnn_convolution_add_relu(*near, z.cuda(), 0.5, b.cuda(), *order),
        (with_bias + 0.5 * z).relu(),
    )
    back = torch.randn(4, 3, 3, 3)
    yield (
        _ATEN.cudnn_convolution_transpose(
            near[0], back.cuda(), [1, 1], [1, 0], [2, 2], [1, 1], 2, False, False, False
        ),
        F.conv_transpose2d(x, back, None, 2, 1, [1, 0], 2),
    )


def depthwise() -> Iterator[Pair]:
    """Of two and three dimensions."""
    x, w, b = torch.randn(2, 3, 6, 6), torch.randn(6, 1, 3, 3), torch.randn(6)
    wanted = F.conv2d(x, w, b, padding=1, groups=3)
    given = x.cuda(), w.cuda(), [3, 3], b.cuda(), [1, 1], [1, 1], [1, 1]
    yield _ATEN._conv_depthwise2d(*given), wanted
    yield _ATEN._conv_depthwise2d.out(*given, out=torch.empty(0, device="cuda")), wanted
    x, w = torch.randn(2, 3, 4, 4, 4), torch.randn(3, 1, 3, 3, 3)
    ones = [1, 1, 1]
    yield (
        _ATEN.conv_depthwise3d(x.cuda(), w.cuda(), [3, 3, 3], None, ones, ones, ones),
        F.conv3d(x, w, padding=1, groups=3),
    )


def grids() -> Iterator[Pair]:
    """Spatial transformers."""
    theta = leaf(2, 2, 3)
    grid = F.affine_grid(theta, [2, 3, 4, 5], align_corners=True)
    yield _ATEN.cudnn_affine_grid_generator(theta.detach().cuda(), 2, 3, 4, 5), grid
    seed = torch.randn_like(grid)
    yield (
        _ATEN.cudnn_affine_grid_generator_backward(seed.cuda(), 2, 3, 4, 5),
        grads([grid], [theta], [seed])[0],
    )
    image, places = leaf(2, 3, 4, 5), (torch.rand(2, 4, 5, 2) * 2 - 1).requires_grad_()
    wanted = F.grid_sample(image, places, align_corners=True)
    near = image.detach().cuda(), places.detach().cuda()
    yield _ATEN.cudnn_grid_sampler(*near), wanted
    seed = torch.randn_like(wanted)
    yield from zip(
        _ATEN.cudnn_grid_sampler_backward(*near, seed.cuda()),
        grads([wanted], [image, places], [seed]),
        strict=True,
    )


# --- recurrent networks ----------------------------------------------------------------------------------------------

_MODES: dict[str, tuple[int, Callable[..., torch.nn.RNNBase]]] = {
    "relu": (0, lambda *of, **named: torch.nn.RNN(*of, nonlinearity="relu", **named)),
    "tanh": (1, lambda *of, **named: torch.nn.RNN(*of, **named)),
    "lstm": (2, torch.nn.LSTM),
    "gru": (3, torch.nn.GRU),
}


def one_network(
    mode: int, network: torch.nn.RNNBase, x: Tensor, batch_sizes: list[int], batch: int
) -> Iterator[Pair]:
    """cuDNN's operators with a network's weights, against the network on the CPU."""
    directions = 2 if network.bidirectional else 1
    rows = network.num_layers * directions
    out_size = network.proj_size or network.hidden_size
    states = [leaf(rows, batch, out_size, dtype=x.dtype)]
    if mode == 2:
        states.append(leaf(rows, batch, network.hidden_size, dtype=x.dtype))
    x.requires_grad_()
    state = tuple(states) if mode == 2 else states[0]
    if batch_sizes:
        output, last = network(PackedSequence(x, torch.tensor(batch_sizes)), state)
        output = output.data
    else:
        output, last = network(x, state)
    wanted = [output, *(last if mode == 2 else [last])]
    weights = cuda([one.detach() for one in flat_weights(network)])
    stride = len(weights) // rows
    near = cuda([x.detach(), *(one.detach() for one in states)])
    near_cells = near[2] if mode == 2 else None
    settings = (
        mode,
        network.hidden_size,
        network.proj_size,
        network.num_layers,
        network.batch_first,
        0.0,
        True,
        network.bidirectional,
        batch_sizes,
        None,
    )
    buffer = _ATEN._cudnn_rnn_flatten_weight(
        weights, stride, network.input_size, *settings[:5], network.bidirectional
    )
    yield buffer.numel(), sum(one.numel() for one in weights)
    found = _ATEN._cudnn_rnn(near[0], weights, stride, buffer, near[1], near_cells, *settings)
    yield from zip(found, wanted, strict=False)
    seeds = [torch.randn_like(one) for one in wanted]
    back = _ATEN._cudnn_rnn_backward(
        near[0],
        weights,
        stride,
        found[4],
        near[1],
        near_cells,
        found[0],
        *cuda(seeds),
        *([] if mode == 2 else [None]),
        *settings,
        found[3],
        [True] * 4,
    )
    derived = grads(wanted, [x, *states, *flat_weights(network)], seeds)
    yield from zip([*back[: len(near)], *back[3]], derived, strict=True)
    # As a program that asks autograd for them.
    leaves = [one.requires_grad_() for one in (*near, *weights)]
    again = _ATEN._cudnn_rnn(near[0], weights, stride, None, near[1], near_cells, *settings)
    yield from zip(
        torch.autograd.grad(again[: len(wanted)], leaves, cuda(seeds)), derived, strict=True
    )


def networks() -> Iterator[Pair]:
    """Of all kinds, forms and types."""
    for name, bias, bidirectional, batch_first, dtype in itertools.product(
        _MODES, (True, False), (True, False), (True, False), (torch.float32, torch.float64)
    ):
        mode, make = _MODES[name]
        for projected in (0, 3) if mode == 2 else (0,):
            extra = {"proj_size": projected} if projected else {}
            network = make(
                5, 4, 2, bias=bias, bidirectional=bidirectional, batch_first=batch_first, **extra
            ).to(dtype)
            yield from one_network(mode, network, torch.randn(3, 3, 5, dtype=dtype), [], 3)
            packed = pack_padded_sequence(torch.randn(6, 3, 5, dtype=dtype), [6, 4, 1])
            yield from one_network(mode, network, packed.data, packed.batch_sizes.tolist(), 3)


def flat_weights(network: torch.nn.RNNBase) -> list[Tensor]:
    """The weights of all layers, as cuDNN's operators take them."""
    return [one for one in network._flat_weights if one is not None]


def dropout_between_layers() -> Iterator[Pair]:
    """The backward pass drops what the forward pass dropped: it is that of the numbers that came out."""
    network = torch.nn.GRU(3, 8, 2)
    weights = [one.detach().cuda().requires_grad_() for one in flat_weights(network)]
    x, h = torch.randn(4, 16, 3).cuda().requires_grad_(), torch.zeros(2, 16, 8).cuda()
    settings: tuple[Any, ...] = (3, 8, 0, 2, False, 0.5, True, False, [])
    state = _ATEN._cudnn_init_dropout_state(
        0.5, True, 1, dtype=torch.uint8, layout=torch.strided, device="cuda", pin_memory=False
    )
    yield state.device.type, "cuda"
    output, _, _, reserve, _ = _ATEN._cudnn_rnn(x, weights, 4, None, h, None, *settings, state)
    yield reserve.numel(), 4 * 16 * 8
    yield (reserve.float().mean().cpu() - 0.5).abs() < 0.1, torch.tensor(True)
    found = torch.autograd.grad(output.sum(), [x, *weights])
    far = [one.detach().cpu().requires_grad_() for one in (x, *weights)]
    first = _ATEN.gru.input(
        far[0], torch.zeros(1, 16, 8), far[1:5], True, 1, 0.0, True, False, False
    )
    between = first[0] * reserve.cpu().view(4, 16, 8).float() * 2
    wanted = _ATEN.gru.input(
        between, torch.zeros(1, 16, 8), far[5:], True, 1, 0.0, True, False, False
    )[0]
    yield output, wanted
    yield from zip(found, torch.autograd.grad(wanted.sum(), far), strict=True)


def lstm_cell() -> Iterator[Pair]:
    """Its two passes."""
    i, h, c, ib, hb = leaf(3, 16), leaf(3, 16), leaf(3, 4), leaf(16), leaf(16)
    gates = (i + h + ib + hb).chunk(4, 1)
    cy = gates[1].sigmoid() * c + gates[0].sigmoid() * gates[2].tanh()
    hy = gates[3].sigmoid() * cy.tanh()
    near = cuda([one.detach() for one in (i, h, c, ib, hb)])
    found = _ATEN._thnn_fused_lstm_cell(*near)
    yield found[0], hy
    yield found[1], cy
    seeds = torch.randn_like(hy), torch.randn_like(cy)
    back = _ATEN._thnn_fused_lstm_cell_backward_impl(
        *cuda(seeds), near[2], found[1], found[2], True
    )
    di, dc, db = grads([hy, cy], [i, c, ib], seeds)
    yield from zip(back, (di, dc, db), strict=True)


def gru_cell() -> Iterator[Pair]:
    """Its two passes."""
    i, h, x, ib, hb = leaf(3, 12), leaf(3, 12), leaf(3, 4), leaf(12), leaf(12)
    (ir, iz, inew), (hr, hz, hn) = (i + ib).chunk(3, 1), (h + hb).chunk(3, 1)
    update = (iz + hz).sigmoid()
    fresh = (inew + (ir + hr).sigmoid() * hn).tanh()
    hy = fresh + update * (x - fresh)
    near = cuda([one.detach() for one in (i, h, x, ib, hb)])
    found = _ATEN._thnn_fused_gru_cell(*near)
    yield found[0], hy
    seed = torch.randn_like(hy)
    back = _ATEN._thnn_fused_gru_cell_backward(seed.cuda(), found[1], True)
    yield from zip(back, grads([hy], [i, h, x, ib, hb], [seed]), strict=True)


# --- connectionist temporal classification ---------------------------------------------------------------------------


def ctc() -> Iterator[Pair]:
    """cuDNN's loss and its derivative, which come together."""
    log_probs = torch.randn(7, 2, 5).log_softmax(-1).requires_grad_()
    lengths, of_targets = [7, 6], [3, 2]
    targets = torch.tensor([1, 2, 2, 4, 3], dtype=torch.int32)
    wanted = F.ctc_loss(
        log_probs,
        targets,
        torch.tensor(lengths),
        torch.tensor(of_targets),
        reduction="none",
    )
    near = log_probs.detach().cuda()
    gradient = grads([wanted.sum()], [log_probs], [torch.ones(())])[0]
    found = _ATEN._cudnn_ctc_loss(near, targets, lengths, of_targets, 0, False, False)
    yield from zip(found, (wanted, gradient), strict=True)
    tensors = torch.tensor(lengths).cuda(), torch.tensor(of_targets).cuda()
    found = _ATEN._cudnn_ctc_loss.Tensor(near, targets.cuda(), *tensors, 0, False, False)
    yield from zip(found, (wanted, gradient), strict=True)
    # Too short for its targets.
    found = _ATEN._cudnn_ctc_loss(near, targets, [7, 1], of_targets, 0, False, True)
    yield found[0][1], torch.tensor(0.0)
    yield found[1][:, 1], torch.zeros(7, 5)
    for name in ("_use_cudnn_ctc_loss", "_use_miopen_ctc_loss"):
        choice = getattr(_ATEN, name, None)
        if choice is None:
            continue  # torch 2.9 has one of them
        yield choice(near, targets, lengths, of_targets, 0), False
        yield choice.Tensor(near, targets.cuda(), *tensors, 0), False


# --- attention -------------------------------------------------------------------------------------------------------


def attend(q: Tensor, k: Tensor, v: Tensor, bias: Tensor | None = None) -> tuple[Tensor, Tensor]:
    """The definition, of [batch, heads, length, size], and the logarithms of sums."""
    scores = q @ k.mT / math.sqrt(q.shape[-1])
    if bias is not None:
        scores = scores + bias
    return scores.softmax(-1) @ v, scores.logsumexp(-1)


def attention() -> Iterator[Pair]:
    """By the names of kernels, and their backward passes."""
    given = [leaf(2, 4, 6, 8) for _ in range(3)]
    wanted, sums = attend(*given)
    near = cuda([one.detach() for one in given])
    seed = torch.randn_like(wanted)
    derived = grads([wanted], given, [seed])
    flash = _ATEN._scaled_dot_product_flash_attention(*near)
    yield flash[0], wanted
    yield flash[1], sums
    back = _ATEN._scaled_dot_product_flash_attention_backward(
        seed.cuda(), *near, flash[0], flash[1], flash[2], flash[3], 6, 6, 0.0, False, *flash[6:8]
    )
    yield from zip(back, derived, strict=True)
    cudnn = _ATEN._scaled_dot_product_cudnn_attention(*near, None, True)
    yield cudnn[0], wanted
    back = _ATEN._scaled_dot_product_cudnn_attention_backward(
        seed.cuda(),
        *near,
        cudnn[0],
        cudnn[1],
        *cudnn[6:8],
        torch.zeros(2, 4, 6, 6, device="cuda"),  # nothing cannot be said in Python
        *(torch.empty(0, device="cuda") for _ in range(2)),
        6,
        6,
        0.0,
        False,
    )
    yield from zip(back, derived, strict=True)
    bias = leaf(2, 4, 6, 6)
    biased = attend(given[0], given[1], given[2], bias)[0]
    efficient = _ATEN._scaled_dot_product_efficient_attention(*near, bias.detach().cuda(), True)
    yield efficient[0], biased
    back = _ATEN._scaled_dot_product_efficient_attention_backward(
        seed.cuda(),
        *near,
        bias.detach().cuda(),
        *efficient[:2],
        *efficient[2:],
        0.0,
        [True] * 4,
    )
    yield from zip(back, grads([biased], [*given, bias], [seed]), strict=True)


def attention_of_lengths_first() -> Iterator[Pair]:
    """The kernels' own operators, of [batch, length, heads, size]."""
    given = [leaf(2, 6, 4, 8) for _ in range(3)]
    wanted = attend(*(one.transpose(1, 2) for one in given))[0].transpose(1, 2)
    near = cuda([one.detach() for one in given])
    seed = torch.randn_like(wanted)
    derived = grads([wanted], given, [seed])
    flash = _ATEN._flash_attention_forward(*near, None, None, 6, 6, 0.0, False, False)
    yield flash[0], wanted
    none = torch.empty(0, device="cuda")
    back = _ATEN._efficient_attention_forward(*near, None, None, None, 6, 6, 0.0, 0, True)
    yield back[0], wanted
    derivatives = _ATEN._efficient_attention_backward(
        seed.cuda(),
        *near,
        None,
        back[0],
        None,
        None,
        6,
        6,
        back[1],
        0.0,
        back[2],
        back[3],
        0,
        False,
    )
    yield from zip(derivatives[:3], derived, strict=True)
    ends = torch.tensor([0, 6], dtype=torch.int32).cuda()
    one = [single.detach()[0].cuda() for single in given]
    sequences = _ATEN._flash_attention_forward(*one, ends, ends, 6, 6, 0.0, False, False)
    yield sequences[0], wanted[0]
    flat = _ATEN._flash_attention_backward(
        seed[0].cuda(),
        *one,
        sequences[0],
        sequences[1],
        ends,
        ends,
        6,
        6,
        0.0,
        False,
        none,
        none,
    )
    yield from zip(flat, (part[0] for part in derived), strict=True)


# --- products --------------------------------------------------------------------------------------------------------


def products() -> Iterator[Pair]:
    """Of half precision, with results in single precision."""
    left, right = torch.randn(2, 4, 8).bfloat16(), torch.randn(2, 8, 6).bfloat16()
    added = torch.randn(2, 4, 6)
    near, far, sums = left.cuda(), right.cuda(), added.cuda()
    wanted = left.float() @ right.float()
    single = torch.float32

    def out() -> Tensor:
        return torch.empty(0, device="cuda")

    yield _ATEN.mm.dtype(near[0], far[0], single), wanted[0]
    yield _ATEN.mm.dtype_out(near[0], far[0], single, out=out()), wanted[0]
    yield _ATEN.bmm.dtype(near, far, single), wanted
    yield _ATEN.bmm.dtype_out(near, far, single, out=out()), wanted
    scaled = {"beta": 2, "alpha": 3}
    yield _ATEN.addmm.dtype(sums[0], near[0], far[0], single, **scaled), (2 * added + 3 * wanted)[0]
    yield (
        _ATEN.addmm.dtype_out(sums[0], near[0], far[0], single, out=out()),
        (added + wanted)[0],
    )
    yield _ATEN.baddbmm.dtype(sums, near, far, single, **scaled), 2 * added + 3 * wanted
    yield _ATEN.baddbmm.dtype_out(sums, near, far, single, out=out()), added + wanted


def int4() -> Iterator[Pair]:
    """Groups of 32 weights of 4 bits with a scale and a zero; the layout is a GPU's."""
    n, k, group = 16, 128, 32
    numbers = torch.randint(0, 16, (n, k), dtype=torch.int32)
    packed_pairs = (numbers[:, ::2] << 4 | numbers[:, 1::2]).to(torch.uint8)
    factors = torch.randn(k // group, n, 2).bfloat16()
    x = torch.randn(3, k).bfloat16()
    scale, zero = (factors[..., i].float().t().repeat_interleave(group, 1) for i in (0, 1))
    weight = (numbers - 8) * scale + zero
    for tiles in (2, 4, 8):
        packed = _ATEN._convert_weight_to_int4pack(packed_pairs.cuda(), tiles)
        yield list(packed.shape), [n // 8, k // (tiles * 16), 32, tiles // 2]
        yield packed.dtype, torch.int32
        # The first number of the first thread: columns 0, 8, 16, 24, 1, 9, 17, 25.
        first = [int(numbers[0, i]) for i in (0, 8, 16, 24, 1, 9, 17, 25)]
        bits = int(packed[0, 0, 0, 0]) & 0xFFFFFFFF
        yield [bits >> shift & 15 for shift in range(0, 32, 4)], first
        found = _ATEN._weight_int4pack_mm(x.cuda(), packed, group, factors.cuda())
        yield found.float(), (x.float() @ weight.t()).bfloat16().float()


def mixed_types() -> Iterator[Pair]:
    """Weights in the order of torch.quantization._quantized_conversions."""
    from torch.quantization._quantized_conversions import (
        pack_int4_to_int8,
        quantized_weight_reorder_for_mixed_dtypes_linear_cutlass,
    )

    for bits, activation, dtype in itertools.product(
        (4, 8), (None, "relu", "silu"), (torch.float16, torch.bfloat16)
    ):
        n, k = 64, 128
        most = 7 if bits == 4 else 127
        numbers = torch.randint(-most - 1, most + 1, (n, k), dtype=torch.int8)
        x, scale, bias = torch.randn(2, 3, k).to(dtype), torch.randn(n).to(dtype), torch.randn(n)
        given = pack_int4_to_int8(numbers.T) if bits == 4 else numbers.T
        weight = quantized_weight_reorder_for_mixed_dtypes_linear_cutlass(
            given.contiguous().cuda(), torch.quint4x2 if bits == 4 else torch.int8
        )
        wanted = x.float() @ (numbers.float() * scale.float()[:, None]).t() + bias.to(dtype).float()
        if activation:
            wanted = getattr(F, activation)(wanted)
        found = _ATEN._mixed_dtypes_linear(
            x.cuda(), weight, scale.cuda(), bias=bias.to(dtype).cuda(), activation=activation
        )
        yield found.float(), wanted.to(dtype).float()


def pruned(rows: int, k: int, dtype: torch.dtype) -> Tensor:
    """Two of four numbers in a row are zero; of float32 one of two."""
    size = 2 if dtype == torch.float32 else 4
    kept = torch.rand(rows, k // size, size).argsort(-1) < size // 2
    numbers = torch.randint(-9, 10, (rows, k)).to(dtype)
    return numbers * kept.view(rows, k).to(dtype)


def cutlass() -> Iterator[Pair]:
    """CUTLASS's semi-structured matrices, packed by the operator and by PyTorch's own Python."""
    from torch.sparse._semi_structured_conversions import (
        sparse_semi_structured_from_dense_cutlass,
        sparse_semi_structured_to_dense_cutlass,
    )

    for dtype in (torch.float16, torch.bfloat16, torch.float32, torch.int8):
        dense = pruned(64, 128, dtype)
        packed, meta = _ATEN._to_sparse_semi_structured(dense.cuda())
        far = sparse_semi_structured_from_dense_cutlass(dense)
        yield packed, far[0]
        yield meta, far[1]
        yield sparse_semi_structured_to_dense_cutlass(packed, meta), dense
        other = torch.randint(-9, 10, (128, 8)).to(dtype)
        exact = torch.int32 if dtype == torch.int8 else torch.float32
        wanted = dense.to(exact) @ other.to(exact)
        named = {"out_dtype": torch.int32} if dtype == torch.int8 else {}
        to = exact if dtype == torch.int8 else dtype
        yield (
            _ATEN._sparse_semi_structured_mm(packed, meta, other.cuda(), **named),
            wanted.to(to),
        )
        added = torch.randint(-9, 10, (64,)).to(dtype)
        yield (
            _ATEN._sparse_semi_structured_addmm(
                added.cuda(), packed, meta, other.cuda(), alpha=2, beta=3, **named
            ),
            (2 * wanted + 3 * added.to(exact)[:, None]).to(to),
        )
        if dtype != torch.float32:
            yield (
                _ATEN._sparse_semi_structured_linear(
                    other.t().contiguous().cuda(),
                    packed,
                    meta,
                    bias=added.cuda(),
                    activation="relu",
                    **named,
                ),
                (wanted.t() + added.to(exact)).relu().to(to),
            )


def cusparselt() -> Iterator[Pair]:
    """cuSPARSELt's, by its operators and by torch.sparse.to_sparse_semi_structured."""
    for dtype in (torch.float16, torch.bfloat16, torch.int8):
        dense = pruned(64, 64, dtype)
        other = torch.randint(-3, 4, (64, 16)).to(dtype)
        exact = torch.int32 if dtype == torch.int8 else torch.float32
        wanted = dense.to(exact) @ other.to(exact)
        compressed = _ATEN._cslt_compress(dense.cuda())
        yield compressed.numel(), 64 * 64 * (10 if dtype == torch.int8 else 9) // 16
        named = {"out_dtype": torch.int32} if dtype == torch.int8 else {}
        to = torch.int32 if dtype == torch.int8 else dtype
        yield _ATEN._cslt_sparse_mm(compressed, other.cuda(), **named), wanted.to(to)
        yield (
            _ATEN._cslt_sparse_mm(compressed, other.cuda(), transpose_result=True, **named),
            wanted.t().to(to),
        )
        bias = torch.randint(-9, 10, (64,)).to(dtype)
        alpha = torch.tensor([2.0])
        yield (
            _ATEN._cslt_sparse_mm(
                compressed, other.cuda(), bias=bias.cuda(), alpha=alpha.cuda(), **named
            ),
            (2 * wanted + bias.to(exact)[:, None]).to(to),
        )
        yield _ATEN._cslt_sparse_mm_search(compressed, other.cuda()), 0
        if dtype == torch.int8:
            continue
        for kind in (
            torch.sparse.SparseSemiStructuredTensorCUTLASS,
            torch.sparse.SparseSemiStructuredTensorCUSPARSELT,
        ):
            tensor = kind.from_dense(dense.cuda())
            yield tensor.to_dense(), dense
            yield tensor @ other.cuda(), wanted.to(dtype)
            yield (
                F.linear(other.t().contiguous().cuda(), tensor, bias.cuda()),
                (wanted.t() + bias.float()).to(dtype),
            )
    try:
        _ATEN._cslt_compress(torch.ones(16, 16).half().cuda())
    except RuntimeError as error:
        yield "two must be zero" in str(error), True
    else:
        yield "no error", "an error for a matrix that is not pruned"


def scaled_groups() -> Iterator[Pair]:
    """Groups of rows, of columns, of what is summed up, and batches."""
    eight = torch.float8_e4m3fn
    ends = torch.tensor([16, 16, 48], dtype=torch.int32)

    def check(
        left: Tensor, right: Tensor, sa: Tensor, sb: Tensor, wanted: Tensor
    ) -> Iterator[Pair]:
        offs = None if left.dim() == right.dim() == 3 else ends.cuda()
        given = left.cuda(), right.mT.contiguous().mT.cuda()
        found = _ATEN._scaled_grouped_mm(*given, sa.cuda(), sb.cuda(), offs)
        yield found.dtype, torch.bfloat16
        yield found.float(), wanted.bfloat16().float()
        if hasattr(_ATEN, "_scaled_grouped_mm_v2"):
            by_rows = [cuda([sa]), [1], [0], cuda([sb]), [1], [0], offs]
            found = _ATEN._scaled_grouped_mm_v2(*given, *by_rows)
            yield found.float(), wanted.bfloat16().float()

    def numbers(*shape: int) -> Tensor:
        return torch.randn(*shape).to(eight)

    parts = list(itertools.pairwise([0, *ends.tolist()]))
    left, right, sa, sb = numbers(48, 32), numbers(3, 32, 16), torch.rand(48), torch.rand(3, 16)
    wanted = torch.cat(
        [
            (left[i:j].float() @ right[g].float()) * sa[i:j, None] * sb[g]
            for g, (i, j) in enumerate(parts)
        ]
    )
    yield from check(left, right, sa, sb, wanted)
    left, right, sa, sb = numbers(3, 16, 32), numbers(32, 48), torch.rand(3, 16), torch.rand(48)
    wanted = torch.cat(
        [
            (left[g].float() @ right[:, i:j].float()) * sa[g, :, None] * sb[i:j]
            for g, (i, j) in enumerate(parts)
        ],
        1,
    )
    yield from check(left, right, sa, sb, wanted)
    left, right, sa, sb = numbers(16, 48), numbers(48, 16), torch.rand(48), torch.rand(48)
    wanted = torch.stack(
        [
            (left[:, i:j].float() @ right[i:j].float())
            * sa[16 * g : 16 * g + 16, None]
            * sb[16 * g : 16 * g + 16]
            for g, (i, j) in enumerate(parts)
        ]
    )
    yield from check(left, right, sa, sb, wanted)
    left, right, sa, sb = (
        numbers(3, 16, 32),
        numbers(3, 32, 16),
        torch.rand(3, 16),
        torch.rand(3, 16),
    )
    wanted = (left.float() @ right.float()) * sa[..., None] * sb[:, None]
    yield from check(left, right, sa, sb, wanted)


def scaled_sums() -> Iterator[Pair]:
    """A scaled product that something is added to, in its three forms."""
    left, right = torch.randn(16, 32).to(torch.float8_e4m3fn), torch.randn(32, 16)
    right = right.t().contiguous().t().to(torch.float8_e4m3fn)
    sa, sb, added = torch.rand(16, 1), torch.rand(1, 16), torch.randn(16, 16)
    wanted = 0.5 * added + 2 * ((left.float() * sa) @ (right.float() * sb))
    given = [left.cuda(), right.cuda(), cuda([sa]), [1], [0], cuda([sb]), [1], [0]]
    named = {"beta": 0.5, "alpha": 2}
    yield _ATEN._scaled_addmm(added.cuda(), *given, **named), wanted
    out = torch.empty(16, 16, device="cuda")
    yield _ATEN._scaled_addmm.out(added.cuda(), *given, **named, out=out), wanted
    yield _ATEN._scaled_addmm_(added.cuda(), *given, **named), wanted


def record_stream() -> Iterator[Pair]:
    """Memory that another stream uses."""
    x = torch.ones(3, device="cuda")
    x.record_stream(torch.cuda.Stream())
    yield x, torch.ones(3)


# What checks which operators, by their names without overloads.
_CHECKS: dict[Check, Sequence[str]] = {
    batch_norm: ["cudnn_batch_norm", "cudnn_batch_norm_backward"],
    synchronized_batch_norm: [
        "batch_norm_stats",
        "batch_norm_elemt",
        "batch_norm_gather_stats",
        "batch_norm_gather_stats_with_counts",
        "batch_norm_backward_reduce",
        "batch_norm_backward_elemt",
    ],
    rms_norm_backward: ["_fused_rms_norm_backward"],
    fused_dropout: ["_fused_dropout", "_masked_scale"],
    convolutions: [
        "cudnn_convolution",
        "cudnn_convolution_relu",
        "cudnn_convolution_add_relu",
        "cudnn_convolution_transpose",
    ],
    depthwise: ["_conv_depthwise2d", "conv_depthwise3d"],
    grids: [
        "cudnn_affine_grid_generator",
        "cudnn_affine_grid_generator_backward",
        "cudnn_grid_sampler",
        "cudnn_grid_sampler_backward",
    ],
    networks: ["_cudnn_rnn", "_cudnn_rnn_backward", "_cudnn_rnn_flatten_weight"],
    dropout_between_layers: ["_cudnn_init_dropout_state"],
    lstm_cell: ["_thnn_fused_lstm_cell", "_thnn_fused_lstm_cell_backward_impl"],
    gru_cell: ["_thnn_fused_gru_cell", "_thnn_fused_gru_cell_backward"],
    ctc: ["_cudnn_ctc_loss", "_use_cudnn_ctc_loss", "_use_miopen_ctc_loss"],
    attention: [
        "_scaled_dot_product_flash_attention",
        "_scaled_dot_product_flash_attention_backward",
        "_scaled_dot_product_cudnn_attention",
        "_scaled_dot_product_cudnn_attention_backward",
        "_scaled_dot_product_efficient_attention",
        "_scaled_dot_product_efficient_attention_backward",
    ],
    attention_of_lengths_first: [
        "_flash_attention_forward",
        "_flash_attention_backward",
        "_efficient_attention_forward",
        "_efficient_attention_backward",
    ],
    products: ["mm", "bmm", "addmm", "baddbmm"],
    int4: ["_convert_weight_to_int4pack", "_weight_int4pack_mm"],
    mixed_types: ["_mixed_dtypes_linear"],
    cutlass: [
        "_to_sparse_semi_structured",
        "_sparse_semi_structured_mm",
        "_sparse_semi_structured_addmm",
        "_sparse_semi_structured_linear",
    ],
    cusparselt: ["_cslt_compress", "_cslt_sparse_mm", "_cslt_sparse_mm_search"],
    scaled_groups: ["_scaled_grouped_mm", "_scaled_grouped_mm_v2"],
    scaled_sums: ["_scaled_addmm"],
    record_stream: ["record_stream"],
}

# What nobody serves: operator and layout. It raises, and says what to use (served_test.py calls all of them).
_REFUSED = re.compile(
    r"aten::miopen_\w+(\.\w+)? CUDA"
    r"|aten::_sparse_semi_structured_(tile|apply|apply_dense) CUDA"
    r"|aten::_spsolve SparseCsrCUDA"
    r"|aten::(bmm|baddbmm)\.out SparseCsrCUDA"
    r"|aten::_triton_(scaled_dot|multi_head)_attention CUDA"
    r"|aten::_fill_mem_eff_dropout_mask_ CUDA"
    r"|aten::_scaled_dot_product_(flash|efficient|cudnn)_attention(_backward)? NestedTensorCUDA"
    r"|aten::\w*_attention\w*\.quantized CUDA"
    r"|aten::_cudnn_attention_(forward|backward) CUDA"
    r"|aten::_(cudnn|flash)_attention_forward_no_dropout_inplace CUDA"
    r"|aten::_philox_\w+ CUDA"  # of torch 2.12; the CPU of later ones has them
    r"|c10d::check_for_nan CUDA"
)


class CudaOnlyTest(unittest.TestCase):
    """All operators of CUDA alone."""

    def setUp(self) -> None:
        torch.manual_seed(1)
        torch.zeros(1, device="cuda")  # has the operators routed

    def compare(self, found: Any, wanted: Any) -> None:
        """Numbers, or what else is returned."""
        if not isinstance(wanted, Tensor):
            self.assertEqual(found, wanted)
            return
        self.assertIsInstance(found, Tensor)
        torch.testing.assert_close(
            found.detach().cpu(), wanted.detach().cpu(), rtol=2e-4, atol=2e-4, equal_nan=True
        )

    def test_each_has_a_reference_or_a_refusal(self) -> None:
        checked = {f"aten::{name}" for names in _CHECKS.values() for name in names}
        unknown = [
            f"{name} {layout}CUDA"
            for name, layout in cuda_only()
            if not _REFUSED.fullmatch(f"{name} {layout}CUDA")
            and (layout != "" or name.partition(".")[0] not in checked)
        ]
        self.assertEqual(unknown, [], "give them a check, or a refusal with what to use")

    def test_what_is_refused_has_no_kernel(self) -> None:
        for name, layout in cuda_only():
            if _REFUSED.fullmatch(f"{name} {layout}CUDA"):
                with self.subTest(name=name, layout=layout):
                    self.assertRegex(
                        torch._C._dispatch_dump(name),
                        rf"(?m)^{layout}CUDA: accelerator/operators \(refused\)",
                    )

    def test_numbers(self) -> None:
        there = {name.partition(".")[0] for name in torch._C._dispatch_get_all_op_names()}
        for check, names in _CHECKS.items():
            if not any(f"aten::{name}" in there for name in names):
                continue  # of a later version
            with self.subTest(check=check.__name__):
                for i, (found, wanted) in enumerate(check()):
                    with self.subTest(check=check.__name__, i=i):
                        self.compare(found, wanted)
                torch.cuda.synchronize()

    def test_compilers_are_told_the_same_sizes_and_types(self) -> None:
        # torch.compile computes with what PyTorch's own functions on meta tensors say of a result.
        there = {name.partition(".")[0] for name in torch._C._dispatch_get_all_op_names()}
        compared = 0
        # What PyTorch's functions before 2.15 and 2.12 say otherwise than its kernels.
        minor = int(torch.__version__.split(".")[1])
        other = {"_fused_dropout"} if minor < 15 else set()
        other |= {"_scaled_grouped_mm"} if minor < 12 else set()
        for check, names in _CHECKS.items():
            own = {f"aten::{name.partition('.')[0]}" for name in names if name not in other} & there

            def is_other(op: Any, own: set[str] = own) -> bool:
                name, _, overload = op.name().partition(".")
                return name not in own or "out" in overload  # a result of the caller's is resized

            with self.subTest(check=check.__name__):
                try:
                    with CrossRefFakeMode(ignore_op_fn=is_other, check_aliasing=False):
                        for _ in check() if own else ():
                            pass
                    compared += bool(own)
                except MetadataMismatchError:
                    raise
                except Exception as error:  # noqa: BLE001 -- not every operator has such a function
                    print(f"not compared: {check.__name__}: {str(error).splitlines()[0][:100]}")
        self.assertGreater(compared, 8)


if __name__ == "__main__":
    unittest.main()
