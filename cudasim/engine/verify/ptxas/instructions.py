"""Draws instructions: operands of all kinds, at places where they belong and where not."""

from __future__ import annotations

from cudasim.engine.verify.ptxas.drawing import Draw

INTEGERS = ["u16", "u32", "u64", "s16", "s32", "s64"]
BITS = ["b16", "b32", "b64"]
FLOATS = ["f32", "f64"]
_REGISTERS = {
    "16": ["%h0", "%h1", "%h2"],
    "32": ["%r0", "%r1", "%u1", "%s2", "%r5"],
    "64": ["%rd0", "%rd1", "%rd5"],
    "f32": ["%f0", "%f1", "%v.x", "%v.w", "%v.b"],
    "f64": ["%fd0", "%fd1"],
    "pred": ["%p0", "%p1"],
    "b32": ["%r0", "%f1", "%u3", "%w0.x", "%w1.y", "%v.y"],
    "b64": ["%rd2", "%fd2"],
    "8": ["%h0", "%r1", "%rd1"],
}
_OTHERS = [
    "%r1", "%rd1", "%f1", "%fd1", "%h1", "%p1", "!%p1", "-%r1", "_", "%tid.x", "%tid", "%laneid", "%clock64", "5", "-1",
    "1.5", "0f3F800000", "0d3FF0000000000000", "g", "g+4", "g[1]", "s", "kp", "st", "plain", "[g]", "[%rd1]", "{%r1}",
    "{%r1, %r2}", "%v", "%w1", "%v.x", "%v.q", "%r9", "nothing", "WARP_SZ", "(5)", "1+2", "%r1+4", "%h3", "k", "",
]  # fmt: skip


def _registers(kind: str) -> list[str]:
    return _REGISTERS.get(kind) or _REGISTERS[kind[1:]]


def register(draw: Draw, kind: str) -> str:
    """A register of a type, or something else."""
    return draw.usually(_registers(kind), _OTHERS)


def value(draw: Draw, kind: str) -> str:
    """A register or constant of a type, or something else."""
    if kind == "pred":
        return draw.usually(["%p0", "%p1", "!%p2", "1", "0"], _OTHERS)
    if kind in FLOATS:
        return draw.usually(
            [*_registers(kind), "1.0", "-0.5", "0f3F800000", "0d4000000000000000"], _OTHERS
        )
    return draw.usually(
        [*_registers(kind), *_registers(kind), "5", "-3", "0x1F", "~1", "2*3", "WARP_SZ", "9U"],
        _OTHERS,
    )


_NAMES = {
    "global": ["g", "h", "gv", "g2"],
    "const": ["c"],
    "shared": ["s", "sh", "dyn"],
    "local": ["loc"],
    "param": ["ka", "kp"],
}
_SPACES = ["global", "global", "shared", "local", "const", "param", ""]


def address(draw: Draw, space: str) -> str:
    """An address in a space, in one of its forms."""
    name = draw.usually(
        _NAMES.get(space, ["g", "s"]), ["g", "s", "loc", "c", "kp", "st", "plain", "nothing", "%r1"]
    )
    base = draw.usually(
        ["%rd1", "%rd2", *(["%r1"] if space in ("shared", "local", "param") else [])],
        ["%r2", "%f1", "%h1"],
    )
    forms = [
        f"[{name}]", f"[{name}+4]", f"[{name}+-4]", f"[{base}]", f"[{base}+8]", f"[{base}+-8]", f"[{base}+2*4]",
        f"{name}[1]", f"{name}[%r1]", f"{name}[%r2+1]", f"{name}[2*1]", f"{name}[%rd1]", f"{name}[%h1+-1]",
    ]  # fmt: skip
    odd = [
        f"[{name}-4]", f"[{base}-4]", "[16]", name, f"{name}+4", f"[{name}[1]]", f"[{base}+%r1]", f"{name}[1][2]",
        f"{name}[]", f"{name}[1.0]", f"{name}[%f1]", f"[{base}, 4]", "[]", f"[4+{base}]", f"{name}[-1]", f"[{base}+1.0]",
        f"[-{base}]", f"{{[{base}]}}", f"{name}[1]+4", f"[{name}+4U]", "[%tid.x]", "[_]",
    ]  # fmt: skip
    return draw.usually(forms, odd)


def vector(draw: Draw, kind: str, count: int, *, written: bool) -> str:
    """Values in braces."""
    if kind == "f32" and count == 4 and draw.random.random() < 0.3:
        return "%v"
    if kind in ("b32",) and count == 2 and draw.random.random() < 0.3:
        return "%w1"
    if draw.is_odd():
        count += draw.random.choice([-1, 1])
    one = register if written or draw.random.random() < 0.7 else value
    values = [one(draw, kind) for _ in range(count)]
    if draw.random.random() < 0.1:
        values[0] = "_"
    return "{" + ", ".join(values) + "}"


def _memory_type(draw: Draw) -> str:
    return draw.usually(
        [*INTEGERS, *BITS, *FLOATS, "u8", "s8", "b8"], ["f16", "pred", "u128", "bf16", "f8", ""]
    )


def load(draw: Draw) -> str:
    """ld and its kin."""
    space = draw.of(*_SPACES)
    kind = _memory_type(draw)
    key = kind if kind in [*INTEGERS, *BITS, *FLOATS] else "8" if kind.endswith("8") else "32"
    modifiers = draw.usually(
        ["", "", "", ".volatile", ".relaxed.gpu", ".acquire.cta", ".ca", ".cg"],
        [".nc", ".wt", ".foo"],
    )
    dot = f".{space}" if space else ""
    count = draw.random.choice([1, 1, 1, 2, 4])
    if count == 4 and key in ("u64", "s64", "b64", "f64"):
        count = 2
    if count == 1:
        return f"ld{modifiers}{dot}.{kind} {register(draw, key)}, {address(draw, space)};"
    target = vector(draw, key, count, written=True)
    return f"ld{modifiers}{dot}.v{count}.{kind} {target}, {address(draw, space)};"


def store(draw: Draw) -> str:
    """st."""
    space = draw.usually(["global", "global", "shared", "local", ""], ["const", "param"])
    kind = _memory_type(draw)
    key = kind if kind in [*INTEGERS, *BITS, *FLOATS] else "8" if kind.endswith("8") else "32"
    modifiers = draw.usually(
        ["", "", "", ".volatile", ".relaxed.gpu", ".release.sys", ".wb"], [".nc", ".acquire.cta"]
    )
    dot = f".{space}" if space else ""
    if draw.random.random() < 0.7:
        return f"st{modifiers}{dot}.{kind} {address(draw, space)}, {value(draw, key)};"
    count = 2 if key.endswith("64") else draw.random.choice([2, 4])
    return f"st{modifiers}{dot}.v{count}.{kind} {address(draw, space)}, {vector(draw, key, count, written=False)};"


def move(draw: Draw) -> str:
    """mov: registers, constants, special registers, addresses, packing, vectors."""
    form = draw.random.randrange(7)
    if form == 0:
        special = draw.usually(
            [
                "%tid.x",
                "%ctaid.y",
                "%ntid.w",
                "%laneid",
                "%envreg7",
                "%pm3",
                "%clock",
                "%lanemask_lt",
                "%smid",
            ],
            [
                "%tid",
                "%tid.q",
                "%envreg32",
                "%pm8",
                "%clock64",
                "%pm1_64",
                "%gridid",
                "%laneid.x",
                "%nothing",
            ],
        )
        kind = draw.usually(["u32", "b32", "s32"], ["u16", "u64", "f32"])
        return f"mov.{kind} {register(draw, kind)}, {special};"
    if form == 1:
        name = draw.usually(
            [
                "g",
                "h",
                "c",
                "plain",
                "kp",
                "ka",
                "g+4",
                "g+-4",
                "g[1]",
                "g[%r1]",
                "g2[2]",
                "gv[1]",
                "c[%r1+1]",
                "ka[1]",
            ],
            [
                "s",
                "s[1]",
                "st",
                "g-4",
                "plain+4",
                "h[0]",
                "g[9]",
                "g[1][1]",
                "4+g",
                "[g]",
                "k",
                "loc",
                "dyn",
                "g2[1][2]",
            ],
        )
        kind = draw.usually(["u64", "b64", "s64"], ["u32", "f64", "b16", "u16"])
        return f"mov.{kind} {register(draw, kind)}, {name};"
    if form == 2:
        name = draw.usually(
            ["s", "sh", "dyn", "loc", "s[2]", "sh[%r1]", "s+4", "loc[1]", "ka", "ka[%r1]"],
            ["g", "c", "st", "plain"],
        )
        return (
            f"mov.{draw.usually(['u32', 'b32'], ['u16', 'f32'])} {register(draw, 'b32')}, {name};"
        )
    if form == 3:
        wide, count, half = draw.random.choice(
            [("b64", 2, "b32"), ("b32", 2, "b16"), ("b64", 4, "b16")]
        )
        if draw.random.random() < 0.5:
            return f"mov.{wide} {vector(draw, half, count, written=True)}, {register(draw, wide)};"
        return f"mov.{wide} {register(draw, wide)}, {vector(draw, half, count, written=False)};"
    if form == 4:
        count = draw.random.choice([2, 4])
        kind = draw.usually(["u32", "b32", "f32", "s32"], ["b64", "u16", "f64", "b8", "pred", ""])
        key = kind if kind not in ("b8", "") else "b16"
        source = vector(draw, key, count, written=False)
        if count == 4 and kind[1:] == "32" and draw.random.random() < 0.4:
            source = draw.usually(
                ["%tid", "%ntid", "%ctaid", "%nctaid"], ["%clock", "%tid.x", "%laneid", "%tidy"]
            )
        return f"mov.v{count}.{kind} {vector(draw, key, count, written=True)}, {source};"
    if form == 5:
        return f"mov.pred {register(draw, 'pred')}, {value(draw, 'pred')};"
    kind = draw.of(*INTEGERS, *BITS, *FLOATS)
    return f"mov.{kind} {register(draw, kind)}, {value(draw, kind)};"


def arithmetic(draw: Draw) -> str:
    """Two or three operands of one type."""
    if draw.random.random() < 0.4:
        kind = draw.of(*FLOATS)
        form = draw.of(
            "add",
            "sub",
            "mul",
            "min",
            "max",
            "fma.rn",
            "add.rn",
            "mul.rz",
            "div.rn",
            "neg",
            "abs",
            "sqrt.rn",
        )
        if kind == "f32":
            form = draw.usually(
                [form], ["add.ftz", "mul.sat", "rcp.approx", "sin.approx", "add.foo", "and", "shl"]
            )
    else:
        kind = draw.of(*INTEGERS)
        form = draw.usually(
            ["add", "sub", "mul.lo", "mul.hi", "min", "max", "div", "rem", "mad.lo", "neg", "abs"],
            ["add.cc", "add.sat", "mul", "mul.wide", "and", "shl", "fma.rn", "popc", "sad", "addc"],
        )
        if draw.random.random() < 0.2:
            kind = draw.of(*BITS)
            form = draw.of("and", "or", "xor", "not", "cnot", "shl", "popc", "brev", "clz", "lop3")
    count = {
        "mad.lo": 3,
        "fma.rn": 3,
        "neg": 1,
        "abs": 1,
        "not": 1,
        "cnot": 1,
        "popc": 1,
        "brev": 1,
        "clz": 1,
    }.get(form, 2)
    count = 1 if form.startswith(("sqrt", "rcp", "sin")) else count
    operands = [register(draw, kind), *(value(draw, kind) for _ in range(count))]
    if draw.is_odd():
        operands = operands[:-1] if draw.random.random() < 0.5 else [*operands, "%r1"]
    return f"{form}.{kind} {', '.join(operands)};"


def comparison(draw: Draw) -> str:
    """setp, set, selp, slct and logic of predicates."""
    kind = draw.of(*INTEGERS, *FLOATS)
    form = draw.random.randrange(5)
    if form == 0:
        target = draw.usually(
            ["%p0", "%p0|%p1", "_|%p1", "%p1|_", "_"],
            ["_|_", "%r1", "%p0|%r1", "!%p0", "%p0|%p1|%p2", "%p0|"],
        )
        relation = draw.usually(["eq", "ne", "lt", "ge"], ["lo", "hs", "equ", "num", "foo"])
        combined = draw.of("", "", ".and", ".or", ".xor", ".nand")
        extra = f", {value(draw, 'pred')}" if combined else ""
        return f"setp.{relation}{combined}.{kind} {target}, {value(draw, kind)}, {value(draw, kind)}{extra};"
    if form == 1:
        return f"set.lt.{draw.of('u32', 's32', 'f32')}.{kind} {register(draw, 'b32')}, {value(draw, kind)}, {value(draw, kind)};"
    if form == 2:
        return f"selp.{kind} {register(draw, kind)}, {value(draw, kind)}, {value(draw, kind)}, {value(draw, 'pred')};"
    if form == 3:
        kind = draw.usually([*INTEGERS, *BITS, *FLOATS], ["f16", "b8"])
        by = draw.usually(["s32", "f32"], ["u32", "s64", "f64"])
        ftz = draw.maybe(".ftz")
        key = kind if kind not in ("f16", "b8") else "b16"
        return f"slct{ftz}.{kind}.{by} {register(draw, key)}, {value(draw, key)}, {value(draw, key)}, {value(draw, by)};"
    return f"{draw.of('and', 'or', 'xor')}.pred {register(draw, 'pred')}, {value(draw, 'pred')}, {value(draw, 'pred')};"


def conversion(draw: Draw) -> str:
    """cvt and cvta."""
    if draw.random.random() < 0.4:
        space = draw.usually(
            ["global", "shared", "local", "const", "param"], ["reg", "generic", ""]
        )
        to = draw.maybe(".to")
        name = draw.usually(
            ["%rd1", *([] if to else [*_NAMES.get(space, ["g"]), "g[1]", "s[%r1]", "g+4"])], _OTHERS
        )
        return f"cvta{to}.{space}.{draw.usually(['u64'], ['u32', 's64', 'b64'])} {register(draw, 'u64')}, {name};"
    to, source = draw.of(*INTEGERS, *FLOATS), draw.of(*INTEGERS, *FLOATS)
    rounding = ""
    if to in FLOATS and (source not in FLOATS or (to, source) == ("f32", "f64")):
        rounding = draw.usually([".rn", ".rz"], ["", ".rni"])
    elif source in FLOATS and to not in FLOATS:
        rounding = draw.usually([".rzi", ".rni"], ["", ".rn"])
    sat = draw.maybe(".sat", 0.1)
    return f"cvt{rounding}{sat}.{to}.{source} {register(draw, to)}, {value(draw, source)};"


def warp(draw: Draw) -> str:
    """Instructions of a warp or block, and atomics."""
    members = draw.usually(["-1", "0xffffffff", "%r1"], ["%rd1", "1.0", "_"])
    form = draw.random.randrange(7)
    if form == 0:
        target = draw.usually(["%r0", "%r0|%p1", "%r0|_"], ["_", "_|%p1", "%p1", "%r0|%r1"])
        mode = draw.usually(["up", "down", "bfly", "idx"], ["left", ""])
        return f"shfl.sync.{mode}.b32 {target}, {value(draw, 'b32')}, {value(draw, 'b32')}, {value(draw, 'b32')}, {members};"
    if form == 1:
        mode = draw.usually(
            ["all.pred", "any.pred", "uni.pred", "ballot.b32"],
            ["ballot.pred", "all.b32", "ballot.u32"],
        )
        target = register(draw, "b32" if "b32" in mode else "pred")
        return f"vote.sync.{mode} {target}, {value(draw, 'pred')}, {members};"
    if form == 2:
        mode = draw.of("any", "all")
        target = (
            draw.usually(["%r0", "%r1"], ["_", "%p1"])
            if mode == "any"
            else draw.usually(["%r0|%p1", "_|%p1", "%r0|_", "%r1", "_"], ["_|_", "%p1|%r1"])
        )
        kind = draw.usually(["b32", "b64"], ["u32", "b16"])
        return f"match.{mode}.sync.{kind} {target}, {value(draw, kind if kind[1:] in ('32', '64') else 'b32')}, {members};"
    if form == 3:
        numbers = draw.usually(
            ["0", "1, 64", "%r1", "%r1, %r2", "15, 32"],
            ["16", "0, 33", "-1", "1.0", "0, 0, 0", "%rd1", ""],
        )
        return f"{draw.usually(['bar.sync', 'barrier.sync', 'bar.arrive', 'bar.red.popc.u32 %r1,'], ['bar', 'bar.wait'])} {numbers};"
    if form == 4:
        kind, name = draw.random.choice(
            [
                ("u32", "add"),
                ("s32", "max"),
                ("b32", "exch"),
                ("u64", "add"),
                ("b32", "and"),
                ("f32", "add"),
            ]
        )
        space = draw.usually(["global", "shared", ""], ["local", "const"])
        dot = f".{space}" if space else ""
        target = draw.usually([register(draw, kind)], ["_", "%p1"])
        base = draw.usually(["[g]", "[%rd1]", "[%rd1+4]", "[s]"], ["g[1]", "[16]", "g", "[%f1]"])
        return f"atom{dot}.{name}.{kind} {target}, {base}, {value(draw, kind)};"
    if form == 5:
        return f"red.global.{draw.usually(['add.u32', 'or.b32', 'add.f32'], ['add.b32', 'exch.b32'])} {draw.usually(['[g]', '[%rd1]'], ['g[1]', '%r1'])}, {value(draw, 'b32')};"
    return draw.usually(
        [
            "membar.gl;",
            "fence.sc.gpu;",
            "activemask.b32 %r1;",
            "nanosleep.u32 5;",
            "exit;",
            "ret;",
            "trap;",
            "brkpt;",
            "ret.uni;",
        ],
        [
            "membar;",
            "exit.uni;",
            "ret 5;",
            "trap.u32;",
            "nanosleep 5;",
            "activemask.b32 _;",
            "fence;",
            "ret.foo;",
            "exit 1;",
        ],
    )
