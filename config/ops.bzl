"""The op profile of a build: `core`, `full`, or the label of an op_profile of one's own."""

load("@bazel_skylib//rules:common_settings.bzl", "BuildSettingInfo")
load("//aten_cuda/profiles:defs.bzl", "OpProfileInfo")

_NAMED = {
    "core": Label("//aten_cuda/profiles:core"),
    "full": Label("//aten_cuda/profiles:full"),
}
_PROFILE = "//config:op_profile"

def _choose_impl(settings, _attr):
    value = settings["//config:ops"]
    if value in _NAMED:
        return {_PROFILE: _NAMED[value]}
    if value.startswith(("//", "@")):
        return {_PROFILE: value}
    fail("--//config:ops=%s is no op profile. Allowed are %s, and the label of an op_profile, such as //my:profile." %
         (value, ", ".join(_NAMED)))

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
    doc = "The operators of a build: `core`, `full` or a label; provides the profile it names.",
    provides = [
        BuildSettingInfo,
        OpProfileInfo,
    ],
)
