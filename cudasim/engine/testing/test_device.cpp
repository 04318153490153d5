#include "cudasim/engine/testing/test_device.h"

#include <cstdlib>
#include <iterator>
#include <new>
#include <stdexcept>

#include "cudasim/engine/testing/launch_record.h"

namespace cudasim::engine::testing {
namespace {

/// Bytes between two allocations that belong to none.
constexpr std::size_t kGap = 256;

/// Bytes that one allocation may have.
constexpr std::size_t kMost = 1 << 28;

} // namespace

TestDevice::~TestDevice() {
  module_.reset();
  for (void* block : blocks_) {
    std::free(block);
  }
}

void* TestDevice::allocate(std::size_t bytes, bool read_only) {
  if (bytes > kMost) {
    throw std::bad_alloc();
  }
  const std::size_t room = (bytes + kGap - 1) / kGap * kGap + 2 * kGap;
  auto* block = static_cast<char*>(std::aligned_alloc(kGap, room));
  if (block == nullptr) {
    throw std::bad_alloc();
  }
  blocks_.push_back(block);
  std::memset(block, 0, room);
  char* memory = block + kGap;
  Range range;
  range.begin = reinterpret_cast<std::uint64_t>(memory);
  range.end = range.begin + bytes;
  range.id = blocks_.size();
  range.read_only = read_only;
  ranges_[range.begin] = range;
  generation_.fetch_add(1);
  return memory;
}

void TestDevice::load(const std::string& body, const std::string& target) {
  text_ = ".version 9.5\n.target " + target + "\n.address_size 64\n" + body;
  module_ = Module::load(
      text_,
      "test.ptx",
      [this](
          std::uint64_t bytes,
          std::uint64_t,
          bool read_only,
          std::string_view variable) {
        const auto address =
            reinterpret_cast<std::uint64_t>(allocate(bytes, read_only));
        variables_[address] = variable;
        return address;
      });
}

Outcome TestDevice::run_packed(
    const std::string& name,
    const Shape& shape,
    const std::vector<std::string>& arguments) {
  const Kernel* kernel = module_->kernel(name);
  if (kernel == nullptr) {
    throw std::invalid_argument("there is no kernel " + name);
  }
  const KernelInfo& info = module_->info(*kernel);
  if (info.parameters.size() != arguments.size()) {
    throw std::invalid_argument(
        name + " has " + std::to_string(info.parameters.size()) +
        " parameters, not " + std::to_string(arguments.size()));
  }
  std::vector<char> packed(info.parameter_bytes + 16);
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (info.parameters[i].size != arguments[i].size()) {
      throw std::invalid_argument(
          "parameter " + std::to_string(i) + " of " + name + " has " +
          std::to_string(info.parameters[i].size) + " bytes, not " +
          std::to_string(arguments[i].size()));
    }
    std::memcpy(
        packed.data() + info.parameters[i].offset,
        arguments[i].data(),
        arguments[i].size());
  }
  Launch launch;
  launch.module = module_.get();
  launch.kernel = kernel;
  launch.grid = shape.grid;
  launch.block = shape.block;
  launch.dynamic_shared_bytes = shape.dynamic_shared_bytes;
  launch.parameters = packed.data();
  launch.cooperative = shape.cooperative;
  launch.device.memory = this;
  launch.device.max_shared_bytes = 163 << 10;
  launch.workers = shape.workers;
  launch.timeout_seconds = shape.timeout_seconds;
  launch.findings = shape.findings;
  launch.counts = shape.counts;
  launch.print = print ? print : [this](std::string_view text) {
    const std::lock_guard lock(printing_);
    printed += text;
  };
  LaunchRecord record(
      text_, name, launch, info.parameter_bytes, {ranges_, variables_});
  Outcome outcome = engine::run(launch);
  record.finish(outcome);
  return outcome;
}

bool TestDevice::find(std::uint64_t address, Range* range) const {
  auto found = ranges_.upper_bound(address);
  if (found == ranges_.begin()) {
    return false;
  }
  --found;
  if (address >= found->second.end) {
    return false;
  }
  *range = found->second;
  return true;
}

void TestDevice::neighbours(std::uint64_t address, Range* below, Range* above)
    const {
  auto found = ranges_.upper_bound(address);
  if (found != ranges_.end()) {
    *above = found->second;
  }
  if (found != ranges_.begin()) {
    *below = std::prev(found)->second;
  }
}

} // namespace cudasim::engine::testing
