"""torchvision's RAFT: flow between two pictures, by correlation, lookups between pixels and a recurrent cell."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torchvision.models.optical_flow import raft

from tests.programs import harness

# Its coordinates are float32, whatever the model's type is.
TYPES = (torch.float32,)
TOLERANCES = {
    torch.float32: harness.Tolerance(
        1e-2, "it corrects its flow by turns, each looking where the turn before led"
    ),
}


def _loss(outputs: list[Tensor]) -> Tensor:
    loss: Tensor = sum((flow.abs().mean() for flow in outputs), outputs[0].new_zeros(()))
    return loss


def run(place: harness.Place) -> harness.Results:
    """Trains on a pair of pictures, one step."""

    def make() -> nn.Module:
        encoder = {"block": raft.ResidualBlock, "strides": (2, 1, 2, 2)}
        correlation = raft.CorrBlock(num_levels=2, radius=1)
        return raft.RAFT(
            feature_encoder=raft.FeatureEncoder(
                layers=(8, 8, 8, 8, 16), norm_layer=nn.InstanceNorm2d, **encoder
            ),
            context_encoder=raft.FeatureEncoder(
                layers=(8, 8, 8, 8, 24), norm_layer=nn.BatchNorm2d, **encoder
            ),
            corr_block=correlation,
            update_block=raft.UpdateBlock(
                motion_encoder=raft.MotionEncoder(
                    in_channels_corr=correlation.out_channels,
                    corr_layers=(8,),
                    flow_layers=(8, 8),
                    out_channels=12,
                ),
                recurrent_block=raft.RecurrentBlock(
                    input_size=12 + 8, hidden_size=16, kernel_size=((3, 3),), padding=((1, 1),)
                ),
                flow_head=raft.FlowHead(in_channels=16, hidden_size=8),
            ),
            mask_predictor=None,
        )

    inputs = {
        "image1": harness.noise(1, 3, 128, 128),
        "image2": harness.noise(1, 3, 128, 128, seed=3),
        "num_flow_updates": 2,
    }
    return harness.train(place, make, inputs, _loss, steps=1)
