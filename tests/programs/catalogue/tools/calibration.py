"""torchmetrics: how far probabilities are from how often they come true."""

from __future__ import annotations

import torchmetrics

from tests.programs import harness


def run(place: harness.Place) -> harness.Results:
    """Gathers three batches, with each of the three ways to sum up."""
    results = {}
    for norm in ("l1", "l2", "max"):
        metric = place.put(
            torchmetrics.CalibrationError(task="multiclass", num_classes=4, n_bins=5, norm=norm)
        )
        for seed in range(3):
            scores = place.put(harness.noise(12, 4, seed=seed)).softmax(-1)
            metric.update(scores, place.put(harness.words(12, below=4, seed=seed)))
        results[norm] = harness.tensors(metric.compute())
    return results
