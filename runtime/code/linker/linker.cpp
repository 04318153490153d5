#include "runtime/code/linker/linker.h"

#include <algorithm>
#include <utility>

#include "runtime/code/linker/device_runtime.h"
#include "runtime/code/linker/writer.h"

namespace accelerator::linker {
namespace {

std::string quoted(std::string_view name) {
  return "'" + std::string(name) + "'";
}

bool is_strong(const Item& item) {
  return item.is_defined && item.linkage == Linkage::kVisible;
}

// Whether `item` takes the place of another definition, which may be null.
bool replaces(const Item& item, const Item* other) {
  if (!item.is_defined || other == nullptr) {
    return item.is_defined;
  }
  if (is_strong(item) || is_strong(*other)) {
    return !is_strong(*other);
  }
  return item.linkage == Linkage::kCommon &&
      other->linkage == Linkage::kCommon && item.size > other->size;
}

} // namespace

bool is_devices_own(std::string_view function) {
  return function == "vprintf" || function == "__assertfail" ||
      function == "malloc" || function == "free" ||
      // What kernels launch kernels by (cuda_device_runtime_api.h). Some of it
      // is PTX of the runtime, which is added when a module is loaded.
      function.rfind("__cudaCDP2", 0) == 0 || function.rfind("__accel", 0) == 0;
}

void Linker::add(std::string name, std::string ptx) {
  add_unit(std::make_unique<Unit>(std::move(name), std::move(ptx)));
  ++inputs_;
}

void Linker::add_library_part(std::string name, std::string ptx) {
  library_parts_.push_back(
      std::make_unique<Unit>(std::move(name), std::move(ptx)));
}

void Linker::add_unit(std::unique_ptr<Unit> unit) {
  std::string found;
  for (const Item& item : unit->items) {
    if (item.linkage != Linkage::kStatic) {
      found += conflicts(*unit, item);
    }
  }
  if (!found.empty()) {
    throw LinkError(found);
  }
  for (const Item& item : unit->items) {
    if (item.linkage != Linkage::kStatic) {
      enter(*unit, item);
    }
  }
  units_.push_back(std::move(unit));
}

std::string Linker::conflicts(const Unit& unit, const Item& item) const {
  const auto found = symbols_.find(item.name);
  if (found == symbols_.end()) {
    return "";
  }
  const Symbol& symbol = found->second;
  const Item& first = *symbol.first;
  std::string messages;
  const auto complain =
      [&](const char* what, const Unit& other, const char* verb) {
        messages += "error   : " + std::string(what) + " " + quoted(item.name) +
            " in " + quoted(unit.name) + ", first " + verb + " in " +
            quoted(other.name) + "\n";
      };
  const bool is_variable = item.kind == Item::Kind::kVariable;
  const bool was_variable = first.kind == Item::Kind::kVariable;
  if (is_variable != was_variable || item.space != first.space) {
    complain("Memory space doesn't match for", *symbol.first_unit, "specified");
  }
  if (is_variable != was_variable) {
    complain("Size doesn't match for", *symbol.first_unit, "specified");
  } else if (is_variable) {
    const bool is_common =
        item.linkage == Linkage::kCommon || first.linkage == Linkage::kCommon;
    const bool is_told = item.size != 0 && first.size != 0;
    if (item.size != first.size && is_told && !is_common) {
      complain("Size doesn't match for", *symbol.first_unit, "specified");
    }
  } else if (
      // An alias has no prototype of its own.
      item.kind == Item::Kind::kFunction &&
      first.kind == Item::Kind::kFunction &&
      (item.results != first.results || item.parameters != first.parameters)) {
    // As NVIDIA's says it where there were declarations alone.
    complain(
        "Prototype doesn't match for",
        symbol.unit != nullptr ? *symbol.unit : unit,
        "defined");
  }
  if (symbol.item != nullptr && is_strong(item) && is_strong(*symbol.item)) {
    complain("Multiple definition of", *symbol.unit, "defined");
  }
  return messages;
}

void Linker::enter(const Unit& unit, const Item& item) {
  Symbol& symbol = symbols_[item.name];
  if (symbol.first == nullptr) {
    symbol.first = &item;
    symbol.first_unit = &unit;
  }
  if (replaces(item, symbol.item)) {
    symbol.item = &item;
    symbol.unit = &unit;
  }
}

// Functions that nobody calls need not be there; variables do.
std::vector<std::string> Linker::missing(const Unit& unit) const {
  std::vector<std::string> names;
  for (const Item& item : unit.items) {
    const auto found = symbols_.find(item.name);
    const bool is_missing = !item.is_defined &&
        item.linkage != Linkage::kStatic && item.space != ".shared" &&
        found->second.item == nullptr;
    const bool is_used = item.kind == Item::Kind::kVariable ||
        (unit.used_names.count(item.name) > 0 && !is_devices_own(item.name));
    if (is_missing && is_used &&
        std::find(names.begin(), names.end(), item.name) == names.end()) {
      names.push_back(item.name);
    }
  }
  return names;
}

std::vector<std::string> Linker::undefined_functions() const {
  std::vector<std::string> names;
  const auto collect = [&](const Unit& unit) {
    for (const Item& item : unit.items) {
      const auto found = symbols_.find(item.name);
      if (item.kind == Item::Kind::kFunction && !item.is_defined &&
          item.linkage == Linkage::kExtern && !is_devices_own(item.name) &&
          unit.used_names.count(item.name) > 0 &&
          (found == symbols_.end() || found->second.item == nullptr) &&
          std::find(names.begin(), names.end(), item.name) == names.end()) {
        names.push_back(item.name);
      }
    }
  };
  for (const auto& unit : units_) {
    collect(*unit);
  }
  for (const auto& unit : library_parts_) {
    collect(*unit);
  }
  return names;
}

void Linker::link_library_parts() {
  // What is linked can miss something itself.
  for (std::size_t i = 0; i < units_.size(); ++i) {
    for (const std::string& name : missing(*units_[i])) {
      if (symbols_.at(name).item != nullptr) {
        continue; // it has come with another one
      }
      if (is_of_device_runtime(name)) {
        // Not libcudadevrt's, which needs what only NVIDIA's driver has.
        add_unit(std::make_unique<Unit>("cudadevrt", device_runtime()));
        continue;
      }
      const auto part = std::find_if(
          library_parts_.begin(), library_parts_.end(), [&](const auto& unit) {
            return unit->defines(name);
          });
      if (part != library_parts_.end()) {
        auto unit = std::move(*part);
        library_parts_.erase(part);
        add_unit(std::move(unit));
      }
    }
  }
}

void Linker::refuse_undefined() const {
  std::string messages;
  for (const auto& unit : units_) {
    for (const std::string& name : missing(*unit)) {
      messages += "error   : Undefined reference to " + quoted(name) + " in " +
          quoted(unit->name) + "\n";
    }
  }
  if (!messages.empty()) {
    throw LinkError(messages);
  }
}

std::string Linker::link() {
  link_library_parts();
  if (undefined_ == Undefined::kRefused) {
    refuse_undefined();
  }
  if (units_.size() == 1) {
    return units_.front()->text;
  }
  Writer writer(units_);
  for (const auto& [name, symbol] : symbols_) {
    if (symbol.item != nullptr) {
      writer.choose(*symbol.item);
    }
  }
  return writer.write();
}

std::string Linker::by_itself(const std::string& name, std::string ptx) {
  const Unit unit(name, std::move(ptx));
  std::string text = unit.text;
  for (const Item& item : unit.items) {
    if (item.kind == Item::Kind::kVariable &&
        item.linkage == Linkage::kExtern && item.space != ".shared") {
      // Several variables can share it.
      const std::size_t at = text.find(".extern", item.begin);
      if (at < item.head.begin) {
        text.replace(at, 7, 7, ' ');
      }
    }
  }
  return text;
}

} // namespace accelerator::linker
