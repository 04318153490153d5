// Functions as their callers know them: parameters and results.
#pragma once

#include <string>
#include <vector>

#include "cudasim/engine/optimization/testing/choices.h"

namespace cudasim::engine::optimization::random_functions {

/// A number that functions are given.
struct Scalar {
  const char* declared; // type
  const char* loaded; // type that the function reads it as
  const char* taken; // pattern of the register that it reads it to
  const char* given; // pattern of what callers store
};

struct Parameter {
  enum class Kind {
    kScalar,
    kStructure, // in the parameter itself
    kGeneric, // address in local memory
    kLocal, // the same, of the state space
    kNullable, // generic address or 0
  };
  Kind kind = Kind::kScalar;
  const Scalar* scalar = nullptr;
  unsigned bytes = 0; // of a structure, or of what an address is of

  bool is_address() const {
    return kind != Kind::kScalar && kind != Kind::kStructure;
  }
};

/// What a function returns; $1 is the name of its parameter.
struct Returned {
  const char* declaration; // but for the state space
  const char* early; // pattern of what stores any result
  const char* last; // text that stores what depends on everything
  const char* taken; // pattern with which callers read it
};

struct Signature {
  std::string name;
  std::vector<Parameter> parameters;
  const Returned* returned = nullptr; // or nothing
  double executed = 0; // instructions of a thread in it, about

  /// @returns the name of parameter `index`.
  std::string parameter(std::size_t index) const {
    return name + "_" + std::to_string(index);
  }
  /// @returns the name of the parameter that is returned.
  std::string result() const {
    return name + "_result";
  }
};

/// @returns a function with up to 3 parameters that is called `name`.
Signature random_signature(Choices& random, const std::string& name);

/// @returns what declares `name`, but for the semicolon.
std::string declaration(const Parameter& parameter, const std::string& name);

/// @returns a signature as the text of a module has it, before the body.
std::string head_of(const Signature& signature);

/// A function that calls itself, up to 3 times.
struct Recursive {
  Signature signature;
  const char* text; // all of it
};

/// @returns what is always the same.
Recursive recursive_function();

} // namespace cudasim::engine::optimization::random_functions
