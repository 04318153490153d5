"""torchmetrics: metrics that live on a device, gather over batches, and are computed there."""

from __future__ import annotations

import torchmetrics
from torchmetrics import classification, regression, retrieval

from tests.programs import harness

TOLERANCES = harness.FLOAT32_INSIDE


def run(place: harness.Place) -> harness.Results:
    """Gathers three batches of classes, of numbers and of documents."""
    classes = {"task": "multiclass", "num_classes": 4}
    metrics = place.put(
        torchmetrics.MetricCollection(
            {
                "accuracy": torchmetrics.Accuracy(**classes),
                "f1": torchmetrics.F1Score(average="macro", **classes),
                "area": torchmetrics.AUROC(thresholds=20, **classes),
                "precision": torchmetrics.AveragePrecision(**classes),
                "confusion": torchmetrics.ConfusionMatrix(**classes),
                "kappa": torchmetrics.CohenKappa(**classes),
                "correlation": torchmetrics.MatthewsCorrCoef(**classes),
                "hinge": classification.MulticlassHingeLoss(num_classes=4),
            }
        )
    )
    numbers = place.put(
        torchmetrics.MetricCollection(
            [
                regression.MeanSquaredError(),
                regression.PearsonCorrCoef(),
                regression.SpearmanCorrCoef(),
                regression.R2Score(),
                regression.ExplainedVariance(),
                regression.KendallRankCorrCoef(),
            ]
        )
    )
    documents = place.put(retrieval.RetrievalMAP())
    for seed in range(3):
        scores = place.put(harness.noise(12, 4, seed=seed)).softmax(-1)
        labels = place.put(harness.words(12, below=4, seed=seed))
        metrics.update(scores, labels)
        numbers.update(scores[:, 0], scores[:, 1])
        documents.update(scores[:, 0], labels > 1, indexes=labels)
    found = {
        **metrics.compute(),
        **numbers.compute(),
        "documents": documents.compute(),
    }
    for name, value in found.items():
        if value.device != place.device:
            raise AssertionError(f"{name} is on {value.device}, not on {place.device}")
    return {name: harness.tensors(value) for name, value in found.items()}
