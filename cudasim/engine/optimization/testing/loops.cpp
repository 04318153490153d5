// Loops, most of which have a number of rounds that can be known.
#include "cudasim/engine/optimization/testing/statements.h"

#include <cstdlib>

#include "cudasim/engine/optimization/testing/addresses.h"

namespace cudasim::engine::optimization::random_functions {
namespace {

constexpr unsigned kMostLoops = 2; // one in the other

/// What counts, from `start` to `limit`.
struct Counter {
  unsigned bits = 0;
  bool is_signed = false;
  int step = 0;
  unsigned rounds = 0; // or more than there are
  bool is_known = true; // how many rounds
  std::string start; // numbers or registers, a multiple of steps apart
  std::string limit;

  std::string type() const {
    return (is_signed ? "s" : "u") + std::to_string(bits);
  }
  const char* prefix() const {
    return bits == 64 ? "%a" : bits == 32 ? "%x" : "%y";
  }
};

/// 1 to 4 steps from `low`, in a register.
std::string unknown_bound(Body& body, const Counter& counter, int low) {
  const int step = std::abs(counter.step);
  const std::string x = body.fresh("%x");
  body.line("and.b32 $1, $W, 3;", x);
  body.line("mad.lo.u32 $1, $1, $2, $3;", x, step, step + low);
  if (counter.bits == 32) {
    return x;
  }
  const std::string to = body.fresh(counter.prefix());
  body.line(
      "cvt.$1 $2, $3;", counter.bits == 64 ? "s64.s32" : "u16.u32", to, x);
  return to;
}

Counter random_counter(Body& body) {
  Choices& random = body.random;
  Counter counter;
  counter.bits = 16u << random.below(3);
  counter.is_signed = random.one_in(2);
  counter.step = static_cast<int>(1 + (random.one_in(2) ? random.below(5) : 0));
  counter.rounds = 1 + random.below(7);
  counter.is_known = !random.one_in(3);
  const int low =
      static_cast<int>(random.below(20)) - (counter.is_signed ? 10 : 0);
  const int high = low + counter.step * static_cast<int>(counter.rounds);
  counter.start = std::to_string(low);
  counter.limit = std::to_string(high);
  if (!counter.is_known) {
    counter.rounds = 4;
    counter.limit = unknown_bound(body, counter, low);
  } else if (random.one_in(2)) {
    counter.limit = body.fresh(counter.prefix());
    body.line("mov.$1 $2, $3;", counter.type(), counter.limit, high);
  }
  if (random.one_in(3)) {
    counter.start.swap(counter.limit);
    counter.step = -counter.step;
  }
  return counter;
}

/// Sets `test` where another round is to come.
void write_condition(
    Body& body,
    const Counter& counter,
    const std::string& number,
    const std::string& test) {
  const bool is_up = counter.step > 0;
  const bool is_equality = body.random.one_in(3);
  if (body.random.one_in(3)) {
    body.line(
        "setp.$1.$2 $3, $4, $5;\nnot.pred $3, $3;",
        is_equality ? "eq"
            : is_up ? "ge"
                    : "le",
        counter.type(),
        test,
        number,
        counter.limit);
    return;
  }
  body.line(
      "setp.$1.$2 $3, $4, $5;",
      is_equality ? "ne"
          : is_up ? "lt"
                  : "gt",
      counter.type(),
      test,
      number,
      counter.limit);
}

/// What a loop does in each round, which at times ends it.
void write_round(Body& body, const std::string& end) {
  ++body.depth;
  write_statements(body, 1 + body.random.below(3));
  if (body.random.one_in(4)) {
    const std::string is = body.fresh("%q");
    body.line("setp.eq.u32 $1, $2, $<6>;", is, index_source(body));
    body.line("@$1 bra $2;", is, end);
  }
  write_statements(body, body.random.below(3));
  --body.depth;
}

void write_counted_loop(Body& body) {
  const Counter counter = random_counter(body);
  const bool is_while = body.random.one_in(2);
  const std::string number = body.fresh(counter.prefix());
  const std::string index = body.fresh("%x");
  const std::string test = body.fresh("%q");
  const std::string head = body.fresh("head");
  const std::string end = body.fresh("end");
  body.line("mov.$1 $2, $3;", counter.type(), number, counter.start);
  body.line("mov.u32 $1, 0;\n$2:", index, head);
  const double rounds = body.rounds;
  body.rounds *= counter.rounds;
  if (is_while) {
    write_condition(body, counter, number, test);
    body.line("@!$1 bra $2;", test, end);
  }
  const bool was_known = body.is_round_known;
  body.is_round_known = counter.is_known;
  body.counters.push_back(index);
  write_round(body, end);
  body.counters.pop_back();
  body.is_round_known = was_known;
  body.line("add.u32 $1, $1, 1;", index);
  body.line("add.$1 $2, $2, $3;", counter.type(), number, counter.step);
  if (is_while) {
    body.line("bra.uni $1;", head);
  } else {
    write_condition(body, counter, number, test);
    body.line("@$1 bra $2;", test, head);
  }
  body.rounds = rounds;
  body.line("$1:", end);
  if (counter.bits == 32) {
    body.mix(body.any('W'), number);
  }
}

/// The counter is an address.
void write_pointer_loop(Body& body) {
  const Region region = body.any_region();
  const bool is_generic = body.random.one_in(2);
  const bool is_up = body.random.one_in(2);
  const unsigned bytes = 1u << body.random.below(3);
  const std::string from = address_of(body, region, is_generic);
  const std::string to = body.fresh("%a");
  const std::string pointer = body.fresh("%a");
  const std::string head = body.fresh("head");
  const char* const space = is_generic ? "" : ".local";
  const double rounds = body.rounds;
  body.line("add.s64 $1, $2, $3;", to, from, region.bytes);
  body.line("mov.u64 $1, $2;\n$3:", pointer, is_up ? from : to, head);
  body.rounds *= region.bytes / bytes;
  if (!is_up) {
    body.line("add.s64 $1, $1, -$2;", pointer, bytes);
  }
  const std::string x = body.fresh("%x");
  body.line("ld$1.$(u|s)$2 $3, [$4];", space, 8 * bytes, x, pointer);
  body.mix("%w3", x);
  body.line("st$1.u$2 [$3], %w3;", space, 8 * bytes, pointer);
  if (is_up) {
    body.line("add.s64 $1, $1, $2;", pointer, bytes);
  }
  body.line(
      "setp.ne.s64 $1, $2, $3;\n@$1 bra $4;",
      body.fresh("%q"),
      pointer,
      is_up ? to : from,
      head);
  body.rounds = rounds;
}

} // namespace

void write_loop(Body& body) {
  if (body.depth >= kMostLoops || body.rounds * 40 > kMostExecuted) {
    write_arithmetic(body);
  } else if (!body.regions.empty() && body.random.one_in(4)) {
    write_pointer_loop(body);
  } else {
    write_counted_loop(body);
  }
}

} // namespace cudasim::engine::optimization::random_functions
