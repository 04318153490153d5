#include "cudasim/backend/memory/written.h"

#include <cstdio>
#include <cstring>
#include <vector>

#include "cudasim/backend/status/error.h"
#include "cudasim/engine/memory/poison.h"

namespace cudasim::backend {
namespace {

std::string hexadecimal(std::uint64_t value) {
  char text[32];
  std::snprintf(
      text, sizeof(text), "0x%llx", static_cast<unsigned long long>(value));
  return text;
}

} // namespace

void WrittenCheck::read(const accel_read& read) {
  engine::Unwritten found;
  std::uint64_t all = 0;
  for (std::uint64_t z = 0; z < read.depth; ++z) {
    // Negative distances wrap around, and back.
    std::uint64_t begin =
        address_of(read.from) + z * static_cast<std::uint64_t>(read.slice);
    std::uint64_t width = read.width;
    for (std::uint64_t y = 0; y < read.height; ++y) {
      const auto here = engine::find_unwritten(begin, begin + width);
      found.first = found.bytes == 0 ? here.first : found.first;
      found.bytes += here.bytes;
      all += width;
      begin += static_cast<std::uint64_t>(read.pitch);
      width += static_cast<std::uint64_t>(read.growth);
    }
  }
  if (found.bytes == 0) {
    return;
  }
  const auto allocation = addresses_.find(found.first);
  // Host memory is not poisoned: a word of it only looks like it.
  if (!allocation || allocation->device == ACCEL_HOST) {
    return;
  }
  {
    const std::lock_guard lock(mutex_);
    if (!reported_.emplace(read.function, allocation->id).second) {
      return;
    }
  }
  report(
      "Uninitialized read of global memory by " + std::string(read.function) +
      ": " + std::to_string(found.bytes) + " of the " + std::to_string(all) +
      " bytes that it reads\n    the first at address " +
      hexadecimal(found.first) + ", byte " +
      std::to_string(found.first - allocation->begin) + " of allocation " +
      std::to_string(allocation->id) + " of " +
      std::to_string(allocation->size()) + " bytes at " +
      hexadecimal(allocation->begin) + ": nothing has written it\n");
}

void copy_with_poison(std::byte* to, const std::byte* from, std::size_t bytes) {
  const std::uint64_t source = address_of(from);
  const std::uint64_t target = address_of(to);
  std::vector<std::uint64_t> words; // where the copy has words without value
  if ((target - source) % engine::kPoisonWord == 0) {
    const std::uint64_t begin = (source + engine::kPoisonWord - 1) /
        engine::kPoisonWord * engine::kPoisonWord;
    for (std::uint64_t at = begin; at + engine::kPoisonWord <= source + bytes;
         at += engine::kPoisonWord) {
      if (engine::is_poisoned(at, engine::kPoisonWord)) {
        words.push_back(at - source + target);
      }
    }
  }
  std::memmove(to, from, bytes);
  for (const std::uint64_t word : words) {
    engine::poison(reinterpret_cast<void*>(word), engine::kPoisonWord);
  }
}

} // namespace cudasim::backend
