// Control flow without loops: branches, blocks, and early ends.
#include "cudasim/engine/optimization/testing/statements.h"

#include <algorithm>

namespace cudasim::engine::optimization::random_functions {

void write_either_or(Body& body) {
  const std::string other = body.fresh("other");
  const std::string end = body.fresh("end");
  body.line("@$!$P bra $1;", other);
  write_nested(body, 2);
  body.line("bra $1;\n$2:", end, other);
  write_nested(body, 2);
  body.line("$1:", end);
}

void write_indexed_branch(Body& body) {
  const std::string index = body.fresh("%x");
  const std::string list = body.fresh("list");
  const std::string end = body.fresh("end");
  std::vector<std::string> targets;
  std::string names;
  for (unsigned i = 0; i < 4; ++i) {
    // One of them twice, at times.
    if (i < 3 || body.random.one_in(2)) {
      targets.push_back(body.fresh("target"));
    }
    names += (i == 0 ? "" : ", ") + targets[i % targets.size()];
  }
  body.line("and.b32 $1, $W, 3;", index);
  body.line("$1: .branchtargets $2;\nbrx.idx $3, $1;", list, names, index);
  for (const std::string& target : targets) {
    body.line("$1:", target);
    write_nested(body, 1);
    if (!body.random.one_in(3)) {
      body.line("bra $1;", end);
    }
  }
  body.line("$1:", end);
}

void write_scope(Body& body) {
  const std::string x = body.fresh("%x");
  const std::vector<Region> before = body.regions;
  const std::string hidden = "depot0";
  body.line("{\nmov.u32 $1, $W;\n$2", x, Body::words());
  for (unsigned i = 0; i < kWords; ++i) {
    body.line("add.u32 %w$1, $2, $1;", i, x);
  }
  body.regions.erase(
      std::remove_if(
          body.regions.begin(),
          body.regions.end(),
          [&](const Region& region) { return region.name == hidden; }),
      body.regions.end());
  write_variable(body, hidden);
  write_nested(body, 3);
  body.line("mov.u32 $1, $W;\n}", x);
  body.regions = before;
  body.mix(body.any('W'), x);
}

void write_skipped(Body& body) {
  const std::string end = body.fresh("end");
  body.line("bra $1;", end);
  write_nested(body, 2);
  body.line("$1:", end);
}

void write_end(Body& body) {
  if (body.style.exits && body.depth < 2 && body.random.one_in(3)) {
    const std::string is = body.fresh("%q");
    body.line("setp.eq.u32 $1, $W, $<64>;\n@$1 exit;", is);
  } else if (body.is_kernel()) {
    return;
  } else if (body.random.one_in(2)) {
    write_early_result(body);
    body.line("@$P ret;");
  } else {
    const std::string end = body.fresh("end");
    body.line("@$P bra $1;", end);
    write_early_result(body);
    body.line("ret;\n$1:", end);
  }
}

void write_early_result(Body& body) {
  if (!body.is_kernel() && body.self->returned != nullptr) {
    body.line(body.self->returned->early, body.self->result());
  }
}

} // namespace cudasim::engine::optimization::random_functions
