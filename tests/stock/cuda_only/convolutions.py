"""Convolutions and grids."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import torch
import torch.nn.functional as F

from .pairs import ATEN, Check, Pair, grads, leaf


def convolutions() -> Iterator[Pair]:
    """cuDNN's forms of them."""
    x, w, b = torch.randn(2, 4, 6, 6), torch.randn(6, 2, 3, 3), torch.randn(6)
    near = x.cuda(), w.cuda()
    sizes = [1, 1], [2, 1], [1, 1]  # padding, stride, dilation
    flags = 2, False, False, False
    plain = F.conv2d(x, w, None, [2, 1], 1, 1, 2)
    yield ATEN.cudnn_convolution(*near, *sizes, *flags), plain
    out = torch.empty(0, device="cuda")
    yield ATEN.cudnn_convolution(*near, *sizes, *flags, out=out), plain
    with_bias = F.conv2d(x, w, b, [2, 1], 1, 1, 2)
    order = [2, 1], [1, 1], [1, 1], 2  # stride, padding, dilation, groups
    yield ATEN.cudnn_convolution_relu(*near, b.cuda(), *order), with_bias.relu()
    z = torch.randn_like(plain)
    yield (
        ATEN.cudnn_convolution_add_relu(*near, z.cuda(), 0.5, b.cuda(), *order),
        (with_bias + 0.5 * z).relu(),
    )
    back = torch.randn(4, 3, 3, 3)
    yield (
        ATEN.cudnn_convolution_transpose(
            near[0], back.cuda(), [1, 1], [1, 0], [2, 2], [1, 1], 2, False, False, False
        ),
        F.conv_transpose2d(x, back, None, 2, 1, [1, 0], 2),
    )


def depthwise() -> Iterator[Pair]:
    """Of two and three dimensions."""
    x, w, b = torch.randn(2, 3, 6, 6), torch.randn(6, 1, 3, 3), torch.randn(6)
    wanted = F.conv2d(x, w, b, padding=1, groups=3)
    given = x.cuda(), w.cuda(), [3, 3], b.cuda(), [1, 1], [1, 1], [1, 1]
    yield ATEN._conv_depthwise2d(*given), wanted
    yield ATEN._conv_depthwise2d.out(*given, out=torch.empty(0, device="cuda")), wanted
    x, w = torch.randn(2, 3, 4, 4, 4), torch.randn(3, 1, 3, 3, 3)
    ones = [1, 1, 1]
    yield (
        ATEN.conv_depthwise3d(x.cuda(), w.cuda(), [3, 3, 3], None, ones, ones, ones),
        F.conv3d(x, w, padding=1, groups=3),
    )


def grids() -> Iterator[Pair]:
    """Spatial transformers."""
    theta = leaf(2, 2, 3)
    grid = F.affine_grid(theta, [2, 3, 4, 5], align_corners=True)
    yield ATEN.cudnn_affine_grid_generator(theta.detach().cuda(), 2, 3, 4, 5), grid
    seed = torch.randn_like(grid)
    yield (
        ATEN.cudnn_affine_grid_generator_backward(seed.cuda(), 2, 3, 4, 5),
        grads([grid], [theta], [seed])[0],
    )
    image, places = leaf(2, 3, 4, 5), (torch.rand(2, 4, 5, 2) * 2 - 1).requires_grad_()
    wanted = F.grid_sample(image, places, align_corners=True)
    near = image.detach().cuda(), places.detach().cuda()
    yield ATEN.cudnn_grid_sampler(*near), wanted
    seed = torch.randn_like(wanted)
    yield from zip(
        ATEN.cudnn_grid_sampler_backward(*near, seed.cuda()),
        grads([wanted], [image, places], [seed]),
        strict=True,
    )


CHECKS: dict[Check, Sequence[str]] = {
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
}
