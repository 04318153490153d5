"""Architectures in the syntax of rules_cuda, and what nvcc is told of them (nvcc's manual, "GPU Compilation")."""

def _number(arch):
    kind, _, number = arch.partition("_")
    digits = number.rstrip("abcdefghijklmnopqrstuvwxyz")
    if kind not in ("compute", "lto", "sm") or not digits.isdigit():
        fail("%r is no CUDA architecture: write compute_NN, sm_NN or lto_NN." % arch)
    return int(digits), number

def parse_archs(specs):
    """Parses architectures.

    Args:
        specs: string, specs separated by `;`, each `compute_NN:` (optional: the least of the list) and a list of
            `sm_NN`, `lto_NN` and `compute_NN`, separated by commas; "" for nvcc's default.

    Returns:
        list of struct(stage1, stage2): the number of a virtual architecture, and the list's entries.
    """
    parsed = []
    for spec in specs.split(";"):
        if not spec.strip():
            continue
        virtual, colon, archs = spec.strip().rpartition(":")
        stage2 = [arch.strip() for arch in archs.split(",")]
        stage1 = _number(virtual)[1] if colon else sorted([_number(arch) for arch in stage2])[0][1]
        for arch in stage2:
            _number(arch)
        parsed.append(struct(stage1 = stage1, stage2 = stage2))
    return parsed

def gencode(arch_specs):
    """Returns nvcc's options for what parse_archs returned."""
    return [
        word
        for spec in arch_specs
        for arch in spec.stage2
        for word in ["-gencode", "arch=compute_%s,code=%s" % (spec.stage1, arch)]
    ]
