#include "cudasim/engine/optimization/testing/frame.h"

#include <cstddef>

#include "cudasim/engine/optimization/testing/addresses.h"
#include "cudasim/engine/optimization/testing/random_module.h"
#include "cudasim/engine/optimization/testing/statements.h"

namespace cudasim::engine::optimization::random_functions {
namespace {

/// For each register of a kind, what sets it and what tells it to %w0.
struct RegisterKind {
  unsigned count;
  const char* set; // $1: which, and $2, $3: the next ones
  const char* gather; // into $2, and %w1
};

constexpr RegisterKind kRegisterKinds[] = {
    {kLongs,
     "mad.wide.u32 %d$1, %w$1, $<1000>, 77;",
     "mov.b64 {$2, %w1}, %d$1;"},
    {kShorts, "cvt.u16.u32 %h$1, %w$1;", "cvt.s32.s16 $2, %h$1;"},
    {kFloats, "cvt.rn.f32.u32 %f$1, %w$1;", "mov.b32 $2, %f$1;"},
    {kDoubles, "cvt.rn.f64.s32 %g$1, %w$3;", "mov.b64 {$2, %w1}, %g$1;"},
    {kPredicates,
     "setp.lt.u32 %p$1, %w$2, $(8|11|14|17|20|23);",
     "selp.u32 $2, 1, 2, %p$1;"},
};

/// Two accesses to what is at an address, unless that is 0.
void use_nullable(Body& body, const Region& region) {
  const std::string end = body.fresh("end");
  const std::string is = body.fresh("%q");
  if (body.random.one_in(2)) {
    body.line("setp.ne.s64 $1, $2, 0;\n@!$1 bra $3;", is, region.name, end);
  } else {
    body.line("setp.eq.s64 $1, $2, 0;\n@$1 bra $3;", is, region.name, end);
  }
  const std::vector<Region> before = body.regions;
  body.regions = {region};
  write_access(body);
  write_access(body);
  body.regions = before;
  body.line("$1:", end);
}

void take_parameter(
    Body& body,
    const Parameter& parameter,
    const std::string& name) {
  using Kind = Region::Kind;
  if (parameter.kind == Parameter::Kind::kScalar) {
    const Scalar& scalar = *parameter.scalar;
    body.line(
        std::string("ld.param.$1 ") + scalar.taken + ", [$2];",
        scalar.loaded,
        name);
    return;
  }
  if (parameter.kind == Parameter::Kind::kStructure) {
    body.regions.push_back({Kind::kParameter, name, parameter.bytes});
    return;
  }
  const std::string address = body.fresh("%a");
  body.line("ld.param.u64 $1, [$2];", address, name);
  const bool is_local = parameter.kind == Parameter::Kind::kLocal;
  const Region region = {
      is_local ? Kind::kLocal : Kind::kGeneric, address, parameter.bytes};
  if (parameter.kind == Parameter::Kind::kNullable) {
    use_nullable(body, region);
  } else {
    body.regions.push_back(region);
  }
}

/// Puts all registers and regions into %w0.
void gather(Body& body) {
  const std::string x = body.fresh("%x");
  for (unsigned i = 1; i < kWords; ++i) {
    body.mix("%w0", "%w" + std::to_string(i));
  }
  for (const RegisterKind& kind : kRegisterKinds) {
    for (unsigned i = 0; i < kind.count; ++i) {
      body.line(kind.gather, i, x);
      body.mix("%w0", x);
      body.mix("%w0", "%w1");
    }
  }
  const std::vector<Region> regions = body.regions;
  for (const Region& region : regions) {
    const Place place = place_in(body, region, 4, true);
    body.line("ld$1.u32 $2, $3;", place.space, x, place.address);
    body.mix("%w0", x);
  }
}

} // namespace

void begin_body(Body& body) {
  body.line("mov.u32 %w0, %tid.x;\nmov.u32 %w1, %laneid;");
  for (unsigned i = 2; i < kWords; ++i) {
    const unsigned high = body.random.below(2) * 0xFFFFFF00u;
    body.line("mov.u32 %w$1, $2;", i, high + body.random.below(256));
  }
  if (body.is_kernel()) {
    body.line(".reg .b64 %out;\nld.param.u64 %out, [out];");
    body.line("mad.wide.u32 %out, %w0, $1, %out;", 4 * kColumns);
    write_slots(body);
  } else {
    // Of a function the constants differ, of the kernel the threads do.
    body.line("mov.u32 %w0, $<1000>;");
  }
  for (const RegisterKind& kind : kRegisterKinds) {
    for (unsigned i = 0; i < kind.count; ++i) {
      body.line(kind.set, i, i + 1, i + 2);
    }
  }
  if (!body.is_kernel()) {
    for (std::size_t i = 0; i < body.self->parameters.size(); ++i) {
      take_parameter(body, body.self->parameters[i], body.self->parameter(i));
    }
  }
  write_early_result(body);
  const unsigned variables = body.random.below(3) + (body.is_kernel() ? 1 : 0);
  for (unsigned i = 0; i < variables; ++i) {
    write_variable(body, "depot" + std::to_string(i));
  }
}

void end_body(Body& body) {
  gather(body);
  if (body.is_kernel()) {
    body.line("ld.shared.u32 %w5, [%slot];");
    body.line("st.global.v4.u32 [%out], {%w0, %w5, %w2, %w3};");
  } else if (body.self->returned != nullptr) {
    body.line(body.self->returned->last, body.self->result());
  }
  body.line("ret;");
}

} // namespace cudasim::engine::optimization::random_functions
