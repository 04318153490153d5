"""torchvision's Faster R-CNN finds things in pictures: anchors, suppression of overlaps, pooling of regions."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torchvision.models.detection import FasterRCNN
from torchvision.models.detection.anchor_utils import AnchorGenerator
from torchvision.ops import MultiScaleRoIAlign

from tests.programs import harness, torchvision_kernels

TOLERANCES = {
    torch.float64: harness.Tolerance(
        1e-6, "its loss of objectness is in float32, as the labels are which it multiplies in place"
    ),
}


class _Backbone(nn.Sequential):
    """Two convolutions."""

    out_channels = 8

    def __init__(self) -> None:
        super().__init__(nn.Conv2d(3, 8, 4, stride=4), nn.ReLU(), nn.Conv2d(8, 8, 3, padding=1))


def run(place: harness.Place) -> harness.Results:
    """Computes losses, gradients and boxes for two pictures."""
    torchvision_kernels.load(place)
    torch.manual_seed(0)
    model = place.put(
        FasterRCNN(
            _Backbone(),
            num_classes=3,
            min_size=32,
            max_size=32,
            rpn_anchor_generator=AnchorGenerator(((8, 16),), ((0.5, 1.0, 2.0),)),
            box_roi_pool=MultiScaleRoIAlign(["0"], output_size=3, sampling_ratio=2),
            # All of what it could choose at random.
            rpn_batch_size_per_image=4096,
            box_batch_size_per_image=4096,
            rpn_post_nms_top_n_train=20,
        )
    )
    pictures = place.put([harness.noise(3, 32, 32), harness.noise(3, 32, 32, seed=3)])
    boxes = torch.tensor([[2.0, 3, 14, 12], [10, 8, 30, 28]], dtype=torch.float64)
    targets = place.put([{"boxes": boxes, "labels": torch.tensor([1, 2])}] * 2)
    losses: dict[str, Tensor] = model(pictures, targets)
    torch.stack(list(losses.values())).sum().backward()
    results = {"losses": harness.tensors(losses), **harness.state(model)}
    with torch.no_grad():
        results["found"] = harness.tensors(model.eval()(pictures))
    return results
