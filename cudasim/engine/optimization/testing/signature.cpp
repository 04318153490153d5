#include "cudasim/engine/optimization/testing/signature.h"

#include <cstddef>
#include <iterator>

namespace cudasim::engine::optimization::random_functions {
namespace {

constexpr Scalar kScalars[] = {
    {".b32", "u32", "$W", "$w"},
    {".b64", "u64", "$D", "$d"},
    {".b16", "u16", "$H", "$H"},
    {".b8", "s8", "$H", "$H"},
    {".f32", "f32", "$F", "$F"},
    {".f64", "f64", "$G", "$G"},
};

constexpr Returned kReturned[] = {
    {".b32 $1",
     "st.param.b32 [$1], $W;",
     "st.param.b32 [$1], %w0;",
     "ld.param.b32 $W, [$1];"},
    {".b64 $1",
     "st.param.b64 [$1], $D;",
     "cvt.u64.u32 %d0, %w0;\nst.param.b64 [$1], %d0;",
     "ld.param.b64 $D, [$1];"},
    {".align 16 .b8 $1[16]",
     "st.param.b64 [$1], $D;\nst.param.v2.b32 [$1+8], {$W, $W};",
     "st.param.v4.b32 [$1], {%w0, %w1, %w2, %w3};",
     "ld.param.v2.b64 {%d0, %d1}, [$1];\n"
     "ld.param.u16 $W, [$1+$(0|2|4|6|8|10|12|14)];"},
};

Parameter random_parameter(Choices& random) {
  using Kind = Parameter::Kind;
  static constexpr Kind kAddresses[] = {
      Kind::kGeneric, Kind::kLocal, Kind::kNullable};
  Parameter parameter;
  if (random.one_in(3)) {
    parameter.kind = kAddresses[random.below(std::size(kAddresses))];
    parameter.bytes = 8u << random.below(3);
  } else if (random.one_in(3)) {
    parameter.kind = Kind::kStructure;
    parameter.bytes = 8 * (1 + random.below(4));
  } else {
    parameter.scalar = &kScalars[random.below(std::size(kScalars))];
  }
  return parameter;
}

} // namespace

Signature random_signature(Choices& random, const std::string& name) {
  Signature signature;
  signature.name = name;
  if (!random.one_in(4)) {
    signature.returned = &kReturned[random.below(std::size(kReturned))];
  }
  for (unsigned i = random.below(4); i > 0; --i) {
    signature.parameters.push_back(random_parameter(random));
  }
  return signature;
}

std::string declaration(const Parameter& parameter, const std::string& name) {
  if (parameter.kind == Parameter::Kind::kStructure) {
    return ".param .align 16 .b8 " + name + "[" +
        std::to_string(parameter.bytes) + "]";
  }
  return std::string(".param ") +
      (parameter.is_address() ? ".b64" : parameter.scalar->declared) + " " +
      name;
}

std::string head_of(const Signature& signature) {
  std::string text = ".func ";
  if (signature.returned != nullptr) {
    std::string returned = signature.returned->declaration;
    returned.replace(returned.find("$1"), 2, signature.result());
    text += "(.param " + returned + ") ";
  }
  text += signature.name + "(";
  for (std::size_t i = 0; i < signature.parameters.size(); ++i) {
    text += (i == 0 ? "" : ", ") +
        declaration(signature.parameters[i], signature.parameter(i));
  }
  return text + ")";
}

Recursive recursive_function() {
  Recursive function;
  function.signature.name = "rec";
  function.signature.parameters = {{Parameter::Kind::kScalar, &kScalars[0], 0}};
  function.signature.returned = &kReturned[0];
  function.signature.executed = 60;
  function.text =
      ".func (.param .b32 rec_result) rec(.param .b32 rec_0) {\n"
      ".reg .b32 %w<4>; .reg .pred %p;\n"
      "ld.param.u32 %w0, [rec_0];\nand.b32 %w1, %w0, 3;\n"
      "st.param.b32 [rec_result], %w0;\nsetp.eq.u32 %p, %w1, 0;\n"
      "@%p ret;\n{ .param .b32 give; .param .b32 taken;\n"
      "sub.u32 %w2, %w0, 1; st.param.b32 [give], %w2;\n"
      "call (taken), rec, (give);\nld.param.b32 %w3, [taken]; }\n"
      "mad.lo.u32 %w3, %w3, 7, %w0;\nst.param.b32 [rec_result], %w3;\n"
      "ret;\n}\n";
  return function;
}

} // namespace cudasim::engine::optimization::random_functions
