"""Module extension that declares @nlohmann_json. Only builds of //distributed fetch it."""

load("//third_party/nvidia:extension.bzl", "pypi_repository")

_JSON = struct(
    requirement = "nlohmann-json==3.12.0",
    sha256 = "5f6132720fb25d0d70bf0742f8397b49a540dcc193e7312a914f6aa49f054810",
    python_tag = "py3",
    folders = {"include": "nlohmann_json/include"},
)

def _nlohmann_impl(_module_ctx):
    pypi_repository(name = "nlohmann_json", packages = [json.encode(_JSON)])

nlohmann = module_extension(
    implementation = _nlohmann_impl,
    doc = "Declares @nlohmann_json.",
)
