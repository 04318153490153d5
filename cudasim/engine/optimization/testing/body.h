// The body of a function while it is being written: its text so far, and what
// the next statements can use.
#pragma once

#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "cudasim/engine/optimization/testing/choices.h"
#include "cudasim/engine/optimization/testing/signature.h"

namespace cudasim::engine::optimization::random_functions {

/// Instructions that a thread executes in one function, about.
inline constexpr double kMostExecuted = 3000;

/// Bytes of local memory that a body can read and write.
struct Region {
  enum class Kind { kVariable, kParameter, kGeneric, kLocal };
  Kind kind = Kind::kVariable;
  std::string name; // of a variable, or a register with an address
  unsigned bytes = 0;
};

/// What all functions of a module do or do not.
struct Style {
  bool exits = false;
  /// Every access is at a place that can be known, so that variables can be
  /// in registers.
  bool is_known = false;
};

class Body {
 public:
  /// @param choices, functions, signature and all else outlive the body.
  /// @param functions those that it may call.
  /// @param signature its own, null for the kernel.
  Body(
      Choices& choices,
      const std::vector<Signature>& functions,
      const Signature* signature,
      Style module_style)
      : random(choices),
        callees(functions),
        self(signature),
        style(module_style) {}

  bool is_kernel() const {
    return self == nullptr;
  }

  /// Appends a line. @param pattern see Choices::filled. @param arguments
  /// numbers and texts, of which none is a pattern.
  template <typename... T>
  void line(std::string_view pattern, const T&... arguments) {
    append(random.filled(pattern, {text_of(arguments)...}));
  }

  /// Appends what adds `source` to what depends on all that `target` had.
  void mix(const std::string& target, const std::string& source);

  /// @param prefix %a, %x, %y or %q for registers of 64, 32 and 16 bits and
  /// predicates, other text for labels and variables.
  /// @returns a name that nothing else has.
  std::string fresh(const std::string& prefix);

  /// @returns any register, as Choices::filled has it.
  std::string any(char kind) {
    return random.filled(std::string{'$', kind}, {});
  }

  /// @returns one of the regions, of which there is one.
  Region any_region();

  /// @returns what declares the registers %w0 …
  static std::string words();

  /// @returns what declares all registers, and the lines.
  std::string text() const;

  Choices& random;
  const std::vector<Signature>& callees;
  const Signature* const self;
  const Style style;
  std::vector<Region> regions;
  std::vector<std::string> counters; // rounds of the loops around
  bool is_round_known = false; // of the loop around
  unsigned depth = 0;
  double rounds = 1; // of all loops around
  double executed = 0;

 private:
  template <typename T>
  static std::string text_of(const T& argument) {
    if constexpr (std::is_arithmetic_v<T>) {
      return std::to_string(argument);
    } else {
      return std::string(argument);
    }
  }
  void append(const std::string& line);

  std::string lines_;
  unsigned fresh_ = 0;
};

} // namespace cudasim::engine::optimization::random_functions
