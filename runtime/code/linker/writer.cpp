#include "runtime/code/linker/writer.h"

#include <algorithm>
#include <charconv>

namespace accelerator::linker {
namespace {

const char* directive_of(Linkage linkage) {
  switch (linkage) {
    case Linkage::kExtern:
      return ".extern ";
    case Linkage::kVisible:
      return ".visible ";
    case Linkage::kWeak:
      return ".weak ";
    case Linkage::kCommon:
      return ".common ";
    default:
      return "";
  }
}

// sm_90a is above sm_90.
std::pair<unsigned, std::string_view> rank(std::string_view target) {
  const std::size_t begin = std::min(target.find('_'), target.size() - 1) + 1;
  unsigned number = 0;
  const auto end = std::from_chars(
      target.data() + begin, target.data() + target.size(), number);
  return {number, target.substr(end.ptr - target.data())};
}

// For a comment: on one line.
std::string on_one_line(std::string name) {
  std::replace_if(
      name.begin(), name.end(), [](char c) { return c < ' '; }, ' ');
  return name;
}

} // namespace

std::string Writer::write() {
  rename_statics();
  write_header();
  write_prototypes();
  write_variables();
  write_definitions();
  return std::move(result_);
}

// A static name stays where no other unit has it.
void Writer::rename_statics() {
  std::unordered_set<std::string> taken;
  for (const auto& unit : units_) {
    for (const Item& item : unit->items) {
      if (item.linkage != Linkage::kStatic) {
        taken.insert(item.name);
      }
    }
  }
  unsigned files = 0;
  for (const auto& unit : units_) {
    Renaming& renaming = renamings_.emplace_back();
    renaming.first_file = files;
    for (const Unit::File& file : unit->files) {
      files = std::max(files, renaming.first_file + file.index);
    }
    std::unordered_set<std::string_view> own;
    for (const Item& item : unit->items) {
      if (item.linkage != Linkage::kStatic || !own.insert(item.name).second ||
          taken.insert(item.name).second) {
        continue;
      }
      std::string name;
      unsigned number = 1;
      do {
        name = item.name + "$" + std::to_string(++number);
      } while (unit->used_names.count(name) > 0 || !taken.insert(name).second);
      renaming.names[item.name] = std::move(name);
    }
  }
}

void Writer::write_header() {
  std::pair<unsigned, unsigned> version;
  std::string_view target = units_.front()->target;
  for (const auto& unit : units_) {
    version =
        std::max(version, std::pair(unit->version_major, unit->version_minor));
    if (rank(unit->target) > rank(target)) {
      target = unit->target;
    }
  }
  result_ += ".version " + std::to_string(version.first) + "." +
      std::to_string(version.second) + "\n.target " + std::string(target) +
      "\n.address_size 64\n";
  for (std::size_t i = 0; i < units_.size(); ++i) {
    for (const Unit::File& file : units_[i]->files) {
      result_ += ".file " +
          std::to_string(renamings_[i].first_file + file.index) + " " +
          file.rest + "\n";
    }
  }
}

bool Writer::is_written(const Item& item) const {
  if (item.linkage == Linkage::kStatic) {
    return item.is_defined;
  }
  const auto found = chosen_.find(item.name);
  return found != chosen_.end() && found->second == &item;
}

// Whether an extern declaration has to stand in the result, where none of that
// name stands yet.
bool Writer::is_left_undefined(const Item& item) {
  return !item.is_defined && item.linkage != Linkage::kStatic &&
      chosen_.count(item.name) == 0 && declared_.insert(item.name).second;
}

void Writer::write_text(std::size_t unit, Range range) {
  const Renaming& renaming = renamings_[unit];
  const std::string_view text = units_[unit]->text;
  if (renaming.names.empty() && units_[unit]->files.empty()) {
    result_ += range.of(text);
  } else {
    result_ += rewritten(text, range, renaming);
  }
}

// All functions, so that what follows may name them in any order.
void Writer::write_prototypes() {
  for (std::size_t i = 0; i < units_.size(); ++i) {
    std::unordered_set<std::string_view> aliases;
    for (const Item& item : units_[i]->items) {
      if (item.kind == Item::Kind::kAlias && is_written(item)) {
        aliases.insert(item.name);
      }
    }
    for (const Item& item : units_[i]->items) {
      if (item.kind != Item::Kind::kFunction || item.is_entry) {
        continue;
      }
      const bool is_for_alias =
          !item.is_defined && aliases.count(item.name) > 0;
      const bool is_undefined = is_left_undefined(item);
      if (is_written(item) || is_for_alias || is_undefined) {
        result_ += is_undefined ? ".extern " : directive_of(item.linkage);
        write_text(i, item.head);
        result_ += ";\n";
      }
    }
  }
}

void Writer::write_variables() {
  statics_.resize(units_.size());
  std::vector<Place> places;
  std::unordered_map<std::string_view, Place> dynamic; // extern .shared
  for (std::size_t i = 0; i < units_.size(); ++i) {
    for (const Item& item : units_[i]->items) {
      if (item.kind != Item::Kind::kVariable) {
        continue;
      }
      const Place place{i, &item};
      if (is_written(item)) {
        places.push_back(place);
        const bool is_static = item.linkage == Linkage::kStatic;
        (is_static ? statics_[i] : shared_).emplace(item.name, place);
      } else if (item.space == ".shared" && chosen_.count(item.name) == 0) {
        Place& first = dynamic[item.name];
        if (first.item == nullptr || first.item->alignment < item.alignment) {
          first = place;
        }
      } else if (is_left_undefined(item)) {
        places.push_back(place);
      }
    }
  }
  for (const auto& [name, place] : dynamic) {
    write_variable(place);
  }
  for (const Place& place : places) {
    write_with_what_it_names(place);
  }
}

// Initial values name variables that stand before them. Where two name each
// other, one has to stand behind.
void Writer::write_with_what_it_names(Place first) {
  struct Step {
    Place place;
    std::size_t next = 0; // of its initial names
  };
  std::vector<Step> steps;
  const auto enter = [&](const Place& place) {
    if (done_.insert(place.item).second) {
      steps.push_back({place});
    }
  };
  enter(first);
  while (!steps.empty()) {
    Step& step = steps.back();
    const Place place = step.place;
    if (step.next == place.item->initial_names.size()) {
      write_variable(place);
      steps.pop_back();
      continue;
    }
    const std::string& name = place.item->initial_names[step.next++];
    const auto own = statics_[place.unit].find(name);
    const auto other = shared_.find(name);
    if (own != statics_[place.unit].end()) {
      enter(own->second);
    } else if (other != shared_.end()) {
      enter(other->second);
    }
  }
}

void Writer::write_variable(const Place& place) {
  result_ += directive_of(place.item->linkage);
  write_text(place.unit, place.item->head);
  write_text(place.unit, place.item->body);
  result_ += ";\n";
}

void Writer::write_definitions() {
  for (std::size_t i = 0; i < units_.size(); ++i) {
    const Unit& unit = *units_[i];
    result_ += "\n// of " + on_one_line(unit.name) + "\n";
    for (const Item& item : unit.items) {
      if (item.kind == Item::Kind::kFunction && item.is_defined &&
          is_written(item)) {
        result_ += directive_of(item.linkage);
        write_text(i, {item.head.begin, item.body.end});
        result_ += "\n";
      }
    }
    for (const Item& item : unit.items) {
      if (item.kind == Item::Kind::kAlias && is_written(item)) {
        write_text(i, item.body);
        result_ += ";\n";
      }
    }
  }
}

} // namespace accelerator::linker
