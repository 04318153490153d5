"""Files of tensors of pu, and of other devices' tensors for pu."""

from __future__ import annotations

import io
from typing import Any

import torch
import torch_pu  # noqa: F401 - gives torch the device
from absl.testing import absltest, parameterized


def through_a_file(value: Any, **options: Any) -> Any:
    file = io.BytesIO()
    torch.save(value, file)
    file.seek(0)
    return torch.load(file, **options)


class SerializationTest(parameterized.TestCase):
    @parameterized.product(
        saved=["pu:0", "pu:1", "cuda:1", "cpu"], wanted=["pu:0", "pu:1", "cuda:0", "cpu"]
    )
    def test_mapped(self, saved: str, wanted: str) -> None:
        tensor = torch.arange(4.0, device=saved)
        for place in (wanted, torch.device(wanted), {saved: wanted}):
            found = through_a_file(tensor, map_location=place)
            self.assertEqual(found.device, torch.device(wanted))
            self.assertEqual(found.tolist(), [0, 1, 2, 3])

    def test_views_share(self) -> None:
        tensor = torch.zeros(4, device="pu:1")
        found = through_a_file([tensor, tensor[2:]])
        self.assertEqual(found[0].device, torch.device("pu", 1))
        found[0].fill_(1)
        self.assertEqual(found[1].tolist(), [1, 1])

    def test_a_model_and_its_optimizer(self) -> None:
        model = torch.nn.Linear(3, 2).to("pu")
        optimizer = torch.optim.Adam(model.parameters())
        model(torch.ones(1, 3, device="pu")).sum().backward()
        optimizer.step()
        state = through_a_file({"model": model.state_dict(), "optimizer": optimizer.state_dict()})
        other = torch.nn.Linear(3, 2).to("cuda")
        other.load_state_dict(state["model"])
        self.assertEqual(other.weight.tolist(), model.weight.tolist())
        optimizer.load_state_dict(state["optimizer"])
        for values in optimizer.state.values():
            self.assertEqual(values["exp_avg"].device.type, "pu")

    def test_a_device_that_there_is_not(self) -> None:
        with self.assertRaisesRegex(RuntimeError, r"torch.pu.device_count\(\) is 2"):
            through_a_file(torch.ones(2), map_location="pu:7")


if __name__ == "__main__":
    absltest.main()
