"""What is installed for a run on PyPI's torch, and with which variables programs start."""

from __future__ import annotations

import re

from absl.testing import absltest

from tests.programs import page, stock


class PackagesTest(absltest.TestCase):
    def test_versions_are_named_and_none_is_of_what_torch_requires(self) -> None:
        packages = stock.packages()
        self.assertNotEmpty(packages)
        for package in packages:
            self.assertRegex(package, r"^[a-z0-9-]+==[0-9][0-9a-z.]*$")
            self.assertNotRegex(package, re.compile("^(torch|triton|nvidia-.*)=="))


class EnvironmentTest(absltest.TestCase):
    def test_bazels_variables_are_left_out(self) -> None:
        found = stock.environment({"RUNFILES_DIR": "a", "C": "d"})
        self.assertNotIn("RUNFILES_DIR", found)
        self.assertEqual(found["C"], "d")

    def test_the_page_is_written_for_its_torch_on_the_simulated_device_only(self) -> None:
        workspace = {"BUILD_WORKSPACE_DIRECTORY": "a"}
        self.assertIn("BUILD_WORKSPACE_DIRECTORY", stock.environment(workspace))
        for other in ({"TORCH_CUDA_DEVICES": "fake"}, {"TORCH_CUDA_STOCK": "2.12.1"}):
            self.assertNotIn("BUILD_WORKSPACE_DIRECTORY", stock.environment(workspace | other))
        self.assertIn(stock.PAGE, page.HEADS)

    def test_devices_that_are_named_are_taken(self) -> None:
        self.assertEqual(stock.environment({})["TORCH_CUDA_SIM"], "1")
        found = stock.environment({"TORCH_CUDA_DEVICES": "fake"})
        self.assertEqual(found["TORCH_CUDA_DEVICES"], "fake")
        self.assertNotIn("TORCH_CUDA_SIM", found)


if __name__ == "__main__":
    absltest.main()
