"""The CUDA architectures of a build, in the syntax of TORCH_CUDA_ARCH_LIST."""

# Compute capabilities that nvcc 12.4 compiles for (NVCC manual, "GPU Feature List"), and upstream's named groups.
_CAPABILITIES = ["5.0", "5.2", "5.3", "6.0", "6.1", "6.2", "7.0", "7.2", "7.5", "8.0", "8.6", "8.7", "8.9", "9.0", "9.0a"]
_NAMED = {
    "Maxwell": "5.0;5.2+PTX",
    "Maxwell+Tegra": "5.3",
    "Pascal": "6.0;6.1+PTX",
    "Pascal+Tegra": "6.2",
    "Volta": "7.0+PTX",
    "Volta+Tegra": "7.2",
    "Turing": "7.5+PTX",
    "Ampere": "8.0;8.6+PTX",
    "Ampere+Tegra": "8.7",
    "Ada": "8.9+PTX",
    "Hopper": "9.0+PTX",
}

CudaArchsInfo = provider(
    doc = "The architectures that kernels are compiled for.",
    fields = {"names": "list of strings, such as sm_80 and compute_80"},
)

def parse_archs(value):
    """Parses a list of architectures.

    Args:
        value: string, capabilities (`8.0`), capabilities with PTX (`9.0+PTX`), upstream's named groups (`Ampere`), or
            virtual architectures alone (`compute_80`: PTX only), separated by semicolons, commas or blanks.

    Returns:
        a struct with `names` (list of strings) and `error` (string, None where all of it is understood).
    """
    names = []
    words = value.replace(";", " ").replace(",", " ").split(" ")
    words = [capability for word in words for capability in _NAMED.get(word, word).split(";") if capability]
    for word in words:
        if word.startswith("compute_"):
            known = word.removeprefix("compute_") in [c.replace(".", "") for c in _CAPABILITIES]
            found = [word]
        else:
            capability = word.removesuffix("+PTX")
            known = capability in _CAPABILITIES
            number = capability.replace(".", "")
            found = ["sm_" + number] + (["compute_" + number] if word.endswith("+PTX") else [])
        if not known:
            return struct(names = [], error = ("%r is no CUDA architecture. Allowed are %s, each also with +PTX; %s; and " +
                                               "compute_NN for PTX alone; separated by semicolons.") %
                                              (word, ", ".join(_CAPABILITIES), ", ".join(_NAMED)))
        names.extend([name for name in found if name not in names])
    if not names:
        return struct(names = [], error = "no CUDA architecture is given. The default is compute_80; 9.0+PTX is for a Hopper GPU.")
    return struct(names = names, error = None)

def rules_cuda_archs(names):
    """Writes architectures as rules_cuda's --@rules_cuda//cuda:archs takes them.

    Args:
        names: list of strings, such as `sm_80` (machine code) and `compute_80` (PTX).

    Returns:
        string such as "compute_80:sm_80;compute_90:sm_90,compute_90"; each architecture has code of its own.
    """
    by_number = {}
    for name in names:
        by_number.setdefault(name.split("_")[1], []).append(name)
    return ";".join([
        archs[0] if archs == ["compute_" + number] else "compute_%s:%s" % (number, ",".join(archs))
        for number, archs in by_number.items()
    ])

def _parsed(label, value):
    parsed = parse_archs(value)
    if parsed.error:
        fail("--%s=%s: %s" % (label, value, parsed.error))
    return parsed.names

def _cuda_archs_impl(ctx):
    names = _parsed(ctx.label, ctx.build_setting_value)
    return [
        CudaArchsInfo(names = names),
        platform_common.TemplateVariableInfo({"CUDA_ARCH_NAMES": " ".join(names)}),
    ]

cuda_archs = rule(
    implementation = _cuda_archs_impl,
    build_setting = config.string(flag = True),
    doc = "A list of CUDA architectures; `$(CUDA_ARCH_NAMES)` holds their names.",
    provides = [CudaArchsInfo, platform_common.TemplateVariableInfo],
)

_SETTING = "//config:cuda_archs"

def _cuda_archs_transition_impl(settings, _attr):
    return {"@rules_cuda//cuda:archs": rules_cuda_archs(_parsed(_SETTING, settings[_SETTING]))}

cuda_archs_transition = transition(
    implementation = _cuda_archs_transition_impl,
    inputs = [_SETTING],
    outputs = ["@rules_cuda//cuda:archs"],
)
