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
    fields = {
        "gencode": "list of strings, the options of nvcc",
        "names": "list of strings, such as sm_80 and compute_80",
    },
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

def gencode(names):
    """Returns nvcc's options for architectures such as `sm_80` (machine code) and `compute_80` (PTX)."""
    return ["-gencode=arch=compute_%s,code=%s" % (name.split("_")[1], name) for name in names]

def _cuda_archs_impl(ctx):
    parsed = parse_archs(ctx.build_setting_value)
    if parsed.error:
        fail("--%s=%s: %s" % (ctx.label, ctx.build_setting_value, parsed.error))
    options = gencode(parsed.names)
    return [
        CudaArchsInfo(gencode = options, names = parsed.names),
        platform_common.TemplateVariableInfo({
            "CUDA_ARCH_NAMES": " ".join(parsed.names),
            "CUDA_GENCODE": " ".join(options),
        }),
    ]

cuda_archs = rule(
    implementation = _cuda_archs_impl,
    build_setting = config.string(flag = True),
    doc = "A list of CUDA architectures; `$(CUDA_GENCODE)` holds nvcc's options for it, `$(CUDA_ARCH_NAMES)` their names.",
    provides = [CudaArchsInfo, platform_common.TemplateVariableInfo],
)
