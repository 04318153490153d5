"""What is a surprise, and what is written about outcomes."""

from __future__ import annotations

import json

from absl.testing import absltest, parameterized

from tests.programs import results
from tests.programs.results import Known, Outcome

_KNOWN = Known("it has no kernel", "NotImplementedError")


class SurpriseTest(absltest.TestCase):
    def test_what_passes_is_none(self) -> None:
        self.assertEqual(results.surprise(Outcome(()), None), "")

    def test_a_failure_that_is_not_listed(self) -> None:
        found = results.surprise(Outcome(("losses differ", "outputs differ")), None)
        self.assertEqual(found, "fails: losses differ; outputs differ")

    def test_a_failure_that_is_listed(self) -> None:
        self.assertEqual(results.surprise(Outcome(("NotImplementedError: nms",)), _KNOWN), "")

    def test_a_listed_program_that_fails_otherwise(self) -> None:
        found = results.surprise(Outcome(("losses differ",)), _KNOWN)
        self.assertEqual(found, "fails otherwise than listed: losses differ")

    def test_a_listed_program_that_passes(self) -> None:
        self.assertIn("take it out", results.surprise(Outcome(()), _KNOWN))


class ReadTest(parameterized.TestCase):
    def test_what_is_listed(self) -> None:
        text = '["vision.detection"]\nbecause = "it has no kernel"\nmessage = "NotImplementedError"'
        self.assertEqual(results.read_known(text), {"vision.detection": _KNOWN})

    @parameterized.parameters("message", "because")
    def test_an_entry_without(self, lacking: str) -> None:
        (other,) = {"message", "because"} - {lacking}
        with self.assertRaisesRegex(ValueError, f"a: .*`{lacking}`"):
            results.read_known(f'[a]\n{other} = "something"')

    def test_who_lacks_an_operator_passes_where_it_is_built(self) -> None:
        text = '[a]\noperator = "aten::tan"'
        (known,) = results.read_known(text, {"aten::sin"}).values()
        self.assertEqual(known.because, "`aten::tan` is not in the profile")
        lacks = "NotImplementedError: Could not run 'aten::tan' with arguments"
        self.assertEqual(results.surprise(Outcome((lacks,)), known), "")
        self.assertEqual(results.read_known(text, {"aten::tan"}), {})

    def test_an_outcome(self) -> None:
        fields = {
            "reasons": ["no"],
            "packages": ["einops 1"],
            "errors": {"float32": {"losses": 0.5}},
            "exceptions": ["loose"],
            "seconds": 2.0,
        }
        errors = {"float32": {"losses": 0.5}}
        expected = Outcome(("no",), ("einops 1",), errors, ("loose",), (), 2.0)
        self.assertEqual(results.read(json.dumps(fields)), expected)


class TextTest(parameterized.TestCase):
    @parameterized.parameters(
        ({"a": 0.0}, "equal"),
        ({"a": float("inf"), "b": 0.0}, "differs"),
        ({"a": 3e-14, "b": 2e-15}, "< 1e-13"),
        ({"a": 1.0}, "< 1e1"),
    )
    def test_the_worst_error(self, errors: dict[str, float], expected: str) -> None:
        self.assertEqual(results.worst(errors), expected)

    def test_calls_are_sorted_by_operator(self) -> None:
        outcomes = {
            "a.one": Outcome((), operators=("aten::mul", "aten::add.Tensor")),
            "b.two": Outcome((), operators=("aten::add.Tensor",)),
        }
        expected = "aten::add.Tensor: a.one b.two\naten::mul: a.one\n"
        self.assertEqual(results.calls(outcomes), expected)


if __name__ == "__main__":
    absltest.main()
