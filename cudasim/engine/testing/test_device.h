// A device of its own for a test of the engine: memory that the test fills,
// modules from PTX text, launches whose end the test looks at.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "cudasim/engine/launch/launch.h"
#include "cudasim/engine/memory/address_space.h"
#include "cudasim/engine/module/module.h"
#include "cudasim/engine/state/instruction.h"

namespace cudasim::engine::testing {

/// A number that a variable of the environment has, for tests that make random
/// programs: which, and how many.
/// @param name such as CUDASIM_FUZZ_SEED. @param otherwise where it is not set.
inline unsigned fuzz_setting(const char* name, unsigned otherwise) {
  const char* const text = std::getenv(name);
  return text == nullptr ? otherwise : static_cast<unsigned>(std::atoi(text));
}

/// How many threads a launch has, and how it is run.
struct Shape {
  Dim3 grid{1, 1, 1};
  Dim3 block{kLanes, 1, 1};
  std::uint64_t dynamic_shared_bytes = 0;
  unsigned workers = 1;
  double timeout_seconds = 30;
  bool cooperative = false;
  Findings* findings = nullptr; // where checks note theirs; null: unchecked
  InstructionCounts* counts = nullptr;
};

/// Memory and modules of one test. Not thread-safe except for what kernels do.
class TestDevice : public AddressSpace {
 public:
  TestDevice() = default;
  ~TestDevice() override;
  TestDevice(const TestDevice&) = delete;
  TestDevice& operator=(const TestDevice&) = delete;

  /// Zeroed device memory; nothing is allocated within 256 bytes of it.
  /// @param bytes size, @param read_only as of a .const variable.
  void* allocate(std::size_t bytes, bool read_only = false);

  /// Device memory with a copy of `values`, which kernels may change.
  template <typename T>
  T* copy_of(const std::vector<T>& values) {
    auto* memory = static_cast<T*>(allocate(values.size() * sizeof(T)));
    std::memcpy(memory, values.data(), values.size() * sizeof(T));
    return memory;
  }

  /// Device memory of `count` zeros.
  template <typename T>
  T* zeros(std::size_t count) {
    return static_cast<T*>(allocate(count * sizeof(T)));
  }

  /// Loads a module; its text begins after .address_size.
  /// @param target of PTX. No other has as much of what the device executes.
  /// @throws ptx::ParseError, LoweringError.
  void load(const std::string& body, const std::string& target = "sm_107a");

  /// Runs a kernel of the module loaded last.
  /// @param name of the kernel, @param shape of the launch, @param arguments
  /// one for each parameter, of its size.
  template <typename... T>
  Outcome run(const std::string& name, const Shape& shape, T... arguments) {
    return run_packed(
        name,
        shape,
        {std::string(
            reinterpret_cast<const char*>(&arguments), sizeof(arguments))...});
  }

  /// The same with the arguments' bytes.
  Outcome run_packed(
      const std::string& name,
      const Shape& shape,
      const std::vector<std::string>& arguments);

  Module& module() {
    return *module_;
  }
  /// What device printf wrote so far.
  std::string printed;
  /// Called instead, when it is there.
  std::function<void(std::string_view)> print;

  bool find(std::uint64_t address, Range* range) const override;
  void neighbours(std::uint64_t address, Range* below, Range* above)
      const override;

 private:
  std::map<std::uint64_t, Range> ranges_;
  std::map<std::uint64_t, std::string> variables_; // names by address
  std::vector<void*> blocks_;
  std::mutex printing_;
  std::shared_ptr<Module> module_;
  std::string text_; // of the module
};

} // namespace cudasim::engine::testing
