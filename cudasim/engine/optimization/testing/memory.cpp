// Statements about local memory: variables, accesses, and addresses.
#include "cudasim/engine/optimization/testing/statements.h"

#include <algorithm>
#include <iterator>

#include "cudasim/engine/optimization/testing/addresses.h"

namespace cudasim::engine::optimization::random_functions {
namespace {

/// A type of what an access moves.
struct Element {
  const char* type;
  unsigned bytes;

  bool is_float() const {
    return type[0] == 'f';
  }
};

constexpr Element kElements[] = {
    {"u8", 1},
    {"s8", 1},
    {"u16", 2},
    {"s16", 2},
    {"b16", 2},
    {"u32", 4},
    {"s32", 4},
    {"b32", 4},
    {"f32", 4},
    {"u64", 8},
    {"s64", 8},
    {"f64", 8},
};

/// The kind of the registers of an access, which may be larger.
char registers_for(Choices& random, const Element& element) {
  if (element.is_float()) {
    return element.bytes == 4 ? 'F' : 'G';
  }
  const unsigned size = std::max(element.bytes, 2u << random.below(3));
  return size == 2 ? 'H' : size == 4 ? 'W' : 'D';
}

const char* constants_for(const Element& element) {
  return element.is_float() ? "$(0f3F800001|0d3FF0000000000001|1.5|0f7F800000)"
      : element.bytes < 4   ? "$<100>"
                            : "$(-1|305419896|7|-128)";
}

} // namespace

void write_variable(Body& body, const std::string& name) {
  const unsigned bytes = 16u << body.random.below(3);
  body.line(".local .align 16 .b8 $1[$2];", name, bytes);
  for (unsigned at = 0; at < bytes; at += 8) {
    body.line("st.local.u64 [$1+$2], $d;", name, at);
  }
  body.regions.push_back({Region::Kind::kVariable, name, bytes});
}

void write_access(Body& body) {
  if (body.regions.empty()) {
    return;
  }
  Choices& random = body.random;
  const Region region = body.any_region();
  const bool is_load = random.one_in(2);
  const Element element = kElements[random.below(std::size(kElements))];
  unsigned count = random.one_in(4) ? 2u << random.below(2) : 1;
  while (element.bytes * count > std::min(16u, region.bytes)) {
    count /= 2;
  }
  const std::string guard = random.filled("$@", {});
  const Place place = place_in(body, region, element.bytes * count, is_load);
  const char kind = registers_for(random, element);
  const unsigned first = random.below(8);
  std::string data;
  for (unsigned i = 0; i < count; ++i) {
    data += (i == 0 ? "" : ", ") + Choices::register_of(kind, first + i);
  }
  if (count > 1) {
    data = "{" + data + "}";
  } else if (!is_load && random.one_in(3)) {
    data = random.filled(constants_for(element), {});
  }
  body.line(
      is_load ? "$1ld$2$3.$4 $5, $6;" : "$1st$2$3.$4 $6, $5;",
      guard,
      place.space,
      count == 1       ? ""
          : count == 2 ? ".v2"
                       : ".v4",
      element.type,
      data,
      place.address);
}

void write_pointers(Body& body) {
  if (body.regions.empty()) {
    return;
  }
  const std::string first = address_of(body, body.any_region(), true);
  const std::string second = address_of(body, body.any_region(), true);
  const std::string one = body.fresh("%a");
  const std::string x = body.fresh("%x");
  switch (body.random.below(body.style.is_known ? 2 : 4)) {
    case 0:
      body.line("add.s64 $1, $2, $(0|4);", one, first);
      body.line("setp.$(eq|ne).s64 $P, $1, $2;", one, first);
      body.line("sub.s64 $D, $1, $2;", one, first);
      break;
    case 1: {
      const std::string is = body.fresh("%q");
      body.line("setp.ne.u64 $1, $2, 0;", is, first);
      body.line("selp.u32 $1, 3, 5, $2;", x, is);
      body.mix(body.any('W'), x);
      body.line("@$1 ld.u32 $W, [$2];", is, first);
      break;
    }
    case 2:
      body.line("selp.b64 $1, $2, $3, $P;", one, first, second);
      body.line("$@st.u32 [$1+4], $W;", one);
      body.line("ld.u32 $1, [$2];", x, one);
      body.mix(body.any('W'), x);
      break;
    default:
      // Through a guard, in a register that had another address.
      body.line("mov.u64 $1, $2;\n@$P mov.u64 $1, $3;", one, first, second);
      body.line("ld.s16 $1, [$2+2];", x, one);
      body.mix(body.any('W'), x);
      break;
  }
}

} // namespace cudasim::engine::optimization::random_functions
