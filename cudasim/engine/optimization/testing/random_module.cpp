#include "cudasim/engine/optimization/testing/random_module.h"

#include <vector>

#include "cudasim/engine/optimization/testing/body.h"
#include "cudasim/engine/optimization/testing/frame.h"
#include "cudasim/engine/optimization/testing/statements.h"

namespace cudasim::engine::optimization::random_functions {

std::string random_module(unsigned seed) {
  Choices random(seed);
  Style style;
  style.exits = random.one_in(4);
  style.is_known = !random.one_in(3);
  std::string text;
  std::vector<Signature> functions;
  if (random.one_in(4)) {
    const Recursive function = recursive_function();
    text += function.text;
    functions.push_back(function.signature);
  }
  const unsigned count = 2 + random.below(4);
  for (unsigned i = 0; i < count; ++i) {
    Signature signature = random_signature(random, "f" + std::to_string(i));
    Body body(random, functions, &signature, style);
    begin_body(body);
    write_statements(body, 5 + random.below(6));
    end_body(body);
    text += head_of(signature) + " {\n" + body.text() + "}\n";
    signature.executed = body.executed;
    functions.push_back(signature);
  }
  Body kernel(random, functions, nullptr, style);
  begin_body(kernel);
  write_statements(kernel, 14);
  end_body(kernel);
  return text + ".visible .entry kernel(.param .u64 out) {\n" + kernel.text() +
      "}\n";
}

} // namespace cudasim::engine::optimization::random_functions
