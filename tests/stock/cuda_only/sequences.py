"""Recurrent networks and connectionist temporal classification."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor
from torch.nn.utils.rnn import PackedSequence, pack_padded_sequence

from .pairs import ATEN, Check, Pair, cuda, grads, leaf

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
    buffer = ATEN._cudnn_rnn_flatten_weight(
        weights, stride, network.input_size, *settings[:5], network.bidirectional
    )
    yield buffer.numel(), sum(one.numel() for one in weights)
    found = ATEN._cudnn_rnn(near[0], weights, stride, buffer, near[1], near_cells, *settings)
    yield from zip(found, wanted, strict=False)
    seeds = [torch.randn_like(one) for one in wanted]
    back = ATEN._cudnn_rnn_backward(
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
    again = ATEN._cudnn_rnn(near[0], weights, stride, None, near[1], near_cells, *settings)
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
    state = ATEN._cudnn_init_dropout_state(
        0.5, True, 1, dtype=torch.uint8, layout=torch.strided, device="cuda", pin_memory=False
    )
    yield state.device.type, "cuda"
    output, _, _, reserve, _ = ATEN._cudnn_rnn(x, weights, 4, None, h, None, *settings, state)
    yield reserve.numel(), 4 * 16 * 8
    yield (reserve.float().mean().cpu() - 0.5).abs() < 0.1, torch.tensor(True)
    found = torch.autograd.grad(output.sum(), [x, *weights])
    far = [one.detach().cpu().requires_grad_() for one in (x, *weights)]
    first = ATEN.gru.input(
        far[0], torch.zeros(1, 16, 8), far[1:5], True, 1, 0.0, True, False, False
    )
    between = first[0] * reserve.cpu().view(4, 16, 8).float() * 2
    wanted = ATEN.gru.input(
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
    found = ATEN._thnn_fused_lstm_cell(*near)
    yield found[0], hy
    yield found[1], cy
    seeds = torch.randn_like(hy), torch.randn_like(cy)
    back = ATEN._thnn_fused_lstm_cell_backward_impl(*cuda(seeds), near[2], found[1], found[2], True)
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
    found = ATEN._thnn_fused_gru_cell(*near)
    yield found[0], hy
    seed = torch.randn_like(hy)
    back = ATEN._thnn_fused_gru_cell_backward(seed.cuda(), found[1], True)
    yield from zip(back, grads([hy], [i, h, x, ib, hb], [seed]), strict=True)


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
    found = ATEN._cudnn_ctc_loss(near, targets, lengths, of_targets, 0, False, False)
    yield from zip(found, (wanted, gradient), strict=True)
    tensors = torch.tensor(lengths).cuda(), torch.tensor(of_targets).cuda()
    found = ATEN._cudnn_ctc_loss.Tensor(near, targets.cuda(), *tensors, 0, False, False)
    yield from zip(found, (wanted, gradient), strict=True)
    # Too short for its targets.
    found = ATEN._cudnn_ctc_loss(near, targets, [7, 1], of_targets, 0, False, True)
    yield found[0][1], torch.tensor(0.0)
    yield found[1][:, 1], torch.zeros(7, 5)
    for name in ("_use_cudnn_ctc_loss", "_use_miopen_ctc_loss"):
        choice = getattr(ATEN, name, None)
        if choice is None:
            continue  # torch 2.9 has one of them
        yield choice(near, targets, lengths, of_targets, 0), False
        yield choice.Tensor(near, targets.cuda(), *tensors, 0), False


CHECKS: dict[Check, Sequence[str]] = {
    networks: ["_cudnn_rnn", "_cudnn_rnn_backward", "_cudnn_rnn_flatten_weight"],
    dropout_between_layers: ["_cudnn_init_dropout_state"],
    lstm_cell: ["_thnn_fused_lstm_cell", "_thnn_fused_lstm_cell_backward_impl"],
    gru_cell: ["_thnn_fused_gru_cell", "_thnn_fused_gru_cell_backward"],
    ctc: ["_cudnn_ctc_loss", "_use_cudnn_ctc_loss", "_use_miopen_ctc_loss"],
}
