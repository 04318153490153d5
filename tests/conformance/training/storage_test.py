"""Storages: what several tensors share, resizing, copies, files and exchange."""

from __future__ import annotations

import copy
import io

import numpy as np
import torch
import torch.utils.dlpack
from absl.testing import absltest


class StorageTest(absltest.TestCase):
    def test_views_share_one(self) -> None:
        tensor = torch.zeros(4, 6, device="cuda")
        view = tensor.t()[2]
        view.fill_(3)
        self.assertEqual(view.untyped_storage().data_ptr(), tensor.untyped_storage().data_ptr())
        self.assertEqual(tensor.sum().item(), 12)
        self.assertEqual(tensor.untyped_storage().device, torch.device("cuda", 0))

    def test_its_bytes(self) -> None:
        storage = torch.arange(10, dtype=torch.int16, device="cuda").untyped_storage()
        self.assertEqual(storage.nbytes(), 20)
        self.assertEqual(storage.cpu().tolist()[:6], [0, 0, 1, 0, 2, 0])
        for number in range(20):
            storage[number] = 255
        self.assertEqual(set(storage.cpu().tolist()), {255})

    def test_one_is_resized(self) -> None:
        tensor = torch.arange(5, dtype=torch.uint8, device="cuda")
        tensor.untyped_storage().resize_(1 << 20)
        self.assertEqual(tensor.untyped_storage().nbytes(), 1 << 20)
        self.assertEqual(tensor.tolist(), [0, 1, 2, 3, 4])
        tensor.untyped_storage().resize_(0)
        self.assertEqual(tensor.untyped_storage().nbytes(), 0)

    def test_a_tensor_is_resized(self) -> None:
        tensor = torch.arange(6, device="cuda")
        tensor.resize_(3)
        self.assertEqual(tensor.tolist(), [0, 1, 2])
        tensor.resize_(40, 50)
        self.assertEqual(tensor.flatten()[:3].tolist(), [0, 1, 2])

    def test_one_is_set(self) -> None:
        source = torch.arange(12.0, device="cuda")
        tensor = torch.empty(0, device="cuda")
        tensor.set_(source.untyped_storage(), 2, (2, 2), (4, 1))
        self.assertEqual(tensor.tolist(), [[2, 3], [6, 7]])
        with self.assertRaises(RuntimeError):
            torch.empty(0).set_(source.untyped_storage())

    def test_a_deep_copy_is_another_one(self) -> None:
        tensors = [torch.arange(6.0, device="cuda")]
        tensors.append(tensors[0][2:4])
        copied = copy.deepcopy(tensors)
        copied[1].fill_(9)
        self.assertEqual(copied[0].tolist(), [0, 1, 9, 9, 4, 5])
        self.assertEqual(tensors[0].tolist(), [0, 1, 2, 3, 4, 5])

    def test_files_keep_device_and_sharing(self) -> None:
        tensor = torch.arange(6.0, device="cuda")
        file = io.BytesIO()
        torch.save({"all": tensor, "part": tensor[1:3]}, file)
        for place, device in ((None, "cuda"), ("cpu", "cpu"), ("cuda:0", "cuda")):
            file.seek(0)
            loaded = torch.load(file, map_location=place, weights_only=True)
            self.assertEqual(loaded["all"].device.type, device)
            loaded["part"].zero_()
            self.assertEqual(loaded["all"].tolist(), [0, 0, 0, 3, 4, 5])

    def test_a_model_comes_from_the_cpu_s_file(self) -> None:
        file = io.BytesIO()
        model = torch.nn.Linear(3, 2)
        torch.save(model.state_dict(), file)
        file.seek(0)
        other = torch.nn.Linear(3, 2, device="cuda")
        other.load_state_dict(torch.load(file, map_location="cuda", weights_only=True))
        self.assertTrue(torch.equal(other.weight.cpu(), model.weight))

    def test_numpy_and_back(self) -> None:
        array = np.arange(12, dtype=np.float32).reshape(3, 4)
        tensor = torch.from_numpy(array).cuda()
        np.testing.assert_array_equal((tensor * 2).cpu().numpy(), array * 2)
        with self.assertRaises(TypeError):
            tensor.numpy()

    def test_dlpack_shares_memory(self) -> None:
        tensor = torch.arange(6.0, device="cuda")
        other = torch.utils.dlpack.from_dlpack(tensor)
        self.assertEqual(other.device, tensor.device)
        other[0] = 7
        self.assertEqual(tensor[0].item(), 7)


if __name__ == "__main__":
    absltest.main()
