"""torch.profiler on pu, with torch_cuda_profiler."""

from __future__ import annotations

import torch
import torch_pu  # noqa: F401 - gives torch the device
from absl.testing import absltest, parameterized
from torch.profiler import ProfilerActivity, profile


class ProfilerTest(parameterized.TestCase):
    @parameterized.parameters(ProfilerActivity.PrivateUse1, ProfilerActivity.CUDA)
    def test_profiles(self, activity: ProfilerActivity) -> None:
        if activity == ProfilerActivity.PrivateUse1 and torch.__version__.startswith("2.9."):
            self.skipTest("the CUDA build of torch 2.9 has this activity for no device")
        self.assertIn(activity, torch.profiler.supported_activities())
        tensor = torch.ones(1 << 10, device="pu")
        with profile(activities=[ProfilerActivity.CPU, activity]) as profiled:
            (tensor + 1).sum().item()
        names = {event.name for event in profiled.events()}
        self.assertContainsSubset({"aten::add", "aten::sum"}, names)


if __name__ == "__main__":
    absltest.main()
