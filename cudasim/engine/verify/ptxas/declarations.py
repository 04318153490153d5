"""Draws declarations of a module: variables with initial values, functions, kernels, directives."""

from __future__ import annotations

from cudasim.engine.verify.ptxas.drawing import Draw, Form

_TYPES = [
    "u8",
    "s8",
    "b8",
    "u16",
    "s16",
    "b16",
    "u32",
    "s32",
    "b32",
    "u64",
    "s64",
    "b64",
    "f32",
    "f64",
]
_ODD_TYPES = ["f16", "f16x2", "bf16", "tf32", "e4m3", "pred", "b128", "b1", "foo", ""]


def _constant(draw: Draw, kind: str) -> str:
    reals = ["1.0", "0f3F800000", "-2.5", "0d3FF0000000000000", "1.0+0.5"]
    integers = ["5", "-1", "0x1F", "1+2", "7U", "WARP_SZ", "(3)", "1 ? 2 : 3", "-5 % 3"]
    odd = [
        "1e400",
        "g",
        "nothing",
        "1/0",
        "_",
        "",
        "5 5",
        "%tid",
        "1.0+1",
        "-0f3F800000",
        "plain",
        "s",
        "{1}",
        "08",
        "3u",
    ]
    return draw.usually(reals if kind[:1] == "f" else integers, [*reals, *integers, *odd])


def _list(draw: Draw, kind: str, count: int) -> str:
    count += draw.random.choice([-1, 1]) if draw.is_odd() else 0
    return (
        "{"
        + ", ".join(_constant(draw, kind) for _ in range(count))
        + draw.usually([""], [","])
        + "}"
    )


def variable(draw: Draw) -> str:
    """One or several variables."""
    linkage = draw.usually(
        ["", "", ".visible ", ".weak "],
        [".extern ", ".common ", ".visible .visible ", ".extern .visible ", ".foo "],
    )
    space = draw.usually(["global", "global", "const"], ["shared", "local", "param", "reg", "foo"])
    align = draw.usually(
        ["", "", ".align 8 ", ".align 16 "],
        [
            ".align 3 ",
            ".align 0 ",
            ".align 16 .align 8 ",
            ".attribute(.managed) ",
            ".attribute(.foo) ",
        ],
    )
    size, per = draw.random.choice([("", 0), ("", 0), ("", 0), (".v2 ", 2), (".v4 ", 4)])
    kind = draw.usually(_TYPES, _ODD_TYPES)
    dimensions = draw.usually(
        ["", "", "[3]", "[2][2]", "[WARP_SZ]"],
        ["[]", "[0]", "[1+1]", "[-1]", "[][2]", "[2][]", "[3U]", "[1.0]", "[n]", "["],
    )
    value = ""
    if draw.random.random() < 0.6:
        if dimensions in ("[3]", "[]", "[3U]"):
            value = _list(draw, kind, 3)
            if per:
                value = "{" + ", ".join(_list(draw, kind, per) for _ in range(2)) + "}"
        elif dimensions in ("[2][2]", "[][2]") and not per:
            value = "{" + _list(draw, kind, 2) + ", " + _list(draw, kind, 2) + "}"
        elif per and not dimensions:
            value = _list(draw, kind, per)
        elif not dimensions:
            value = _constant(draw, kind)
        value = draw.usually([value], ["{}", "{{1}}", "5", "{1, 2}", "{{1, 2}, 3}"])
    name = draw.usually(["x"], ["g", "plain", "5", "_", "%tid", "WARP_SZ", "%x", "$x", "x.y", ""])
    order = f"{align}{size}.{kind}"
    if draw.is_odd() and size:
        order = draw.of(f"{size}{align}.{kind}", f".{kind} {size}", f"{align}.{kind} {size}")
    text = f"{linkage}.{space} {order} {name}{dimensions}" + (f" = {value}" if value else "")
    return text + draw.usually([";"], [", y;", ";;", "", ", ;", " z;", ", y = 5;"])


def pointer(draw: Draw) -> str:
    """A variable whose initial value is an address."""
    kind = draw.usually(["u64", "u64", "u32"], ["b64", "s64", "f64", "u8", "u16", "b32"])
    name = draw.usually(
        ["g", "h", "c", "plain"], ["s", "dyn", "k", "x", "nothing", "vprintf", "%r"]
    )
    value = draw.usually(
        [name, f"{name}+4", f"generic({name})", f"generic({name})+8", f"{name}+-4", f"{name}+2*4"],
        [
            f"{name}-4",
            f"4+{name}",
            f"generic({name}+4)",
            f"{name}[1]",
            f"-{name}",
            f"({name})",
            f"{name}*2",
            f"{name}+1.0",
        ],
    )
    if draw.random.random() < 0.3:
        kind = draw.usually(["u8", "u8", "u32", "u64"], ["b8", "s8", "f32", "u16"])
        mask = draw.usually(
            ["0xFF", "0xFF00", "0xFF00000000000000", "255"],
            ["0xF", "0xFFFF", "0", "(0xFF)", "254+1", "1.0"],
        )
        value = f"{mask}({draw.usually([name, f'generic({name})', f'{name}+4'], [value, f'{name})+(4', ''])})"
    if draw.random.random() < 0.2:
        return f".global .{kind} x[2] = {{{value}, {draw.of(value, '0', '5')}}};"
    return f".global .{kind} x = {value};"


def _parameter(draw: Draw, name: str, *, is_entry: bool) -> str:
    space = draw.usually(
        [".param"] if is_entry else [".param", ".param", ".reg"], [".reg", ".local", ".global", ""]
    )
    kind = draw.usually(["u32", "b32", "f32", "u64", "b64", "f64"], [*_TYPES, *_ODD_TYPES])
    align = draw.usually(["", "", ".align 8 "], [".align 3 ", ".v2 ", ".v4 "])
    dimensions = draw.usually(
        ["", "", "[4]"] if space == ".param" else [""],
        ["[]", "[0]", "[2][2]", "[2*2]", "[", "<4>", " = 5"],
    )
    hint = (
        draw.usually(
            [""],
            [
                " .ptr",
                " .ptr .global",
                " .ptr .align 16",
                " .ptr .shared .align 4",
                " .ptr .param",
                " .align 8",
            ],
        )
        if kind.endswith("64")
        else ""
    )
    return f"{space} {align}.{kind}{hint} {draw.usually([name], ['a', '', '_', 'f', '%a'])}{dimensions}"


def function(draw: Draw) -> str:
    """A function, perhaps with a declaration, and a kernel that calls it."""
    count = draw.random.randrange(3)
    parameters = [_parameter(draw, f"a{i}", is_entry=False) for i in range(count)]
    results = [
        _parameter(draw, f"r{i}", is_entry=False)
        for i in range(draw.random.choice([0, 0, 1, 1, 2]))
    ]
    head = f"({', '.join(results)}) f" if results else "f"
    head += draw.usually(
        [f"({', '.join(parameters)})"],
        [f"({', '.join(parameters)},)", "", " ( )"]
        if not parameters
        else [f"({' '.join(parameters)})"],
    )
    linkage = draw.usually(
        ["", "", ".visible ", ".weak "], [".extern ", ".common ", ".visible .weak "]
    )
    directive = draw.usually(
        ["", "", " .noreturn"], [" .maxntid 32", " .foo", " .maxnreg 32", ' .pragma "nounroll";']
    )
    body = draw.usually(
        [" { ret; }", " { }", " { .reg .u32 %r; mov.u32 %r, 1; ret; }"],
        [";", " { ret; };", " { ret }", " { ret; } }", "", " { { ret; }"],
    )
    before = ""
    if draw.random.random() < 0.3:
        before = (
            draw.usually([linkage], ["", ".extern ", ".visible ", ".weak "])
            + f".func {draw.usually([head], ['f()', '(.param .b32 q) f()'])}{directive};\n"
        )
    return f"{before}{linkage}.func {head}{directive}{body}"


def entry(draw: Draw) -> str:
    """A kernel with parameters and directives."""
    count = draw.random.randrange(3)
    parameters = ", ".join(_parameter(draw, f"a{i}", is_entry=True) for i in range(count))
    directives = draw.usually(
        ["", "", " .maxntid 32", " .maxntid 32, 2, 1", " .reqntid 64", " .maxntid 128 .minnctapersm 2", " .maxnreg 32", " .minnctapersm 1",
         ' .pragma "nounroll";', " .explicitcluster .reqnctapercluster 2", " .maxclusterrank 8", " .maxntid 0x20"],
        [" .maxntid 0", " .maxntid", " .maxntid 1,1,1,1", " .reqntid 32 .maxntid 32", " .noreturn", " .maxnreg 0", " .maxntid -1", " .maxntid 16+16",
         " .foo", " .maxntid 32,", " .maxclusterrank 8 .reqnctapercluster 2", " .minnctapersm 0", " .pragma 5;", " .reqntid 32.0"],
    )  # fmt: skip
    linkage = draw.usually(
        ["", ".visible ", ".weak "], [".common ", ".extern ", ".visible .visible "]
    )
    body = draw.usually(
        [" { ret; }", " { exit; }", " { }"],
        [" { ret; };", " { ret }", " ret;", " { ret; } }", " {"],
    )
    return f"{linkage}.entry k{draw.usually([f'({parameters})'], ['', '()', f'({parameters},)', f'{parameters}'])}{directives}{body}"


def directive(draw: Draw) -> str:
    """What is neither a variable nor a function."""
    return draw.usually(
        ['.file 1 "a.cu"', '.file 2 "b.cu", 5, 6', '.pragma "nounroll";', ".func a(); .func b() { ret; } .alias a, b;", ".section .debug_str { .b8 1, 2 }",
         ".extern .global .u32 x; .visible .global .u32 x = 5;", ".extern .global .u32 x[]; .visible .global .u32 x[4];", ".extern .const .u32 x[4];",
         ".extern .func f(.param .b32 a);", ".func f(); .func f() { ret; }", "// a comment", "/* a comment */", ".global .u32 x; // }", ".global .u32;"],
        ['.file "a.cu"', ".file 1 a", ".pragma nounroll;", '.pragma "nounroll"', ".alias a, b;", ".func b() { ret; } .alias a, b;", ".target sm_90", ".version 8.0",
         ".address_size 64", ";", ".section .x", ".extern .global .u32 x; .global .u32 x;", ".extern .global .u32 x; .visible .global .u64 x;", ".global .u32 x; .global .u32 x;",
         ".weak .global .u32 x; .weak .global .u32 x;", ".func f() { ret; } .func f() { ret; }", ".func f(); .func f(.param .b32 a) { ret; }", ".func f() { ret; } .global .u32 f;",
         ".extern .func f() { ret; }", ".func f(.param .b32 a); .func f(.param .u32 a) { ret; }", ".visible", "foo", "5", "}", "{", "/* open", ".entry", ".func", ".global",
         ".extern .global .u32 x[4]; .extern .global .u32 x[8];", ".func k(); .entry k() { ret; }", ".extern .func f(); .visible .func f() { ret; }", ".func (.param .b32 a, .param .b32 b) f() { ret; }",
         ".loc 1 2 3", "ret;", "@%p1 ret;", "L1:", '.file 1 "a" .file 1 "b"', ".global .u32 x = ;"],
    )  # fmt: skip


DECLARATIONS: list[Form] = [
    variable,
    variable,
    variable,
    pointer,
    function,
    function,
    entry,
    entry,
    directive,
]
