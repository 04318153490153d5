// Calls of functions that the module has so far.
#include "cudasim/engine/optimization/testing/statements.h"

#include <algorithm>
#include <cstddef>

#include "cudasim/engine/optimization/testing/addresses.h"

namespace cudasim::engine::optimization::random_functions {
namespace {

/// The first region with that many bytes, or null.
const Region* region_of(const Body& body, unsigned bytes) {
  const auto found = std::find_if(
      body.regions.begin(), body.regions.end(), [&](const Region& region) {
        return region.bytes >= bytes;
      });
  return found == body.regions.end() ? nullptr : &*found;
}

bool can_call(const Body& body, const Signature& callee) {
  return (callee.executed + 20) * body.rounds <= kMostExecuted &&
      std::all_of(
             callee.parameters.begin(),
             callee.parameters.end(),
             [&](const Parameter& parameter) {
               return !parameter.is_address() ||
                   parameter.kind == Parameter::Kind::kNullable ||
                   region_of(body, parameter.bytes) != nullptr;
             });
}

void store_structure(Body& body, unsigned bytes, const std::string& name) {
  static constexpr const char* kEightBytes[] = {
      "st.param.b64 [$1+$2], $d;",
      "st.param.v2.b32 [$1+$2], {$W, $W};",
      "st.param.b32 [$1+$2], $W;\nst.param.b16 [$1+$3], $H;\n"
      "st.param.b8 [$1+$4], $W;\nst.param.b8 [$1+$5], $<256>;",
  };
  for (unsigned at = 0; at < bytes; at += 8) {
    body.line(
        kEightBytes[body.random.below(3)], name, at, at + 4, at + 6, at + 7);
  }
}

void store_argument(
    Body& body,
    const Parameter& parameter,
    const std::string& name) {
  body.line("$1;", declaration(parameter, name));
  const Region* const region = region_of(body, parameter.bytes);
  if (parameter.kind == Parameter::Kind::kScalar) {
    const Scalar& scalar = *parameter.scalar;
    body.line(
        std::string("st.param$1 [$2], ") + scalar.given + ";",
        scalar.declared,
        name);
  } else if (parameter.kind == Parameter::Kind::kStructure) {
    store_structure(body, parameter.bytes, name);
  } else if (
      parameter.kind == Parameter::Kind::kNullable &&
      (region == nullptr || body.random.one_in(3))) {
    body.line("st.param.b64 [$1], 0;", name);
  } else {
    const bool is_generic = parameter.kind != Parameter::Kind::kLocal;
    body.line(
        "st.param.b64 [$1], $2;", name, address_of(body, *region, is_generic));
  }
}

void transfer(
    Body& body,
    const Signature& callee,
    const std::string& arguments) {
  if (callee.returned == nullptr) {
    body.line("$@call $1, ($2);", callee.name, arguments);
  } else {
    body.line("call (taken), $1, ($2);", callee.name, arguments);
    body.line(callee.returned->taken, "taken");
  }
  body.executed += body.rounds * callee.executed;
}

/// Two rounds, before which the arguments are stored.
void transfer_in_loop(
    Body& body,
    const Signature& callee,
    const std::string& arguments) {
  const std::string round = body.fresh("%x");
  const std::string head = body.fresh("head");
  body.rounds *= 2;
  body.line("mov.u32 $1, 0;\n$2:", round, head);
  transfer(body, callee, arguments);
  body.line(
      "add.u32 $1, $1, 1;\nsetp.lt.u32 $2, $1, 2;\n@$2 bra $3;",
      round,
      body.fresh("%q"),
      head);
  body.rounds /= 2;
}

} // namespace

void write_call(Body& body) {
  if (body.callees.empty()) {
    return;
  }
  const Signature& callee = body.callees[body.random.below(
      static_cast<unsigned>(body.callees.size()))];
  if (!can_call(body, callee)) {
    return;
  }
  body.line("{");
  std::string arguments;
  std::string structure; // one of them
  for (std::size_t i = 0; i < callee.parameters.size(); ++i) {
    const Parameter& parameter = callee.parameters[i];
    const std::string name = "give" + std::to_string(i);
    store_argument(body, parameter, name);
    if (parameter.kind == Parameter::Kind::kStructure) {
      structure = name;
    }
    arguments += (i == 0 ? "" : ", ") + name;
  }
  if (callee.returned != nullptr) {
    body.line(
        std::string(".param ") + callee.returned->declaration + ";", "taken");
  }
  switch (body.random.below(6)) {
    case 0: // The second has what the first one was given.
      transfer(body, callee, arguments);
      transfer(body, callee, arguments);
      break;
    case 1:
      transfer_in_loop(body, callee, arguments);
      break;
    default:
      transfer(body, callee, arguments);
      break;
  }
  if (!structure.empty() && body.random.one_in(3)) {
    body.line("ld.param.u32 $W, [$1];", structure);
  }
  body.line("}");
}

} // namespace cudasim::engine::optimization::random_functions
