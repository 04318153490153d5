"""timm's ConvNeXt V2, trained with timm's optimizer, schedule, mixing of pictures and average of weights."""

from __future__ import annotations

import numpy as np
import timm
import torch
from timm.data import Mixup
from timm.loss import SoftTargetCrossEntropy
from timm.optim import create_optimizer_v2
from timm.scheduler import CosineLRScheduler
from timm.utils import ModelEmaV3

from tests.programs import harness


def run(place: harness.Place) -> harness.Results:
    """Trains on four pictures."""
    torch.manual_seed(0)
    np.random.seed(0)
    model = place.put(
        timm.create_model(
            "convnextv2_atto",
            depths=(1, 1, 1, 1),
            dims=(8, 8, 16, 16),
            patch_size=2,
            use_grn=True,
            num_classes=5,
        )
    )
    average = ModelEmaV3(model, decay=0.5)
    optimizer = create_optimizer_v2(model, "lamb", lr=1e-3, weight_decay=0.05)
    schedule = CosineLRScheduler(optimizer, t_initial=4, warmup_t=1, warmup_lr_init=1e-4)
    mix = Mixup(mixup_alpha=0.8, cutmix_alpha=1.0, num_classes=5)
    pictures, labels = place.put((harness.noise(4, 3, 32, 32), harness.words(4, below=5)))
    losses = []
    for step in range(3):
        mixed, targets = mix(pictures.clone(), labels)
        loss = SoftTargetCrossEntropy()(model(mixed), targets.to(place.dtype))
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        schedule.step(step)
        average.update(model)
        losses.append(loss.detach())
    return {
        "losses": harness.tensors(losses),
        "average": harness.tensors(list(average.module.parameters())),
        **harness.state(model),
    }
