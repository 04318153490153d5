"""torchaudio's transforms: spectrograms, coefficients, filters, another rate; and gradients through them."""

from __future__ import annotations

import torch
import torchaudio

from tests.programs import harness


def run(place: harness.Place) -> harness.Results:
    """Transforms two sounds, and differentiates what comes out."""
    sound = place.put(harness.noise(2, 800)).requires_grad_()
    spectrogram = torchaudio.transforms.Spectrogram(n_fft=64, power=None)
    transforms = {
        "spectrogram": torchaudio.transforms.Spectrogram(n_fft=64),
        "mel": torchaudio.transforms.MelSpectrogram(8000, n_fft=128, n_mels=12),
        "mfcc": torchaudio.transforms.MFCC(8000, n_mfcc=8, melkwargs={"n_fft": 128, "n_mels": 12}),
        "resample": torchaudio.transforms.Resample(8000, 6000),
        "centroid": torchaudio.transforms.SpectralCentroid(8000, n_fft=64),
        "vocoder": torch.nn.Sequential(
            spectrogram, torchaudio.transforms.TimeStretch(hop_length=32, n_freq=33, fixed_rate=1.3)
        ),
        "back": torch.nn.Sequential(
            spectrogram, torchaudio.transforms.InverseSpectrogram(n_fft=64)
        ),
    }
    results: harness.Results = {}
    for name, transform in transforms.items():
        found = place.put(transform)(sound)
        (gradient,) = torch.autograd.grad(found.abs().square().mean(), sound)
        results[name] = harness.tensors(found)
        results[f"{name}'s gradient"] = harness.tensors(gradient)
    filtered = torchaudio.functional.lowpass_biquad(sound.detach(), 8000, 1000.0)
    return {**results, "filtered": harness.tensors(filtered)}
