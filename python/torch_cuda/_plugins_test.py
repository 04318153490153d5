"""Plugins beside an active torch_cuda: in which order they come, and what keeps one of them off.

Real torch in processes of their own; the compiled parts and the plugins are fakes.
"""

from __future__ import annotations

import pathlib
import shutil

from absl.testing import absltest

from torch_cuda import fake_installation
from torch_cuda.fake_installation import BUILD, FakeInstallation, Run, add_plugin

ORDER = "import torch; print(torch.cuda._is_compiled(), getattr(torch.cuda, 'order', None))"
STATES = """
import torch, torch_cuda
for plugin in torch_cuda.plugins():
    print(plugin.name, plugin.version, plugin.active, (plugin.why_inactive or "").splitlines()[:1])
"""


class PluginsTest(absltest.TestCase):
    def setUp(self) -> None:
        super().setUp()
        self.site = pathlib.Path(self.create_tempdir().full_path)
        self.installation = FakeInstallation(self.site)

    def assert_only_good_is_active(self, bad: str, *parts: str) -> Run:
        """One warning about `bad`, while the core and the plugin `torch_cuda_good` work."""
        add_plugin(self.site, "torch_cuda_good")
        run = self.installation.run(ORDER)
        self.assertEqual((run.code, run.out), (0, "True ['torch_cuda_good']"), run.err)
        self.assertEqual(run.warnings, 1, run.err)
        self.assertIn(f"ActivationWarning: {bad} is installed but stays off", run.err)
        self.assertNotIn("Traceback", run.err)
        for part in ("found ", "needed ", "To fix it: ", *parts):
            self.assertIn(part, run.err)
        return run

    def test_none_is_no_plugin(self) -> None:
        run = self.installation.run("import torch, torch_cuda; print(torch_cuda.plugins())")
        self.assertEqual(run, Run(0, "()", ""))

    def test_they_come_in_the_order_of_their_names(self) -> None:
        for name in ("torch_cuda_z", "torch_cuda_a", "torch_cuda_m"):
            add_plugin(self.site, name)
        run = self.installation.run(ORDER)
        self.assertEqual(run, Run(0, "True ['torch_cuda_a', 'torch_cuda_m', 'torch_cuda_z']", ""))

    def test_state_of_each_can_be_asked_for(self) -> None:
        add_plugin(self.site, "torch_cuda_a")
        add_plugin(self.site, "torch_cuda_b", "2.5.0")
        run = self.installation.run(STATES)
        first, second = run.out.splitlines()
        self.assertEqual(first, f"torch_cuda_a {BUILD.version} True []")
        self.assertStartsWith(second, "torch_cuda_b 2.5.0 False ['found torch_cuda_b 2.5.0 beside")

    def test_where_the_core_is_off_none_is_tried(self) -> None:
        add_plugin(self.site, "torch_cuda_a", source="1 / 0")
        run = self.installation.run(STATES, {"TORCH_CUDA_DISABLE": "1"})
        self.assertEqual(
            run,
            Run(
                0,
                f"torch_cuda_a {BUILD.version} False "
                "['torch_cuda is off: TORCH_CUDA_DISABLE=1 is set']",
                "",
            ),
        )

    def test_explicit_activation_brings_them_once(self) -> None:
        add_plugin(self.site, "torch_cuda_a")
        run = self.installation.run(
            "import torch, torch_cuda\n"
            "torch_cuda.activate()\n"
            "torch_cuda.activate()\n"
            "print(torch.cuda.order)",
            {"TORCH_DEVICE_BACKEND_AUTOLOAD": "0"},
        )
        self.assertEqual(run, Run(0, "['torch_cuda_a']", ""))

    def test_another_version_is_refused_before_its_code_runs(self) -> None:
        add_plugin(self.site, "torch_cuda_bad", "2.5.0+cu124", source="print('I ran')")
        self.assert_only_good_is_active(
            "torch_cuda_bad",
            f"found torch_cuda_bad 2.5.0+cu124 beside torch_cuda {BUILD.version}",
            f'pip install "torch_cuda_bad=={BUILD.version}"',
        )

    def test_another_version_inside_the_wheel_is_refused(self) -> None:
        source = fake_installation.PLUGIN.replace("{version!r}", "'2.5.0'")
        add_plugin(self.site, "torch_cuda_bad", source=source)
        self.assert_only_good_is_active("torch_cuda_bad", "found torch_cuda_bad 2.5.0 beside")

    def test_one_that_raises(self) -> None:
        for number, source in enumerate(
            (
                "1 / 0",
                "def plugin(): raise OSError('libnosuch.so.2: cannot open')",
                "import torch_cuda_nosuch_module",
                fake_installation.PLUGIN.replace("return Swap", "raise KeyError"),
                fake_installation.PLUGIN.replace("lambda: None", "lambda: 1 / 0"),
                fake_installation.PLUGIN.replace("return Plugin()", "return None"),
                "no_function = 1",
                "this is no Python",
            )
        ):
            with self.subTest(source=source[-60:]):
                site = self.site / str(number)
                site.mkdir()
                self.site, self.installation = site, FakeInstallation(site)
                add_plugin(site, "torch_cuda_bad", source=source)
                self.assert_only_good_is_active("torch_cuda_bad", "an error while", "Error")
                self.site = site.parent

    def test_its_own_error_is_shown_as_it_is(self) -> None:
        source = (
            "from torch_cuda import ActivationError\n"
            "def plugin(): raise ActivationError(found='no NCCL', needed='one', fix='get it')\n"
        )
        add_plugin(self.site, "torch_cuda_bad", source=source)
        self.assert_only_good_is_active("torch_cuda_bad", "found no NCCL; needed one.")

    def test_one_whose_files_are_half_there(self) -> None:
        module = add_plugin(self.site, "torch_cuda_bad")
        module.write_text("cut off", encoding="utf-8")
        self.assert_only_good_is_active(
            "torch_cuda_bad",
            "damaged wheel",
            "__init__.py (7 bytes",
            f'--force-reinstall --no-deps "torch_cuda_bad=={BUILD.version}"',
        )

    def test_one_whose_package_is_gone(self) -> None:
        shutil.rmtree(add_plugin(self.site, "torch_cuda_bad").parent)
        self.assert_only_good_is_active("torch_cuda_bad", "damaged wheel", "(missing)")

    def test_two_of_one_name_are_both_refused(self) -> None:
        add_plugin(self.site, "torch_cuda_bad")
        fake_installation.add_distribution(
            self.site, "acme", BUILD.version, "acme:plugin", "torch_cuda.plugins"
        )
        entry_points = self.site / f"acme-{BUILD.version}.dist-info/entry_points.txt"
        entry_points.write_text("[torch_cuda.plugins]\ntorch_cuda_bad = acme:plugin\n")
        self.assert_only_good_is_active("torch_cuda_bad", "from acme and torch_cuda_bad")

    def test_warnings_as_errors_do_not_take_the_core_away(self) -> None:
        add_plugin(self.site, "torch_cuda_bad", source="1 / 0")
        run = self.installation.python("-W", "error::UserWarning", "-c", ORDER)
        self.assertEqual((run.code, run.out, run.warnings), (0, "True None", 1), run.err)

    def test_doctor_shows_them(self) -> None:
        add_plugin(self.site, "torch_cuda_a")
        add_plugin(self.site, "torch_cuda_bad", source="1 / 0")
        run = self.installation.python("-m", "torch_cuda", "doctor")
        self.assertEqual((run.code, run.err), (0, ""))
        self.assertRegex(run.out, r"\nok +torch_cuda_a +2.6.0\+cu124, active\n")
        self.assertRegex(run.out, r"\nWRONG +torch_cuda_bad +2.6.0\+cu124, found an error")


if __name__ == "__main__":
    absltest.main()
