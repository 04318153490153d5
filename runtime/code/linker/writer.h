// Writes the PTX of a module from that of several units.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "runtime/code/linker/rewriter.h"
#include "runtime/code/linker/unit.h"

namespace accelerator::linker {

class Writer {
 public:
  using Units = std::vector<std::unique_ptr<Unit>>;

  /// @param units in the order of the text; they stay as they are.
  explicit Writer(const Units& units) : units_(units) {}

  /// Says which definition there is of a name that units share. To be called
  /// for all of them. Static ones need not be chosen.
  void choose(const Item& item) {
    chosen_[item.name] = &item;
  }

  std::string write();

 private:
  /// An item of units_[unit].
  struct Place {
    std::size_t unit = 0;
    const Item* item = nullptr;
  };

  void rename_statics();
  void write_header();
  void write_prototypes();
  void write_variables();
  void write_with_what_it_names(Place first);
  void write_variable(const Place& place);
  void write_definitions();

  bool is_written(const Item& item) const;
  bool is_left_undefined(const Item& item);
  void write_text(std::size_t unit, Range range);

  const Units& units_;
  std::unordered_map<std::string_view, const Item*> chosen_;
  std::vector<Renaming> renamings_; // by units
  std::unordered_set<std::string_view> declared_; // extern, in the result
  std::unordered_set<const Item*> done_; // variables
  std::vector<std::unordered_map<std::string_view, Place>> statics_; // by units
  std::unordered_map<std::string_view, Place> shared_;
  std::string result_;
};

} // namespace accelerator::linker
