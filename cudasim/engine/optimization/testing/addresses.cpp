#include "cudasim/engine/optimization/testing/addresses.h"

namespace cudasim::engine::optimization::random_functions {
namespace {

std::string at(const std::string& base, unsigned offset) {
  return "[" + base + "+" + std::to_string(offset) + "]";
}

bool may_index(const Body& body) {
  return !body.style.is_known ||
      (!body.counters.empty() && body.is_round_known);
}

/// An address that was in memory in between: a pointer called "this".
std::string kept_address(Body& body, const std::string& address) {
  // Nobody reads addresses as numbers: this variable is in no region.
  const std::string self = body.fresh("self");
  const std::string loaded = body.fresh("%a");
  body.line(".local .align 8 .b8 $1[16];", self);
  if (body.random.one_in(2)) {
    body.line("st.local.u64 [$1+8], $2;", self, address);
    body.line("ld.local.u64 $1, [$2+8];", loaded, self);
  } else {
    const std::string pointer = body.fresh("%a");
    body.line("mov.u64 $1, $2;\ncvta.local.u64 $1, $1;", pointer, self);
    body.line("st.u64 [$1], $2;\nld.u64 $3, [$1];", pointer, address, loaded);
  }
  return loaded;
}

/// The address of an element of that many bytes, each as probable.
std::string indexed(
    Body& body,
    const std::string& base,
    unsigned count,
    unsigned bytes) {
  const std::string index = body.fresh("%x");
  const std::string moved = body.fresh("%a");
  body.line("and.b32 $1, $2, $3;", index, index_source(body), count - 1);
  body.line("mul.wide.u32 $1, $2, $3;", moved, index, bytes);
  body.line("add.s64 $1, $1, $2;", moved, base);
  return moved;
}

} // namespace

std::string address_of(Body& body, const Region& region, bool is_generic) {
  const std::string address = body.fresh("%a");
  body.line("mov.u64 $1, $2;", address, region.name);
  const bool was_generic = region.kind == Region::Kind::kGeneric;
  if (was_generic == is_generic) {
    return address;
  }
  const std::string other = body.fresh("%a");
  body.line(
      "cvta$1.local.u64 $2, $3;", is_generic ? "" : ".to", other, address);
  return other;
}

Place place_in(Body& body, const Region& region, unsigned bytes, bool is_load) {
  Choices& random = body.random;
  const unsigned count = region.bytes / bytes;
  const unsigned offset = random.below(count) * bytes;
  const bool is_variable = region.kind == Region::Kind::kVariable;
  const bool is_parameter = region.kind == Region::Kind::kParameter;
  if ((is_variable || (is_parameter && is_load)) && !random.one_in(3)) {
    return {is_variable ? ".local" : ".param", at(region.name, offset)};
  }
  const bool is_generic = random.one_in(2);
  const std::string base = address_of(body, region, is_generic);
  // A callee reads its parameters through registers like that, too.
  const bool is_param =
      !is_generic && !body.is_kernel() && is_parameter && random.one_in(2);
  const char* const space = is_generic ? "" : is_param ? ".param" : ".local";
  const std::string moved = body.fresh("%a");
  switch (random.below(6)) {
    case 0: {
      const unsigned back = random.below(64);
      body.line(
          "add.s64 $1, $2, $3;",
          moved,
          base,
          static_cast<int>(offset) - static_cast<int>(back));
      return {space, at(moved, back)};
    }
    case 1:
      body.line("sub.s64 $1, $2, -$3;", moved, base, offset);
      return {space, at(moved, 0)};
    case 2:
      if ((count & (count - 1)) == 0 && may_index(body)) {
        return {space, at(indexed(body, base, count, bytes), 0)};
      }
      break;
    case 3:
      return {space, at(kept_address(body, base), offset)};
    case 4:
      body.line("mov.u64 $1, $2;", moved, offset / bytes);
      body.line("shl.b64 $1, $1, $2;", moved, __builtin_ctz(bytes));
      body.line("add.u64 $1, $2, $1;", moved, base);
      return {space, at(moved, 0)};
    default:
      break;
  }
  return {space, at(base, offset)};
}

std::string index_source(Body& body) {
  return !body.counters.empty() &&
          (body.style.is_known || !body.random.one_in(4))
      ? body.counters.back()
      : body.any('W');
}

} // namespace cudasim::engine::optimization::random_functions
