#include "cudasim/engine/verify/scope.h"

namespace cudasim::engine {

namespace {

/// A name that may be one of a range: "%r12" is number 12 of "%r".
struct Numbered {
  bool is = false;
  std::string prefix;
  std::uint32_t number = 0;

  explicit Numbered(const std::string& name) {
    std::size_t digits = name.size();
    while (digits > 0 && name[digits - 1] >= '0' && name[digits - 1] <= '9') {
      --digits;
    }
    // "%r01" is not "%r1".
    is = digits < name.size() && name.size() - digits < 10 &&
        (name[digits] != '0' || name.size() - digits == 1);
    if (is) {
      prefix = name.substr(0, digits);
      number = static_cast<std::uint32_t>(std::stoul(name.substr(digits)));
    }
  }
};

} // namespace

bool Scope::is_in_range(const std::string& name) const {
  if (ranges_.empty()) {
    return false;
  }
  const Numbered numbered(name);
  const auto range =
      numbered.is ? ranges_.find(numbered.prefix) : ranges_.end();
  return range != ranges_.end() && numbered.number < range->second.count;
}

bool Scope::declare_range(
    const std::string& name,
    std::uint32_t count,
    const Binding& first) {
  for (const auto& [other, binding] : names_) {
    const Numbered numbered(other);
    if (numbered.is && numbered.prefix == name && numbered.number < count) {
      return false;
    }
  }
  return ranges_.try_emplace(name, Range{count, first}).second;
}

bool Scope::find(const std::string& name, Binding* binding) const {
  const Numbered numbered(name);
  for (const Scope* scope = this; scope != nullptr; scope = scope->parent_) {
    const auto exact = scope->names_.find(name);
    if (exact != scope->names_.end()) {
      *binding = exact->second;
      return true;
    }
    if (!numbered.is) {
      continue;
    }
    const auto range = scope->ranges_.find(numbered.prefix);
    if (range != scope->ranges_.end() &&
        numbered.number < range->second.count) {
      *binding = range->second.first;
      binding->index += numbered.number;
      binding->digits = name.size() - numbered.prefix.size();
      return true;
    }
  }
  return false;
}

bool Scope::find_label(const std::string& name, std::uint32_t* instruction)
    const {
  for (const Scope* scope = this; scope != nullptr; scope = scope->parent_) {
    const auto found = scope->labels_.find(name);
    if (found != scope->labels_.end()) {
      *instruction = found->second;
      return true;
    }
  }
  return false;
}

} // namespace cudasim::engine
