// Random choices, and lines of PTX with blanks that they fill.
#pragma once

#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace cudasim::engine::optimization::random_functions {

inline constexpr unsigned kWords = 6; // registers of 32 bits: %w0 …
inline constexpr unsigned kLongs = 4; // of 64: %d0 …
inline constexpr unsigned kShorts = 3; // of 16: %h0 …
inline constexpr unsigned kFloats = 2; // %f0 …
inline constexpr unsigned kDoubles = 2; // %g0 …
inline constexpr unsigned kPredicates = 3; // %p0 …

/// The same choices for the same seed, on every machine.
class Choices {
 public:
  explicit Choices(unsigned seed) : engine_(seed) {}

  /// @returns a number less than `limit`.
  unsigned below(unsigned limit);

  /// @returns true once in `n` times.
  bool one_in(unsigned n);

  /// @param pattern text in which $W, $D, $H, $F, $G and $P are any register of
  /// 32, 64 and 16 bits, .f32, .f64 and .pred; $w and $d a number, too; $! is
  /// "!" or nothing; $@ at times a guard; $<8> a number less than 8; $(a|b) one
  /// of these. @param arguments what $1 … $9 are.
  /// @returns the text with something for each of these.
  std::string filled(
      std::string_view pattern,
      const std::vector<std::string>& arguments);

  /// @param kind W, D, H, F, G or P. @param number any; registers repeat.
  /// @returns a register's name.
  static std::string register_of(char kind, unsigned number);

 private:
  std::string operand(char kind);
  std::string alternative(std::string_view list);

  std::mt19937_64 engine_;
};

} // namespace cudasim::engine::optimization::random_functions
