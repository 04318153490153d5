#include "cudasim/engine/targets/requirements.h"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <unordered_map>

#include "cudasim/engine/targets/table.h"

namespace cudasim::engine {
namespace {

/// Calls visit with the parts of a text until it returns true; whether it did.
template <typename Visit>
bool any_part(std::string_view text, char separator, Visit visit) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(separator), text.size());
    if (visit(text.substr(0, end))) {
      return true;
    }
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return false;
}

bool is_word(std::string_view word, std::string_view pattern) {
  if (!pattern.empty() && pattern.back() == '*') {
    pattern.remove_suffix(1);
    return word.substr(0, pattern.size()) == pattern;
  }
  return word == pattern;
}

std::uint32_t number_in(std::string_view text) {
  std::uint32_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

/// Whether an instruction has one of "a|b|c".
bool has_any(const ptx::Instruction& instruction, std::string_view choices) {
  return any_part(choices, '|', [&](std::string_view pattern) {
    if (pattern == "#pair") {
      return !instruction.operands.empty() &&
          instruction.operands[0].kind == ptx::Operand::Kind::kPair;
    }
    if (pattern.front() == '#') {
      return instruction.operands.size() == number_in(pattern.substr(1));
    }
    if (pattern.back() == '$') {
      return !instruction.modifiers.empty() &&
          instruction.modifiers.back() == pattern.substr(0, pattern.size() - 1);
    }
    return std::any_of(
        instruction.modifiers.begin(),
        instruction.modifiers.end(),
        [&](const std::string& modifier) {
          return is_word(modifier, pattern);
        });
  });
}

/// Whether all words behind the opcodes hold.
bool has_form(const ptx::Instruction& instruction, std::string_view words) {
  return !any_part(words, ' ', [&](std::string_view word) {
    const bool negated = word.front() == '!';
    return has_any(instruction, word.substr(negated ? 1 : 0)) == negated;
  });
}

using ByOpcode =
    std::unordered_map<std::string_view, std::vector<const Requirement*>>;

const ByOpcode& by_opcode() {
  // Not destroyed: threads may outlive main().
  static const ByOpcode& all = *[] {
    auto* found = new ByOpcode();
    for (const Requirement& requirement : kRequirements) {
      const std::string_view form = requirement.form;
      any_part(
          form.substr(0, form.find(' ')), '|', [&](std::string_view opcode) {
            (*found)[opcode].push_back(&requirement);
            return false;
          });
    }
    return found;
  }();
  return all;
}

} // namespace

std::vector<const Requirement*> requirements_of(
    const ptx::Instruction& instruction) {
  std::vector<const Requirement*> needed;
  const auto found = by_opcode().find(instruction.opcode);
  if (found == by_opcode().end()) {
    return needed;
  }
  for (const Requirement* requirement : found->second) {
    const std::string_view form = requirement->form;
    const std::size_t end = std::min(form.find(' '), form.size());
    if (has_form(instruction, form.substr(std::min(end + 1, form.size())))) {
      needed.push_back(requirement);
    }
  }
  return needed;
}

std::vector<const Requirement*> requirements_of(std::string_view name) {
  const auto found = by_opcode().find(name);
  return found == by_opcode().end() ? std::vector<const Requirement*>()
                                    : found->second;
}

bool has(const Target& target, const Requirement& requirement) {
  using Reach = Target::Reach;
  return requirement.targets.empty() ||
      any_part(requirement.targets, ' ', [&](std::string_view name) {
           const std::uint32_t number = number_in(name);
           if (name.back() == 'a') {
             return target.number == number && target.reach == Reach::kOwn;
           }
           if (name.back() == 'f') {
             return target.number == number && target.reach != Reach::kAll;
           }
           const std::size_t dash = name.find('-');
           return target.number >= number &&
               (dash == std::string_view::npos ||
                target.number <= number_in(name.substr(dash + 1)));
         });
}

std::string targets_text(const Requirement& requirement) {
  std::string text;
  any_part(requirement.targets, ' ', [&](std::string_view name) {
    const std::size_t dash = name.find('-');
    text += (text.empty() ? "sm_" : ", sm_") +
        std::string(name.substr(0, dash)) +
        (dash != std::string_view::npos
             ? " to sm_" + std::string(name.substr(dash + 1))
             : name.back() >= '0' && name.back() <= '9' ? " or higher"
                                                        : "");
    return false;
  });
  return text;
}

} // namespace cudasim::engine
