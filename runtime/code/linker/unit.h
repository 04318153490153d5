// One input of a link: what its PTX declares and defines, and what it refers
// to. Source: PTX ISA 8.4, chapters 5 (variables), 7 (functions), 11.6 (linking
// directives).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "runtime/code/linker/range.h"
#include "runtime/code/ptx/parse_error.h"

namespace accelerator::linker {

/// The text is no PTX. What it says is for people.
using SyntaxError = ptx::ParseError;

enum class Linkage : std::uint8_t {
  kStatic, // no other unit sees it
  kExtern,
  kVisible,
  kWeak,
  kCommon,
};

/// A variable, a function, or a function's second name.
struct Item {
  enum class Kind : std::uint8_t { kVariable, kFunction, kAlias };
  Kind kind = Kind::kVariable;
  Linkage linkage = Linkage::kStatic;
  std::string name;
  /// A function with a body, a variable with a place, an alias.
  bool is_defined = false;

  std::size_t begin = 0; // of the linkage, or where it would stand
  /// Of a function: from ".func" up to the body or ";". Of a variable: from its
  /// space up to its name, which others may share.
  Range head;
  /// Of a function: the body with its braces. Of a variable: from its name up
  /// to "," or ";". Of an alias: all of it.
  Range body;

  bool is_entry = false; // .entry
  std::vector<std::uint64_t> results; // sizes, in bytes
  std::vector<std::uint64_t> parameters;

  std::string space; // ".global"
  std::uint64_t alignment = 0; // bytes
  std::uint64_t size = 0; // bytes; 0: not told
  std::vector<std::string> initial_names; // in the initial value
};

struct Unit {
  /// Reads what is outside of bodies.
  /// @throws SyntaxError
  Unit(std::string name, std::string text);
  Unit(const Unit&) = delete;
  Unit& operator=(const Unit&) = delete;

  std::string name; // of the input, for messages
  std::string text;
  unsigned version_major = 0;
  unsigned version_minor = 0;
  std::string target; // "sm_80"
  struct File { // .file
    unsigned index = 0;
    std::string rest; // what stands behind the index
  };
  std::vector<File> files;
  std::vector<Item> items; // in the text's order
  /// All names in bodies, initial values and aliases. Views of `text`.
  std::unordered_set<std::string_view> used_names;

  /// Whether other units find the symbol here.
  bool defines(std::string_view symbol) const;
};

} // namespace accelerator::linker
