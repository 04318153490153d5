"""diffusers' UNet with conditions learns to take noise away, and takes it away in a few steps."""

from __future__ import annotations

import torch
from diffusers import DDIMScheduler, DDPMScheduler, UNet2DConditionModel

from tests.programs import harness

TOLERANCES = harness.FLOAT32_INSIDE


def run(place: harness.Place) -> harness.Results:
    """Trains on two pictures, then draws one."""
    torch.manual_seed(0)
    model = place.put(
        UNet2DConditionModel(
            sample_size=8,
            in_channels=4,
            out_channels=4,
            block_out_channels=(8, 16),
            down_block_types=("CrossAttnDownBlock2D", "DownBlock2D"),
            up_block_types=("UpBlock2D", "CrossAttnUpBlock2D"),
            layers_per_block=1,
            norm_num_groups=4,
            cross_attention_dim=16,
            attention_head_dim=8,
        )
    )
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    noising = DDPMScheduler(num_train_timesteps=100)
    pictures, noise, texts = place.put(
        (harness.noise(2, 4, 8, 8), harness.noise(2, 4, 8, 8, seed=3), harness.noise(2, 5, 16))
    )
    times = place.put(harness.words(2, below=100))
    losses = []
    for _ in range(2):
        noisy = noising.add_noise(pictures, noise, times)
        loss = torch.nn.functional.mse_loss(model(noisy, times, texts).sample, noise)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.detach())
    drawing = DDIMScheduler(num_train_timesteps=100)
    drawing.set_timesteps(3, device=place.device)
    drawn = noise[:1]
    with torch.no_grad():
        for time in drawing.timesteps:
            drawn = drawing.step(model(drawn, time, texts[:1]).sample, time, drawn).prev_sample
    return {
        "losses": harness.tensors(losses),
        "drawn": harness.tensors(drawn),
        **harness.state(model),
    }
