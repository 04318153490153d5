"""torchvision's transforms of colours."""

from __future__ import annotations

import torch
from torchvision.transforms.v2 import functional

from tests.programs import harness


def run(place: harness.Place) -> harness.Results:
    """Transforms two pictures in floating-point numbers, and two in bytes."""
    pictures = place.put(harness.noise(2, 3, 20, 24).sigmoid())
    found = {
        "hue": functional.adjust_hue(pictures, 0.2),
        "saturation": functional.adjust_saturation(pictures, 1.7),
        "contrast": functional.adjust_contrast(pictures, 0.6),
        "sharpness": functional.adjust_sharpness(pictures, 2.0),
        "normal": functional.normalize(pictures, [0.4] * 3, [0.2] * 3),
        "grey": functional.rgb_to_grayscale(pictures),
    }
    coarse = (pictures * 255).round().to(torch.uint8)
    found |= {
        "equalized": functional.equalize(coarse),
        "posterized": functional.posterize(coarse, 3),
        "solarized": functional.solarize(coarse, 128.0),
        "stretched": functional.autocontrast(coarse),
    }
    return {name: harness.tensors(value) for name, value in found.items()}
