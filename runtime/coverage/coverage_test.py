"""Object code's calls and the files of the drop-in libraries become the right page."""

from __future__ import annotations

from absl.testing import absltest

from runtime.coverage import inventory, page
from runtime.coverage.inventory import Function, Library

SCRIPT = """libfoo.so.1 {
  global:
    fooCreate;
    fooName;
    fooRun;
  local:
    *;
};
"""
STUBS = """
static int answer(const char* function, atomic_flag* told) {
int fooRun(void) {
  return answer("fooRun", &told);
const char* fooName(int status) {
"""


class InventoryTest(absltest.TestCase):
    def test_functions_are_those_that_are_no_stubs(self) -> None:
        answers = {
            "fooCreate": {"a:b": ["nothing"], "a:c": ["error"]},
            "fooRun": {"a:b": ["error"]},
        }
        found = inventory.library("libfoo.so.1", SCRIPT, STUBS, answers)
        self.assertEqual(
            found, Library("libfoo.so.1", [Function("fooCreate", ("a:b",), ("a:c",))], 2)
        )

    def test_a_function_that_a_test_calls_is_measured_or_not(self) -> None:
        answers: dict[str, dict[str, list[str]]] = {"fooCreate": {"a:b": []}}
        found = inventory.library("libfoo.so.1", SCRIPT, "", answers, {"fooCreate", "fooRun"})
        self.assertEqual(
            {function.name: function.is_measured for function in found.functions},
            {"fooCreate": True, "fooName": True, "fooRun": False},
        )

    def test_what_was_measured_of_a_test_that_changed_is_an_error(self) -> None:
        answers = {"fooCreate": {"a:b": ["nothing"]}}
        inventory.hold_against(answers, {"a:b": ["fooCreate"]})
        for calls in ({}, {"a:b": ["fooRun"]}):
            with self.assertRaisesRegex(inventory.CoverageError, "a:b calls fooCreate"):
                inventory.hold_against(answers, calls)


class PageTest(absltest.TestCase):
    def test_what_tests_notice_of_a_function_is_told(self) -> None:
        functions = [
            Function("fooA", effect=("a:b",), status=("a:b", "a:c")),
            Function("fooB", status=("a:b",)),
            Function("fooC"),
            Function("fooD", is_measured=False),
        ]
        text = page.render([Library("libfoo.so.1", functions, 7)])
        self.assertIn("| `libfoo.so.1` | 4 | 1 | 1 | 1 | 7 |", text)
        self.assertEndsWith(
            text,
            "## libfoo.so.1\n\nWith a test: `fooA`.\n\nStatus alone: `fooB`.\n\n"
            "Not measured: `fooD`.\n\nWithout a test: `fooC`.\n",
        )


if __name__ == "__main__":
    absltest.main()
