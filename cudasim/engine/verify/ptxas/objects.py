"""Draws instructions on textures and surfaces: objects, coordinates, what follows them."""

from __future__ import annotations

from cudasim.engine.verify.ptxas.drawing import Draw

# Values that coordinates have, and the number of a layer in front of them.
_SIZES = {"1d": (1, 0), "2d": (2, 0), "3d": (4, 0), "a1d": (1, 1), "a2d": (3, 1)}
_TEXTURE_SIZES = {**_SIZES, "cube": (4, 0), "acube": (3, 1)}
_REGISTERS = {
    "f32": ["%f0", "%f1", "%f2", "%r3"],
    "s32": ["%s1", "%s2", "%r1", "%u2"],
    "u32": ["%u1", "%u3", "%r2"],
    "b32": ["%r1", "%r2", "%f1"],
    "b64": ["%rd2", "%rd3", "%fd1"],
    "b16": ["%h1", "%h2"],
    "b8": ["%h1", "%r1", "%rd1"],
    "u64": ["%rd2", "%rd3"],
    "s64": ["%rd2", "%rd3"],
}
_OTHERS = ["%h1", "%rd1", "_", "nothing", "g", "[g]", "%fd1", "%f9"]


def _list(draw: Draw, kind: str, count: int) -> str:
    """So many registers in braces."""
    if draw.is_odd():
        count = draw.random.choice([1, 2, 3, 4])
    one = draw.of(*_REGISTERS[kind])
    values = [draw.usually([one, one, draw.of(*_REGISTERS[kind])], _OTHERS) for _ in range(count)]
    return "{" + ", ".join(values) + "}"


def _object(draw: Draw, sizes: dict[str, tuple[int, int]], geometry: str, kind: str) -> str:
    """The operand with the object and its coordinates."""
    count, layer = sizes.get(geometry, (2, 0))
    coordinates = _list(draw, kind, count)
    if layer:
        coordinates = (
            "{" + draw.usually(["%r1", "%u1", "%s1"], ["%f1", "%h1"]) + ", " + coordinates[1:]
        )
    elif count == 1 and draw.random.random() < 0.2:
        coordinates = draw.usually(_REGISTERS[kind], _OTHERS)
    name = draw.usually(["%rd1", "%rd2"], ["%r1", "%fd1", "g", "h", "%rd1+8", "5", "kp"])
    return draw.usually(
        [f"[{name}, {coordinates}]"] * 8,
        [f"[{name}]", f"{name}, {coordinates}", f"[{coordinates}]"],
    )


def texture(draw: Draw) -> str:
    """tex and tld4."""
    geometry = draw.usually(list(_TEXTURE_SIZES), ["4x", "acube2"])
    gathers = draw.random.random() < 0.2
    if gathers:
        geometry = draw.usually(["2d", "a2d", "cube", "acube"], ["1d", "3d"])
    result = draw.usually(["u32", "s32", "f32"], ["b32", "f64", "u16"])
    registers = {"f32": "b32", "s32": "s32"}.get(result, "u32")
    mode = "" if gathers else draw.of("", "", ".base", ".level", ".grad")
    whole = (
        not gathers
        and mode in ("", ".base")
        and "cube" not in geometry
        and draw.random.random() < 0.3
    )
    coordinate = draw.usually(["s32" if whole else "f32"], ["s32", "u32", "f16"])
    opcode = draw.usually(["tld4.r", "tld4.a"], ["tld4.x", "tld4"]) if gathers else f"tex{mode}"
    predicate = draw.usually(["", "", "|%p1"], ["|_", "|%r1", "|"])
    text = f"{opcode}.{geometry}.{draw.usually(['v4'], ['v2', 'v3'])}.{result}.{coordinate} "
    text += _list(draw, registers, 4) + predicate + ", "
    text += _object(draw, _TEXTURE_SIZES, geometry, "s32" if whole else "f32")
    size = {"1d": 1, "a1d": 1, "2d": 2, "a2d": 2}.get(geometry, 4)
    if mode == ".level":
        text += f", {draw.usually(['%f1', '%r2', '1.5'], ['%h1', '%rd1', '[g]'])}"
    elif mode == ".grad":
        text += f", {_list(draw, 'f32', size)}, {_list(draw, 'f32', size)}"
    if "cube" not in geometry and draw.random.random() < 0.3:
        text += f", {_list(draw, 's32', size)}"
    if not whole and geometry != "3d" and draw.random.random() < 0.2:
        text += f", {draw.usually(['%f1', '0.5'], ['%h1', '%rd1', '%p1'])}"
    return text + ";"


def surface(draw: Draw) -> str:
    """suld, sust and sured."""
    geometry = draw.usually(list(_SIZES), ["cube", "4x"])
    outside = draw.usually([".trap", ".clamp", ".zero"], ["", ".wrap"])
    form = draw.random.randrange(4)
    if form == 3:
        geometry = draw.usually(["1d", "2d", "3d"], ["a1d"])
        name, kinds = draw.random.choice(
            [("add", "u32 s32 u64"), ("min", "u32 s32 u64 s64"), ("and", "b32"), ("or", "b32")]
        )
        kind = draw.usually(kinds.split(), ["f32", "b16", "s64", "b32"])
        value = draw.usually(_REGISTERS.get(kind, ["%r1"]), ["%h1", "{%r1}", "_"])
        if kind == "b32":
            value = "%r1"
        return f"sured.b.{name}.{geometry}.{kind}{outside} {_object(draw, _SIZES, geometry, 's32')}, {value};"
    kind = draw.usually(["b8", "b16", "b32", "b64"], ["u32", "f32", "b128"])
    count = draw.random.choice([1, 2, 2 if kind == "b64" else 4])
    values = _list(draw, kind if kind in _REGISTERS else "b32", count)
    vector = "" if count == 1 else f".v{count}"
    target = _object(draw, _SIZES, geometry, "s32")
    if form == 2 and kind == "b32":
        return f"sust.p.{geometry}{vector}.b32{outside} {target}, {values};"
    if form == 1:
        cache = draw.usually(["", "", ".cg", ".cs"], [".wb", ".foo"])
        return f"suld.b.{geometry}{cache}{vector}.{kind}{outside} {values}, {target};"
    cache = draw.usually(["", "", ".wb", ".wt"], [".cv", ".foo"])
    return f"sust.b.{geometry}{cache}{vector}.{kind}{outside} {target}, {values};"
