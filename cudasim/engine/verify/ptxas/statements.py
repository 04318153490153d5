"""Draws statements of a body: instructions, calls, structure, declarations."""

from __future__ import annotations

from cudasim.engine.verify.ptxas import instructions, objects
from cudasim.engine.verify.ptxas.drawing import Draw, Form
from cudasim.engine.verify.ptxas.instructions import BITS, FLOATS, INTEGERS


def call(draw: Draw) -> str:
    """call: what it passes and takes."""
    name, results, arguments = draw.random.choice(
        [
            ("plain", 0, ["32"]),
            ("both", 1, ["32"]),
            ("wide", 1, ["w", "64"]),
            ("vprintf", 0, ["64", "64"]),
            ("nothing", 0, []),
        ]
    )
    actual = {
        "32": ["st", "%r1", "%f1", "5", "-1", "1.5", "%u1", "st"],
        "64": ["pd", "%rd1", "%fd1", "7", "0d3FF0000000000000"],
        "w": ["stb"],
    }
    odd = [
        "st",
        "pd",
        "stb",
        "sta",
        "%r1",
        "%rd1",
        "%p1",
        "kp",
        "ka",
        "g",
        "loc",
        "sh",
        "_",
        "%tid.x",
        "[st]",
        "nothing",
        "%v",
    ]
    given = [draw.usually(actual[kind], odd) for kind in arguments]
    taken = [
        draw.usually(["stb"] if name == "wide" else ["st", "%r1", "%f2", "_"], odd)
        for _ in range(results)
    ]
    if draw.is_odd():
        given = [*given, "st"] if draw.random.random() < 0.5 else given[:-1]
    if draw.is_odd():
        taken = [] if taken else ["st"]
    text = f"({', '.join(taken)}), {name}" if taken else name
    if given:
        text += f", ({', '.join(given)})"
    return f"call{draw.usually(['', '.uni'], ['.foo'])} {text}{draw.usually([''], [', ()', ', proto', ', plain'])};"


def structure(draw: Draw) -> str:
    """Guards, labels, scopes, lists of targets, indirect calls."""
    inner = draw.of("mov.u32 %r1, 1;", "add.u32 %r1, %r1, 2;", "ret;")
    return draw.usually(
        [
            f"@%p1 {inner}", f"@!%p2 {inner}", "{ " + inner + " }", f"L1: {inner}", f"@%p1 bra L1; {inner} L1:",
            "bra L2; { L1: } L2:", "{ L1: bra L1; }", "{{ }}", f"L1: L2: {inner} bra.uni L1;", "L1: { bra L1; }",
            "T: .branchtargets L1, L2; L1: L2: brx.idx %r1, T;", "{ .reg .u32 %r1; mov.u32 %r1, 3; }",
            "P: .callprototype _ (.param .b32 _); call %rd1, (st), P;", "{ .param .b32 q; st.param.b32 [q], %r1; call plain, (q); }",
            "P: .callprototype (.param .b32 x) _ (.param .b32 _); call (%r1), %rd1, (%r2), P;", "C: .calltargets plain; call %rd1, (st), C;",
            "{ .local .u32 x[3]; st.local.u32 x[2], 1; }", '.pragma "nounroll";', ".loc 1 2 3", "bra L1; L1:",
        ],
        [
            f"@%r1 {inner}", f"@_ {inner}", "@%p1 { }", f"@%p1 L1: {inner}", "@%p1;", ";", f"{inner};", "{ ; }", "{", "}",
            "bra L9;", "{ L1: } bra L1;", "L1: L1:", "bra %r1;", "bra g;", "L1: bra L1, L1;", f"@!!%p1 {inner}", "T: .branchtargets;",
            "T: .branchtargets L1; brx.idx %r1, T;", "brx.idx %r1, L1; L1:", "call %rd1;", "call %rd1, (st);", "@%p1 .reg .u32 %z;",
            "P: .callprototype _ (.param .b32 _); call (%r1), %rd1, (st), P;", "P: .callprototype _ (.param .b32 _); call plain, (st), P;",
            "C: .calltargets nothing; call %rd1, (st), C;", "{ .reg .u32 %z; } mov.u32 %z, 1;", "mov.u32 %z, 1; .reg .u32 %z;",
            "foo;", "foo.u32 %r1;", "5;", "%r1;", "mov.u32 %r1, 1", ".foo;", "return;", "L1 : ret;", "call.uni k;", "@%p1 @%p2 ret;",
            ".reg .u32 g; mov.u32 g, 1;", ".reg .u32 %r1;", ".reg .u32 L1; L1: ret;", "g: ret;", "%r1: ret;", "bra plain;",
        ],
    )  # fmt: skip


def local(draw: Draw) -> str:
    """Declarations of a body."""
    if draw.random.random() < 0.5:
        kind = draw.usually(
            [*INTEGERS, *BITS, *FLOATS, "pred", "f16", "u8", "b128", "f16x2"],
            ["bf16", "e4m3", "foo", "b1", ""],
        )
        size = draw.usually(["", "", ".v2 ", ".v4 "], [".v3 ", ".v8 ", ".align 4 "])
        name = draw.usually(
            ["%z", "z", "%z<4>", "%z, %y", "%z<2>, %y<3>", "%r1<2>"],
            [
                "%r1",
                "%r",
                "5",
                "_",
                "%z<0>",
                "%z<-1>",
                "%z<2*2>",
                "%z[4]",
                "%z = 5",
                "%z,",
                "%tid",
                "%z %y",
                "%h<3>",
                "",
            ],
        )
        return f".reg {size}.{kind} {name};"
    space = draw.usually(["local", "shared", "param"], ["global", "const", "foo"])
    kind = draw.usually([*INTEGERS, *BITS, *FLOATS, "b8", "f16"], ["pred", "bf16", "foo", ""])
    align = draw.usually(
        ["", "", ".align 8 ", ".align 16 "], [".align 3 ", ".align 0 ", ".align ", ".align 4+4 "]
    )
    name = draw.usually(
        ["z", "z[4]", "z, y[2]", "%z", "$z[1]"],
        ["z[]", "z[0]", "z[-1]", "z[2*2]", "z = 5", "loc", "_", "z[4][", "z[1.0]", "g", "z[2][3]"],
    )
    return f".{space} {align}{draw.usually(['', ''], ['.v2 ', '.v4 ', '.v3 '])}.{kind} {name};"


STATEMENTS: list[Form] = [
    instructions.load,
    instructions.load,
    instructions.store,
    instructions.store,
    instructions.move,
    instructions.move,
    instructions.arithmetic,
    instructions.comparison,
    instructions.conversion,
    instructions.warp,
    objects.texture,
    objects.surface,
    call,
    structure,
    local,
]
