#include "cudasim/engine/optimization/testing/statements.h"

namespace cudasim::engine::optimization::random_functions {
namespace {

constexpr unsigned kMostNested = 3;

struct StatementKind {
  unsigned weight;
  void (*write)(Body&);
};

constexpr StatementKind kStatementKinds[] = {
    {35, write_arithmetic},
    {30, write_access},
    {10, write_copies},
    {10, write_call},
    {15, write_loop},
    {5, write_either_or},
    {5, write_indexed_branch},
    {5, write_scope},
    {5, write_pointers},
    {5, write_predicate},
    {3, write_end},
    {1, write_skipped},
    {3, write_exchange},
};

void write_statement(Body& body) {
  unsigned weights = 0;
  for (const StatementKind& kind : kStatementKinds) {
    weights += kind.weight;
  }
  unsigned choice = body.random.below(weights);
  for (const StatementKind& kind : kStatementKinds) {
    if (choice < kind.weight) {
      kind.write(body);
      return;
    }
    choice -= kind.weight;
  }
}

} // namespace

void write_statements(Body& body, unsigned count) {
  for (unsigned i = 0; i < count; ++i) {
    write_statement(body);
  }
}

void write_nested(Body& body, unsigned most) {
  if (body.depth >= kMostNested) {
    write_arithmetic(body);
    return;
  }
  ++body.depth;
  write_statements(body, 1 + body.random.below(most));
  --body.depth;
}

} // namespace cudasim::engine::optimization::random_functions
