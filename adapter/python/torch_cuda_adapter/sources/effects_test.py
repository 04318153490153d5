"""Each argument of a call is evaluated as often as it was written: once, whatever a rule makes of the call."""

from __future__ import annotations

import pathlib
import re
import shutil
import subprocess
from collections.abc import Iterator

from absl.testing import absltest, parameterized

from torch_cuda_adapter import platforms
from torch_cuda_adapter.sources import testing
from torch_cuda_adapter.sources.effects import effects
from torch_cuda_adapter.sources.rules import Called, Rules
from torch_cuda_adapter.sources.tokenizer import tokenize
from torch_cuda_adapter.sources.translator import translate

PLATFORMS = {name: Rules(platforms.load(name)) for name in platforms.names()}
EFFECTS = (
    *(
        "next()",
        "i++",
        "--i",
        "x = y",
        "x += 1",
        "x <<= 1",
        "x and_eq y",
        "*p++",
        "a.b()",
        "a->b()",
    ),
    *(
        "(g)(x)",
        "(*g)(x)",
        "g[0](x)",
        "f<int>(x)",
        "f<int, float>(x)",
        "g(f<a<b>, c>(x))",
        "T{next()}",
    ),
    *("new T", "new (p) T(x)", "delete p", "throw 1", "co_await x", "MACRO(x)", "EFFECT", "m[k]"),
    *("[&] { return i++; }()", "({ i++; })", "out << x", "(size_t)next()", "int(next())", "1_km"),
    *("cudaDeviceSynchronize()", "a ? b : c()", "sizeof(x) + next()", "x<:k:>", "T<%x%>", "a##b"),
    *("next\\\n(\\\n)", "next /* ) */ ()", "-next()", "(a, next())", "static_cast<int>(next())"),
)
NONE = (
    *(
        "n",
        "0",
        "nullptr",
        "a.b",
        "a->b.c",
        "&p",
        "*p",
        "n * 4 + 1",
        "(n)",
        "(size_t)n",
        "(size_t)(n)",
    ),
    *("(void**)&p", "sizeof(float)", "n * sizeof(float)", "static_cast<int>(n)", "a::b", "1 << 20"),
    *("n << 2", "a < b", "a ? b : c", "'c'", '"text"', "1'000", "0x1p-3", "float(n)", "!a && b"),
    *("reinterpret_cast<char*>(p)", "(std::size_t)(n)", "(const void*)(p)", "a <= b", "a == b"),
)


def calls(rules: Rules) -> Iterator[tuple[str, int, str]]:
    """Each call that the rules translate: its name, how many arguments it has, and the template."""
    for name, _ in rules.names():
        answer = rules.identifier(name)
        if isinstance(answer, Called):
            for count, template in answer.templates.items():
                yield name, count, template


def changed(template: str, count: int) -> list[int]:
    """The arguments that a template drops, or names more than once."""
    return [number for number in range(count) if template.count(f"{{{number}}}") != 1]


class FindingTest(parameterized.TestCase):
    @parameterized.parameters(*EFFECTS)
    def test_effects(self, source: str) -> None:
        tokens = tokenize(source)
        opaque = {i for i, token in enumerate(tokens) if token.spelling == "EFFECT"}
        self.assertNotEmpty(effects(tokens, 0, len(tokens), opaque))

    @parameterized.parameters(*NONE)
    def test_none(self, source: str) -> None:
        tokens = tokenize(source)
        self.assertEmpty(effects(tokens, 0, len(tokens)))


class EveryRuleTest(parameterized.TestCase):
    """All rules of all platforms, those that drop an argument or name it twice among them."""

    @parameterized.parameters(*sorted(PLATFORMS))
    def test_effects_are_kept_or_reported(self, platform: str) -> None:
        rules = PLATFORMS[platform]
        for name, count, template in calls(rules):
            for number in changed(template, count):
                for effect in EFFECTS:
                    values = [f"v{i}" for i in range(count)]
                    values[number] = effect
                    call = f"{name}({', '.join(values)})"
                    with self.subTest(call):
                        source = f"#define EFFECT next()\nuse({call});\n#define D {call}\n"
                        translation = translate(source, rules)
                        left = translate(f"{effect};", rules).text.removesuffix(";")
                        if name in testing.words(translation.text):
                            self.assertIn(name, [f.name for f in translation.findings])
                        else:
                            self.assertEqual(testing.times(translation.text, left), 2, translation)

    def test_there_are_such_rules(self) -> None:
        found = {
            platform: sum(len(changed(template, count)) for _, count, template in calls(rules))
            for platform, rules in PLATFORMS.items()
        }
        self.assertGreaterEqual(found["npu"], 6, found)
        self.assertGreaterEqual(found["mlu"], 2, found)

    @parameterized.parameters(*sorted(PLATFORMS))
    def test_arguments_are_evaluated_once(self, platform: str) -> None:
        """A compiler's word: each call of a rule runs, with arguments that count."""
        program = _program(PLATFORMS[platform])
        compiler = shutil.which("g++") or shutil.which("c++") or shutil.which("g++-13")
        assert compiler is not None, "this test needs a C++ compiler"
        folder = pathlib.Path(self.create_tempdir().full_path)
        (folder / "calls.cpp").write_text(program, encoding="utf-8")
        command = [compiler, "-std=c++17", "-fpermissive", "-w", "-o", "calls", "calls.cpp"]
        built = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
        self.assertEqual(built.returncode, 0, f"{built.stderr}\n{program}")
        done = subprocess.run(["./calls"], cwd=folder, capture_output=True, text=True, check=False)
        self.assertEqual((done.returncode, done.stdout), (0, "done\n"))


class MadeUpTest(parameterized.TestCase):
    """Templates that no platform has."""

    rules = testing.rules(
        """
        [sources.launches]
        2 = "run({kernel}, {1}{arguments})"
        3 = "run({kernel}, {0}, {0}, {1}{arguments})"
        [sources.families.runtime.calls]
        cudaFree = { 3 = "f()", 2 = "f({0}, {0}, {1}, {1})", 1 = "((void)0)" }
        """
    )

    @parameterized.parameters(
        ("cudaFree(a(), b, c())", "((void)(a()), (void)(c()), f())"),
        ("cudaFree(a, b, c)", "f()"),
        (
            "cudaFree(a(), b++)",
            (
                "[&](auto&& argument_1, auto&& argument_2) { return f(argument_1, argument_1, "
                "argument_2, argument_2); }(a(), b++)"
            ),
        ),
        (
            "cudaFree(a(), b)",
            "[&](auto&& argument_1) { return f(argument_1, argument_1, b, b); }(a())",
        ),
        # No name may follow the global namespace's colons.
        ("x = ::cudaFree(a());", "x = ((void)(a()), ((void)0));"),
        (
            "x = ::cudaFree(a, b());",
            "x = [&](auto&& argument_2) { return f(a, a, argument_2, argument_2); }(b());",
        ),
        ("k<<<g(), b>>>(a)", "((void)(g()), run(k, b, a))"),
        (
            "k<<<g(), b, 0>>>(a++)",
            "[&](auto&& argument_1) { return run(k, argument_1, argument_1, b, a++); }(g())",
        ),
        ("k<<<f<int, char>(g), b>>>(a)", "((void)(f<int, char>(g)), run(k, b, a))"),
    )
    def test_templates(self, source: str, expected: str) -> None:
        translation = translate(source, self.rules)
        self.assertEqual(translation.text, expected)
        self.assertEmpty(translation.findings)

    @parameterized.parameters("{a()}", "{}", "{ a++ }")
    def test_what_cannot_be_moved_is_reported(self, argument: str) -> None:
        source = f"cudaFree({argument}, b, c)"
        translation = translate(source, self.rules)
        self.assertEqual(translation.text, source)
        self.assertEqual([f.severity for f in translation.findings], ["unsupported"])
        self.assertIn("argument 1 is evaluated never", translation.findings[0].reason)

    def test_names_that_are_dropped_are_reported(self) -> None:
        translation = translate("cudaFree(cudaSuccess, sizeof(cudaEvent_t), 1)", self.rules)
        self.assertEqual(translation.text, "f()")
        self.assertSameElements(
            [f.name for f in translation.findings], ["cudaSuccess", "cudaEvent_t"]
        )


def _program(rules: Rules) -> str:
    """A C++ program with each call of the rules; it prints what was not evaluated once."""
    functions: set[str] = set()
    values: set[str] = set()
    body = ""
    for line, (name, count, template) in enumerate(calls(rules)):
        arguments = []
        for number in range(count):
            cast = re.search(rf"const_cast<(\w+)\*>\(\{{{number}\}}\)", template)
            arguments.append(f"counted<{cast[1] if cast else 'void'}>({number})")
        translation = translate(f"{name}({', '.join(arguments)});", rules)
        assert not translation.findings, translation
        body += f"  begin();\n  {translation.text}\n  check({line}, {count});\n"
        plain = re.sub(r"\w+_cast<[^>]*>+|\{\d+\}", "", template)
        called = set(re.findall(r"\b([A-Za-z_]\w+)\(", plain))
        functions |= called
        values |= set(re.findall(r"\b[A-Za-z_]\w+\b", plain)) - called - {"nullptr", "void"}
    declared = "".join(
        f"template <class... A> int {name}(A&&...) {{ return 0; }}\n" for name in sorted(functions)
    )
    declared += "".join(f"enum {{ {name} }};\n" for name in sorted(values))
    return (
        "#include <cstdint>\n#include <cstdio>\n"
        "static int counts[16]; static bool wrong;\n"
        "template <class T> T*& counted(int n) { static T* p; ++counts[n]; return p; }\n"
        "void begin() { for (int& count : counts) count = 0; }\n"
        "void check(int line, int n) {\n"
        "  for (int i = 0; i < n; ++i)\n"
        '    if (counts[i] != 1) { wrong = true; printf("rule %d: %d: %d\\n", line, i, counts[i]); }\n'
        "}\n" + declared + f'int main() {{\n{body}  puts("done");\n  return wrong;\n}}\n'
    )


if __name__ == "__main__":
    absltest.main()
