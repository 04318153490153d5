"""What the launcher of `wheel_test` hands on, and that nothing of it stays behind."""

from __future__ import annotations

import os
import pathlib
import signal
import subprocess
import sys
import time
from unittest import mock

from absl.testing import absltest

from tools.wheel import run_in_venv


class RunInVenvTest(absltest.TestCase):
    def setUp(self) -> None:
        super().setUp()
        folder = pathlib.Path(self.create_tempdir().full_path)
        self.temporary = folder / "temporary"
        self.temporary.mkdir()
        self.wheels = folder / "wheels"
        self.wheels.mkdir()
        (self.wheels / "installed.py").write_text("STATUS = 7\n", encoding="utf-8")
        (self.wheels / "installed.py").chmod(0o444)
        self.script = folder / "script.py"
        self.enterContext(mock.patch.dict(os.environ, {"TEST_TMPDIR": str(self.temporary)}))

    def _arguments(self, text: str) -> list[str]:
        self.script.write_text(text, encoding="utf-8")
        return [
            *("--python", sys.executable, "--wheel_env", str(self.wheels)),
            *("--main", str(self.script), "--", "one", "two"),
        ]

    def test_the_status_is_the_tests_and_its_environment_goes(self) -> None:
        text = """
            import installed, pathlib, sys
            assert sys.argv[1:] == ["one", "two"], sys.argv
            assert pathlib.Path(installed.__file__).is_relative_to(sys.prefix)
            pathlib.Path(installed.__file__).write_text("damaged")
            sys.exit(installed.STATUS)
        """
        lines = "\n".join(line.strip() for line in text.splitlines())
        self.assertEqual(run_in_venv.main(self._arguments(lines)), 7)
        self.assertEmpty(list(self.temporary.iterdir()))

    def test_a_test_is_main_and_what_it_imports_is_not_collected(self) -> None:
        text = """\
import gc, os, sys, unittest
before = set(globals())
class Program(unittest.TestCase):
    def test_main(self):
        self.assertEqual({name for name in before if name[:2] != "__"}, {"gc", "os", "sys", "unittest"})
        self.assertEqual((__file__, sys.argv), (sys.argv[0], [__file__, "one"]))
        self.assertEqual(sys.path[0] == os.path.dirname(__file__), not sys.flags.safe_path)
        self.assertGreater(gc.get_freeze_count(), 1000)
        self.assertIs(Program, sys.modules["__main__"].Program)
sys.argv.remove("two")
unittest.main(argv=["test"])
"""
        self.assertEqual(run_in_venv.main(self._arguments(text)), 0)

    def test_a_signal_that_ends_the_test_is_told(self) -> None:
        arguments = self._arguments("import os, signal; os.kill(os.getpid(), signal.SIGKILL)")
        self.assertEqual(run_in_venv.main(arguments), 128 + signal.SIGKILL)
        self.assertEmpty(list(self.temporary.iterdir()))

    def test_the_environment_goes_with_a_test_that_takes_too_long(self) -> None:
        ready = self.temporary.parent / "ready"
        text = f"import pathlib, time; pathlib.Path({str(ready)!r}).touch(); time.sleep(600)"
        code = "import sys; from tools.wheel import run_in_venv; sys.exit(run_in_venv.main())"
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
        command = [sys.executable, "-c", code, *self._arguments(text)]
        with subprocess.Popen(command, env=environment) as launcher:
            deadline = time.monotonic() + 120
            while not ready.exists() and time.monotonic() < deadline:
                time.sleep(0.05)
            launcher.send_signal(signal.SIGTERM)
            self.assertEqual(launcher.wait(60), 128 + signal.SIGTERM)
        self.assertEmpty(list(self.temporary.iterdir()))


if __name__ == "__main__":
    absltest.main()
