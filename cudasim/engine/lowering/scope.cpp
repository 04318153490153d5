#include "cudasim/engine/lowering/scope.h"

namespace cudasim::engine {

bool Scope::find(const std::string& name, Binding* binding) const {
  std::size_t digits = name.size();
  while (digits > 0 && name[digits - 1] >= '0' && name[digits - 1] <= '9') {
    --digits;
  }
  const bool numbered = digits < name.size() && name.size() - digits < 10;
  const std::string prefix = numbered ? name.substr(0, digits) : std::string();
  const std::uint32_t number = numbered
      ? static_cast<std::uint32_t>(std::stoul(name.substr(digits)))
      : 0;
  for (const Scope* scope = this; scope != nullptr; scope = scope->parent_) {
    const auto exact = scope->names_.find(name);
    if (exact != scope->names_.end()) {
      *binding = exact->second;
      return true;
    }
    if (!numbered) {
      continue;
    }
    const auto range = scope->ranges_.find(prefix);
    if (range != scope->ranges_.end() && number < range->second.count) {
      binding->kind = Binding::Kind::kRegister;
      binding->index = range->second.first + number;
      binding->type = range->second.type;
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
