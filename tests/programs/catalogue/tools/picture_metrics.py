"""torchmetrics: how like each other pictures are."""

from __future__ import annotations

import torch
from torchmetrics.functional import image

from tests.programs import harness


def run(place: harness.Place) -> harness.Results:
    """Compares two pictures with two others, and differentiates one measure."""
    pictures, others = (place.put(harness.noise(2, 3, 24, 24, seed=n).sigmoid()) for n in (1, 2))
    pictures.requires_grad_()
    similarity = image.structural_similarity_index_measure(pictures, others, data_range=1.0)
    (gradient,) = torch.autograd.grad(similarity, pictures)
    found = {
        "similarity": similarity,
        "similarity's gradient": gradient,
        "noise": image.peak_signal_noise_ratio(pictures, others, data_range=1.0),
        "variation": image.total_variation(pictures),
        "angle": image.spectral_angle_mapper(pictures, others),
    }
    return {name: harness.tensors(value) for name, value in found.items()}
