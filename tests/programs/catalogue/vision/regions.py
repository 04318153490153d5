"""torchvision's operators on regions of pictures: pooling and aligning, convolution at learned places, suppression."""

from __future__ import annotations

import torch
from torch import Tensor
from torchvision import ops

from tests.programs import harness, torchvision_kernels

_BOXES = [[0, 0.5, 1.0, 6.0, 7.5], [1, 2.0, 0.0, 9.5, 9.0], [1, 3.5, 4.0, 8.0, 8.5]]
"""Number of a picture, left, top, right and bottom."""


def run(place: harness.Place) -> harness.Results:
    """Computes features of regions with gradients, a deformable convolution, and which boxes are left."""
    torchvision_kernels.load(place)
    pictures: Tensor = place.put(harness.noise(2, 8, 10, 10)).requires_grad_()
    boxes = place.put(torch.tensor(_BOXES, dtype=torch.float64))
    results: harness.Results = {
        "align": [ops.roi_align(pictures, boxes, 4, sampling_ratio=2, aligned=True)],
        "pool": [ops.roi_pool(pictures, boxes, 3)],
        "align by place": [ops.ps_roi_align(pictures, boxes, 2, sampling_ratio=2)],
        "pool by place": [ops.ps_roi_pool(pictures, boxes, 2)],
    }
    torch.manual_seed(0)
    layer = place.put(ops.DeformConv2d(8, 6, 3, padding=1, groups=2))
    offsets, masks = place.put([harness.noise(2, 18, 10, 10), harness.noise(2, 9, 10, 10, seed=2)])
    results["deformed"] = [layer(pictures, offsets, masks.sigmoid())]
    torch.stack(
        [value.square().sum() for group in results.values() for value in group]
    ).sum().backward()
    assert pictures.grad is not None
    results["gradient"] = [pictures.grad]
    corners: Tensor = place.put(harness.noise(40, 2, seed=4))
    found = torch.cat([corners, corners + 1.0], dim=1)
    scores = found.sum(dim=1)
    kinds = torch.arange(40, device=place.device) % 3
    results["left"] = [ops.nms(found, scores, 0.4), ops.batched_nms(found, scores, kinds, 0.4)]
    results["overlaps"] = [ops.box_iou(found, found), ops.generalized_box_iou(found, found)]
    return {
        **{name: harness.tensors(group) for name, group in results.items()},
        **harness.state(layer),
    }
