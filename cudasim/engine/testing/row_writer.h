// Writes PTX from the rows of the instructions: instructions that fit their
// row, and the same with one thing wrong.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "cudasim/engine/instructions/registry.h"

namespace cudasim::engine::testing {

/// All rows with their keys as in the table of the widest machine.
struct KeyedRow {
  std::string text; // the instruction as PTX writes it
  const char* family;
  Row row;
};

/// Each row of each family.
std::vector<KeyedRow> all_rows();

/// An instruction with something wrong in it.
struct Flaw {
  std::string what; // "one operand too few"
  std::string instruction; // without ";"
};

/// Writes instructions for a body that begins with body_declarations().
class RowWriter {
 public:
  explicit RowWriter(std::uint64_t seed) : random_(seed) {}

  /// An instruction that fits the row, without guard and ";".
  std::string fitting(const KeyedRow& row);
  /// The same with one flaw; each kind of flaw that the row can have.
  std::vector<Flaw> flawed(const KeyedRow& row);

  /// One of `count` numbers from 0 on.
  std::uint32_t below(std::uint32_t count) {
    return static_cast<std::uint32_t>(random_() % count);
  }

 private:
  std::string value(const OperandShape& shape);
  std::string value_or_list(const OperandShape& shape);
  std::string operand(const OperandShape& shape);
  std::string constant(const OperandShape& shape);
  std::string address(const OperandShape& shape);
  std::string object(const OperandShape& shape);
  std::string reg(ptx::Type type);

  std::mt19937_64 random_;
};

/// Variables outside of bodies that the instructions name.
std::string module_declarations();
/// Registers, variables and lists that they name; the labels LABEL_0 to LABEL_3
/// have to be in the body.
std::string body_declarations();

} // namespace cudasim::engine::testing
