#include "cudasim/engine/instructions/key.h"

#include <algorithm>

#include "cudasim/ptx/words.h"

namespace cudasim::engine {
namespace {

bool starts_with(std::string_view word, std::string_view prefix) {
  return word.substr(0, prefix.size()) == prefix;
}

bool accesses_memory(std::string_view opcode) {
  return ptx::is_one_of(
      opcode,
      {"ld",
       "st",
       "ldu",
       "atom",
       "red",
       "prefetch",
       "prefetchu",
       "cp",
       "mbarrier"});
}

/// What says nothing about the result here (PTX ISA 8, memory consistency, and
/// 9.7.8.1, cache operators). x86 orders loads and stores as acquire and
/// release do already.
bool is_hint(std::string_view modifier) {
  return ptx::is_one_of(modifier, {"volatile", "weak",
                                   "relaxed",  "acquire",
                                   "release",  "acq_rel",
                                   "mmio",     "cta",
                                   "cluster",  "gpu",
                                   "gl",       "sys",
                                   "ca",       "cg",
                                   "cs",       "cv",
                                   "lu",       "wb",
                                   "wt",       "nc",
                                   "L1",       "L2",
                                   "noftz",    "level",
                                   "unified",  "L2::cache_hint"}) ||
      starts_with(modifier, "L1::") || starts_with(modifier, "L2::");
}

/// The same of surfaces, which have fewer of them (PTX ISA 9.7.10).
bool is_surface_hint(std::string_view opcode, std::string_view modifier) {
  return (opcode == "suld" &&
          ptx::is_one_of(modifier, {"ca", "cg", "cs", "cv"})) ||
      (opcode == "sust" && ptx::is_one_of(modifier, {"wb", "cg", "cs", "wt"}));
}

} // namespace

std::string canonical_key(const ptx::Instruction& instruction) {
  std::vector<std::string_view> words;
  std::vector<std::string_view> types;
  const bool memory = accesses_memory(instruction.opcode);
  for (const std::string& modifier : instruction.modifiers) {
    std::string_view word = modifier;
    if (word == "uni" || (memory && is_hint(word)) ||
        is_surface_hint(instruction.opcode, word)) {
      continue;
    }
    if (word == "shared::cta" || word == "shared::cluster") {
      // Each block is a cluster of its own.
      word = "shared";
    } else if (word == "param::entry") {
      word = "param";
    } else if (word == "sp::ordered_metadata") {
      // Indices that rise, which is one of the ways that sp takes.
      word = "sp";
    }
    if (ptx::type_named(word) != ptx::Type::kNone) {
      types.push_back(word);
    } else {
      words.push_back(word);
    }
  }
  std::sort(words.begin(), words.end());
  std::string key = instruction.opcode;
  for (const auto* list : {&words, &types}) {
    for (const std::string_view word : *list) {
      key += '.';
      key += word;
    }
  }
  return key;
}

namespace {

/// Calls visit with each word of "opcode.modifier.modifier".
template <typename Visit>
void for_each_word(std::string_view text, Visit visit) {
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t dot = std::min(text.find('.', begin), text.size());
    visit(text.substr(begin, dot - begin));
    begin = dot + 1;
  }
}

} // namespace

std::string canonical_key(const std::string& text) {
  ptx::Instruction instruction;
  for_each_word(text, [&](std::string_view word) {
    if (instruction.opcode.empty()) {
      instruction.opcode = word;
    } else {
      instruction.modifiers.emplace_back(word);
    }
  });
  return canonical_key(instruction);
}

std::vector<ptx::Type> types_in(std::string_view text) {
  std::vector<ptx::Type> types;
  for_each_word(text, [&](std::string_view word) {
    const ptx::Type type = ptx::type_named(word);
    if (type != ptx::Type::kNone) {
      types.push_back(type);
    }
  });
  return types;
}

} // namespace cudasim::engine
