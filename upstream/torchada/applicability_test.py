"""Which tests are applicable, by what their text names and asks."""

from __future__ import annotations

import pathlib
import textwrap

from absl.testing import absltest, parameterized

from upstream.torchada import applicability
from upstream.torchada.applicability import Reason


class ApplicabilityTest(parameterized.TestCase):
    def reasons(self, text: str, *answered: str) -> dict[str, Reason | None]:
        file = pathlib.Path(self.create_tempdir().full_path, "test_some.py")
        file.write_text(textwrap.dedent(text), encoding="utf-8")
        return applicability.read(file, answered)

    @parameterized.parameters(
        "from torchada._patch import f\n    assert f()",
        "from torchada import _patch\n    assert _patch.f()",
        "from torchada.utils.cpp_extension import _f\n    assert _f()",
        "from torchada.utils import cpp_extension as ce\n    assert ce._f()",
        "import torchada\n    assert torchada.utils._f()",
        "import torchada._patch as p\n    assert p._f()",
        "run('import torchada; from torchada import _patch; _patch.f()')",
        "helper()",
        "PROGRAM.run()",
    )
    def test_private_names(self, body: str) -> None:
        found = self.reasons(
            "PROGRAM = 'import torchada._patch as p; p._f()'\n"
            "def helper():\n    from torchada._patch import f\n    return f()\n"
            f"def test_it():\n    {body}\n"
        )
        self.assertEqual(found, {"test_it": Reason.PRIVATE})

    def test_private_names_of_fixtures_and_of_the_class(self) -> None:
        found = self.reasons("""
            import pytest, torchada

            @pytest.fixture
            def patched():
                return torchada._patch

            def test_fixture(patched):
                assert patched

            class TestT:
                def setup(self):
                    return torchada._patch

                def test_method(self):
                    assert self.setup()

                def test_other(self):
                    assert torchada.is_patched()
        """)
        self.assertEqual(
            found,
            {
                "test_fixture": Reason.PRIVATE,
                "TestT.test_method": Reason.PRIVATE,
                "TestT.test_other": None,
            },
        )

    def test_names_of_others_and_dunders_are_not_private(self) -> None:
        found = self.reasons("""
            def test_it():
                import torch, torchada
                assert torch.cuda._lazy_call and torchada.__version__
        """)
        self.assertEqual(found, {"test_it": None})

    def test_private_names_that_somebody_answers_for(self) -> None:
        text = "def test_it():\n    from torchada._mapping import _RULE\n    assert _RULE\n"
        self.assertEqual(self.reasons(text), {"test_it": Reason.PRIVATE})
        self.assertEqual(self.reasons(text, "torchada._mapping._RULE"), {"test_it": None})

    @parameterized.parameters(
        "open(torchada.__file__)",
        "from torchada.utils.cpp_extension import stable_compat_box_header as h\n    open(h())",
    )
    def test_torchadas_own_files(self, body: str) -> None:
        found = self.reasons(f"import torchada\ndef test_it():\n    {body}\n")
        self.assertEqual(found, {"test_it": Reason.OWN_FILES})

    def test_sources_that_the_sdist_lacks(self) -> None:
        text = """
            import os
            FOLDER = os.path.join(os.path.dirname(__file__), "csrc")
            SOURCE = os.path.join(FOLDER, "a.cu")

            def test_it():
                assert os.path.exists(SOURCE)
        """
        self.assertEqual(self.reasons(text), {"test_it": Reason.NOT_PUBLISHED})

    @parameterized.parameters(
        "@pytest.mark.musa\ndef test_it():\n    assert 1",
        "@pytest.mark.skipif(not torchada.is_musa_platform(), reason='')\ndef test_it():\n    assert 1",
        "def test_it():\n    if not torchada.is_musa_platform():\n        pytest.skip()\n    assert 1",
        "def test_it():\n    if not torchada.is_musa_platform() or f():\n        pytest.skip()\n    assert 1",
        "def need():\n    if not torchada.is_musa_platform():\n        pytest.skip()\n"
        "def test_it():\n    need()\n    assert 1",
        "def test_it():\n    import torch\n    if torchada.is_musa_platform() and f():\n        assert 1",
        "def test_it():\n    if hasattr(torch, 'musa'):\n        assert 1",
        "pytestmark = pytest.mark.skipif(not torchada.is_musa_platform())\ndef test_it():\n    assert 1",
    )
    def test_musa_only(self, text: str) -> None:
        found = self.reasons(f"import pytest, torch, torchada\n{text}\n")
        self.assertEqual(found, {"test_it": Reason.MUSA})

    @parameterized.parameters(
        "if torchada.is_musa_platform():\n        assert 1\n    else:\n        assert 2",
        "if torchada.is_musa_platform():\n        pytest.skip()\n    assert 1",
        "if not torchada.is_musa_platform():\n        assert 1",
        "if torch.cuda.is_available() or torchada.is_musa_platform():\n        torch.cuda.synchronize()",
        "with nvtx.range(''):\n        pass",
        "for x in (1, 2):\n        assert x",
        "while f():\n        pass",
    )
    def test_applicable(self, body: str) -> None:
        found = self.reasons(f"import pytest, torch, torchada\ndef test_it():\n    {body}\n")
        self.assertEqual(found, {"test_it": None})


if __name__ == "__main__":
    absltest.main()
