#include "cudasim/engine/instructions/key.h"

#include <algorithm>
#include <vector>

namespace cudasim::engine {
namespace {

bool is_one_of(
    std::string_view word,
    std::initializer_list<std::string_view> list) {
  return std::find(list.begin(), list.end(), word) != list.end();
}

bool starts_with(std::string_view word, std::string_view prefix) {
  return word.substr(0, prefix.size()) == prefix;
}

bool accesses_memory(std::string_view opcode) {
  return is_one_of(
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
  return is_one_of(modifier, {"volatile", "weak",
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

} // namespace

std::string canonical_key(const ptx::Instruction& instruction) {
  std::vector<std::string_view> words;
  std::vector<std::string_view> types;
  const bool memory = accesses_memory(instruction.opcode);
  for (const std::string& modifier : instruction.modifiers) {
    std::string_view word = modifier;
    if (word == "uni" || (memory && is_hint(word))) {
      continue;
    }
    if (word == "shared::cta") {
      word = "shared";
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

std::string canonical_key(const std::string& text) {
  ptx::Instruction instruction;
  std::size_t begin = 0;
  for (bool first = true; begin <= text.size(); first = false) {
    const std::size_t dot = std::min(text.find('.', begin), text.size());
    if (first) {
      instruction.opcode = text.substr(0, dot);
    } else {
      instruction.modifiers.push_back(text.substr(begin, dot - begin));
    }
    begin = dot + 1;
  }
  return canonical_key(instruction);
}

} // namespace cudasim::engine
