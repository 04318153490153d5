#include "cudasim/engine/warp/calls.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <vector>

namespace cudasim::engine {
namespace {

/// Copies within the local memory of each active lane.
void copy_local(
    Warp& warp,
    std::uint64_t to,
    std::uint64_t from,
    std::uint32_t size,
    Mask active) {
  for (Mask left = active; left != 0; left &= left - 1) {
    std::byte* base = warp.local_base +
        static_cast<std::uint64_t>(__builtin_ctz(left)) * warp.local_size;
    std::memcpy(base + to, base + from, size);
  }
}

bool same_sizes(
    const std::vector<Passed>& passed,
    const std::vector<Passed>& taken) {
  return std::equal(
      passed.begin(),
      passed.end(),
      taken.begin(),
      taken.end(),
      [](const Passed& one, const Passed& other) {
        return one.size == other.size;
      });
}

} // namespace

bool fits(const Control& call, const Code& callee) {
  // A caller may leave out what it does not want to know.
  return same_sizes(call.arguments, callee.parameters) &&
      (call.results.empty() || same_sizes(call.results, callee.results));
}

void pass_arguments(
    Warp& warp,
    const Control& call,
    Frame& callee,
    Mask active) {
  callee.call = &call;
  if (callee.code->allocates) {
    std::copy_n(warp.stack_top, kLanes, callee.stack_top);
  }
  const auto& parameters = callee.code->parameters;
  const std::size_t count = std::min(call.arguments.size(), parameters.size());
  for (std::size_t i = 0; i < count; ++i) {
    copy_local(
        warp,
        callee.local_frame + parameters[i].to,
        callee.parent->local_frame + call.arguments[i].from,
        parameters[i].size,
        active);
  }
}

std::uint64_t lowest_stack_top(const Warp& warp, Mask active) {
  std::uint64_t lowest = warp.local_size;
  for (Mask left = active; left != 0; left &= left - 1) {
    lowest = std::min(lowest, warp.stack_top[__builtin_ctz(left)]);
  }
  return lowest;
}

void pass_results(Warp& warp, const Frame& callee, Mask active) {
  if (callee.code->allocates) {
    for (Mask left = active; left != 0; left &= left - 1) {
      const int lane = __builtin_ctz(left);
      warp.stack_top[lane] = callee.stack_top[lane];
    }
  }
  const Control& call = *callee.call;
  const auto& results = callee.code->results;
  const std::size_t count = std::min(call.results.size(), results.size());
  for (std::size_t i = 0; i < count; ++i) {
    copy_local(
        warp,
        callee.parent->local_frame + call.results[i].to,
        callee.local_frame + results[i].from,
        results[i].size,
        active);
  }
}

} // namespace cudasim::engine
