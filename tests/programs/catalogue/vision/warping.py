"""torchvision's transforms that take pictures to other sizes and places."""

from __future__ import annotations

import torch
from torchvision.transforms.v2 import functional

from tests.programs import harness


def run(place: harness.Place) -> harness.Results:
    """Transforms two pictures in floating-point numbers, and two in bytes."""
    pictures = place.put(harness.noise(2, 3, 20, 24).sigmoid())
    coarse = (pictures * 255).round().to(torch.uint8)
    modes = functional.InterpolationMode
    found = {
        "bilinear": functional.resize(pictures, [15, 31], modes.BILINEAR, antialias=True),
        "bicubic": functional.resize(pictures, [33, 17], modes.BICUBIC, antialias=True),
        "bicubic without smoothing": functional.resize(
            pictures, [33, 17], modes.BICUBIC, antialias=False
        ),
        "nearest": functional.resize(pictures, [9, 50], modes.NEAREST),
        "small bytes": functional.resize(coarse, [7, 9], modes.NEAREST),
        "cut": functional.resized_crop(pictures, 2, 3, 10, 12, [16, 16], antialias=True),
        "turned": functional.rotate(pictures, 30.0, modes.BILINEAR),
        "moved": functional.affine(
            pictures, 10.0, [1.0, 2.0], 1.1, [5.0, 0.0], modes.BILINEAR, [0.5]
        ),
        "perspective": functional.perspective(
            pictures,
            [[0, 0], [23, 0], [23, 19], [0, 19]],
            [[1, 2], [21, 1], [22, 18], [2, 17]],
            modes.BILINEAR,
        ),
        "elastic": functional.elastic(
            pictures, place.put(harness.noise(1, 20, 24, 2)) * 0.05, modes.BILINEAR
        ),
        "blurred": functional.gaussian_blur(pictures, [5, 5], [1.2, 1.2]),
        "reflected": functional.pad(pictures, [2, 3], padding_mode="reflect"),
        "continued": functional.pad(pictures, [2, 3], padding_mode="edge"),
    }
    return {name: harness.tensors(value) for name, value in found.items()}
