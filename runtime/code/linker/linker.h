// Joins the PTX of several inputs to that of one module, as the driver's linker
// joins machine code: symbols find each other, what is there twice or nowhere
// is an error, and names that only one input sees stay apart. Its messages are
// those of NVIDIA's linker.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/code/linker/unit.h"

namespace accelerator::linker {

/// An input that does not fit to those before it, or symbols that nobody
/// defines. Each line of the message is one of NVIDIA's linker.
class LinkError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

class Linker {
 public:
  /// What becomes of symbols that no input defines.
  enum class Undefined : std::uint8_t { kRefused, kLeft };

  explicit Linker(Undefined undefined = Undefined::kRefused)
      : undefined_(undefined) {}

  /// Adds an input.
  /// @param name for messages.
  /// @throws SyntaxError; LinkError when a symbol is there twice or otherwise
  /// than before. The linker is as before then.
  void add(std::string name, std::string ptx);

  /// Adds a part of a library, which is linked where it defines what is
  /// missing.
  /// @throws SyntaxError
  void add_library_part(std::string name, std::string ptx);

  /// How many inputs there are that are no parts of libraries.
  std::size_t inputs() const {
    return inputs_;
  }

  /// Functions that inputs and parts of libraries call and that no input
  /// defines.
  std::vector<std::string> undefined_functions() const;

  /// The module of all inputs. That of a single one, which needs nothing else,
  /// is its own text.
  /// @throws LinkError
  std::string link();

  /// PTX that a device loads by itself: variables that it expects of other
  /// inputs have a place in it. Lines and columns stay.
  /// @throws SyntaxError
  static std::string by_itself(const std::string& name, std::string ptx);

 private:
  /// What is known of a name that units share.
  struct Symbol {
    const Unit* first_unit = nullptr; // that declares it
    const Item* first = nullptr;
    const Unit* unit = nullptr; // that defines it; null: none
    const Item* item = nullptr;
  };

  void add_unit(std::unique_ptr<Unit> unit);
  std::string conflicts(const Unit& unit, const Item& item) const;
  void enter(const Unit& unit, const Item& item);
  void link_library_parts();
  std::vector<std::string> missing(const Unit& unit) const;
  void refuse_undefined() const;

  Undefined undefined_;
  std::vector<std::unique_ptr<Unit>> units_;
  std::vector<std::unique_ptr<Unit>> library_parts_;
  std::map<std::string, Symbol, std::less<>> symbols_;
  std::size_t inputs_ = 0;
};

/// Functions that a device has without any module: printf's and the like.
bool is_devices_own(std::string_view function);

} // namespace accelerator::linker
