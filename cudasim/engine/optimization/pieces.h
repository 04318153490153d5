// Registers in the place of a variable: a piece each, and loads and stores in
// these terms.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "cudasim/engine/optimization/flat_function.h"

namespace cudasim::engine::optimization {

/// A load or a store of elements one behind the other.
struct PlainAccess {
  std::uint32_t variable = kNoVariable;
  std::uint64_t begin = 0; // bytes behind the variable's begin
  std::uint32_t bytes = 0; // of an element
  std::uint32_t elements = 1;
  bool is_signed = false;
  bool is_load = false;
  std::uint32_t block = 0;
  std::size_t step = 0;
};

/// Writes accesses to variables as ones to registers.
class Pieces {
 public:
  explicit Pieces(FlatFunction& flat) : flat_(flat) {}

  /// Makes the registers of a variable.
  /// @param accesses all that there are.
  /// @returns false where they would be too many.
  bool add(
      std::uint32_t variable,
      const std::vector<const PlainAccess*>& accesses);

  /// Appends to `steps` what does the same as `step`.
  void replace(
      const Step& step,
      const PlainAccess& access,
      std::vector<Step>& steps);

 private:
  /// A piece of a variable that is one register. One of 1 byte is in 16 bits,
  /// of which the upper half is 0.
  struct Piece {
    std::uint32_t bytes = 0;
    std::uint32_t reg = 0;
  };

  void add_step(const std::string& text, std::vector<ptx::Operand> operands);
  std::uint32_t width_of(std::uint32_t reg) const;
  /// A register for a value of so many bytes, 4 or 8.
  std::uint32_t temporary(std::uint32_t bytes);
  void load(
      const PlainAccess& access,
      std::uint64_t begin,
      std::uint32_t target);
  /// target = the lowest `bytes` of `source`.
  void extend(
      std::uint32_t target,
      std::uint32_t source,
      std::uint32_t bytes,
      bool is_signed);
  void store(
      const PlainAccess& access,
      std::uint64_t begin,
      const ptx::Operand& source);
  void store_register(
      const Piece& piece,
      std::uint32_t source,
      std::uint32_t shift);

  FlatFunction& flat_;
  std::map<std::uint32_t, std::map<std::uint64_t, Piece>> pieces_;
  const Step* like_ = nullptr;
  std::vector<Step>* steps_ = nullptr;
};

} // namespace cudasim::engine::optimization
