"""torchaudio's WaveRNN: spectrograms become sound, by convolutions and recurrent units."""

from __future__ import annotations

import torchaudio
from torch import Tensor, nn

from tests.programs import harness


def _loss(outputs: Tensor) -> Tensor:
    return outputs.log_softmax(-1)[..., 3].mean().neg()


def run(place: harness.Place) -> harness.Results:
    """Trains on two sounds and their spectrograms."""

    def make() -> nn.Module:
        return torchaudio.models.WaveRNN(
            upsample_scales=[2, 2],
            n_classes=8,
            hop_length=4,
            n_res_block=2,
            n_rnn=16,
            n_fc=16,
            kernel_size=3,
            n_freq=8,
            n_hidden=12,
            n_output=12,
        )

    inputs = {"waveform": harness.noise(2, 1, 16), "specgram": harness.noise(2, 1, 8, 6)}
    return harness.train(place, make, inputs, _loss)
