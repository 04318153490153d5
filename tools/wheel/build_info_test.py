"""Tests of build_info.py: JSON in, a module of constants out."""

from __future__ import annotations

import contextlib
import io
import json
import pathlib
import runpy

from absl.testing import absltest

from tools.wheel import build_info


class BuildInfoTest(absltest.TestCase):
    def setUp(self) -> None:
        super().setUp()
        self.folder = pathlib.Path(self.create_tempdir().full_path)

    def _json(self, name: str, values: object) -> str:
        path = self.folder / name
        path.write_text(json.dumps(values), encoding="utf-8")
        return str(path)

    def test_module_holds_the_values(self) -> None:
        output = self.folder / "_build_info.py"
        values = {
            "CUDA_ARCHS": ["8.0+PTX"],
            "CUDA_LIBRARIES": {"libcudart.so.12": "nvidia-cuda-runtime-cu12"},
            "CUDNN": False,
            "NONE": [],
        }
        first, second = self._json("a", values), self._json("b", {"VERSION": "2.6.0+cu124"})
        code = build_info.main(["--values", first, second, "--output", str(output)])
        self.assertEqual(code, 0)
        module = runpy.run_path(str(output))
        self.assertEqual(module["CUDA_ARCHS"], ("8.0+PTX",))
        self.assertEqual(module["CUDA_LIBRARIES"], values["CUDA_LIBRARIES"])
        self.assertIs(module["CUDNN"], False)
        self.assertEqual(module["NONE"], ())
        self.assertEqual(module["VERSION"], "2.6.0+cu124")

    def test_constants_are_typed(self) -> None:
        text = build_info.render({"ARCHS": ["8.0"], "LIBS": {"a": "b"}, "ON": True})
        self.assertIn("ARCHS: tuple[str, ...] = ('8.0',)\n", text)
        self.assertIn("LIBS: dict[str, str] = {'a': 'b'}\n", text)
        self.assertIn("ON: bool = True\n", text)

    def test_name_that_is_no_constant(self) -> None:
        with self.assertRaisesRegex(ValueError, "'cuda-archs'"):
            build_info.render({"cuda-archs": 1})

    def test_name_given_twice(self) -> None:
        one, two = self._json("a", {"OPS": "core"}), self._json("b", {"OPS": "full"})
        errors = io.StringIO()
        with contextlib.redirect_stderr(errors):
            code = build_info.main(["--values", one, two, "--output", str(self.folder / "out")])
        self.assertEqual(code, 1)
        self.assertIn("OPS comes twice", errors.getvalue())


if __name__ == "__main__":
    absltest.main()
