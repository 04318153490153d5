#include "cudasim/engine/check/findings.h"

#include <functional>
#include <utility>

#include "cudasim/engine/code/readable_name.h"

namespace cudasim::engine {

const char* name_of(FindingKind kind) {
  switch (kind) {
    case FindingKind::kUninitializedGlobal:
      return "Uninitialized read of global memory";
    case FindingKind::kUninitializedShared:
      return "Uninitialized read of shared memory";
    case FindingKind::kReadAfterWrite:
      return "Race in shared memory (read after write)";
    case FindingKind::kWriteAfterRead:
      return "Race in shared memory (write after read)";
    case FindingKind::kWriteAfterWrite:
      return "Race in shared memory (write after write)";
  }
  return "";
}

namespace {

/// Stands for the code of a function. Modules that are compiled while a program
/// runs may have functions of one name at the same line.
std::string fingerprint(const Code& code) {
  std::string text = code.source_name + '\n' + code.name;
  for (const std::string& instruction : code.texts) {
    text += '\n' + instruction;
  }
  return std::to_string(std::hash<std::string>{}(text));
}

std::string key_of(const Site& site) {
  return site.code == nullptr
      ? ""
      : fingerprint(*site.code) + ':' + std::to_string(site.inst->index);
}

std::string count(std::uint64_t number, const char* one, const char* more) {
  return std::to_string(number) + (number == 1 ? one : more);
}

} // namespace

std::string text_of(const Site& site) {
  return site.code->texts[site.inst->index] + " in " +
      readable_name(site.code->name) + " (" + site.code->source_name +
      ", PTX line " + std::to_string(site.inst->line) + ")";
}

std::vector<std::string> Findings::take() {
  const std::lock_guard<std::mutex> lock(mutex_);
  return std::exchange(reports_, {});
}

std::vector<std::string> Findings::totals() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  std::vector<std::string> lines;
  for (const auto& [key, finding] : findings_) {
    lines.push_back(
        finding.what + ": " + count(finding.times, " time", " times") + " in " +
        count(finding.launches, " launch", " launches"));
  }
  return lines;
}

bool LaunchFindings::add(
    FindingKind kind,
    const Site& first,
    const Site& second) {
  const std::lock_guard<std::mutex> lock(all_.mutex_);
  Findings::Finding*& known = known_[{kind, first.inst, second.inst}];
  bool is_new = false;
  if (known == nullptr) {
    const std::string key = std::to_string(static_cast<int>(kind)) + ' ' +
        key_of(first) + ' ' + key_of(second);
    const auto found = all_.findings_.try_emplace(key);
    known = &found.first->second;
    is_new = found.second;
    ++known->launches;
  }
  if (is_new) {
    known->what = std::string(name_of(kind)) +
        (second.code == nullptr
             ? " at " + text_of(first)
             : " between " + text_of(first) + " and " + text_of(second));
  }
  ++known->times;
  return is_new;
}

void LaunchFindings::report(std::string text) {
  const std::lock_guard<std::mutex> lock(all_.mutex_);
  all_.reports_.push_back(std::move(text));
}

} // namespace cudasim::engine
