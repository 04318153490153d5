"""The op profile of a build: `core`, `models`, `full`, `runtime`, or the label of an op_profile of one's own."""

load("@bazel_skylib//rules:common_settings.bzl", "BuildSettingInfo")
load("//aten_cuda/profiles:defs.bzl", "OpProfileInfo")

_NAMED = {
    "core": Label("//aten_cuda/profiles:core"),
    "full": Label("//aten_cuda/profiles:full"),
    "models": Label("//aten_cuda/profiles/models"),
    "runtime": Label("//aten_cuda/profiles:runtime"),
}
_PROFILE = "//config:op_profile"

def parse_ops(value):
    """Finds the profile that a value of the setting stands for.

    Args:
        value: string, `core`, `models`, `full`, `runtime` or a label.

    Returns:
        a struct with `profile` (Label or string, None on an error) and `error` (string, None where it is understood).
    """
    if value in _NAMED:
        return struct(profile = _NAMED[value], error = None)
    if value.startswith(("//", "@")):
        return struct(profile = value, error = None)
    return struct(profile = None, error = ("--//config:ops=%s is no op profile. Allowed are %s, and the label of an " +
                                           "op_profile, such as //my:profile.") % (value, ", ".join(_NAMED)))

def _choose_impl(settings, _attr):
    parsed = parse_ops(settings["//config:ops"])
    if parsed.error:
        fail(parsed.error)
    return {_PROFILE: parsed.profile}

_choose = transition(
    implementation = _choose_impl,
    inputs = ["//config:ops"],
    outputs = [_PROFILE],
)

def _ops_impl(ctx):
    # A transition makes a list of a single label.
    profile = ctx.attr.profile[0]
    return [
        BuildSettingInfo(value = ctx.build_setting_value),
        profile[DefaultInfo],
        profile[OpProfileInfo],
    ]

ops = rule(
    implementation = _ops_impl,
    attrs = {
        "profile": attr.label(
            cfg = _choose,
            mandatory = True,
            providers = [OpProfileInfo],
            doc = "The label_flag that the setting's value is turned into.",
        ),
    },
    build_setting = config.string(flag = True),
    doc = "The operators of a build: `core`, `models`, `full`, `runtime` or a label; provides the profile it names.",
    provides = [
        BuildSettingInfo,
        OpProfileInfo,
    ],
)

def _ops_have_impl(ctx):
    profile = ctx.attr._ops[OpProfileInfo]
    found = profile.full or any([kernel.startswith(ctx.attr.kernels) for kernel in profile.kernels.to_list()])
    return [config_common.FeatureFlagInfo(value = str(found))]

ops_have = rule(
    implementation = _ops_have_impl,
    attrs = {
        "kernels": attr.string(mandatory = True, doc = "The folder, below aten/src/ATen, with a slash at its end."),
        "_ops": attr.label(default = "//config:ops", providers = [OpProfileInfo]),
    },
    doc = "Whether the operators of a build have kernels of a folder, for config_setting: `True` or `False`.",
)
