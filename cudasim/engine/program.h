// The engine's front door: load a PTX module for a device, look up kernels,
// launch one. Nothing of CUDA's API is known here (device/ and runtime/ are
// above it).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "cudasim/engine/address_space.h"
#include "cudasim/engine/warp.h"

namespace cudasim::engine {

struct Dim3 {
  std::uint32_t x = 1;
  std::uint32_t y = 1;
  std::uint32_t z = 1;
  std::uint64_t count() const {
    return std::uint64_t{x} * y * z;
  }
};

/// A kernel cannot be made ready: an instruction that is not known, a symbol
/// that is missing. Names kernel, source, line and instruction.
class LoweringError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A .global or .const variable of a loaded module.
struct Symbol {
  std::string name;
  std::uint64_t address = 0; // device address
  std::uint64_t size = 0; // bytes
  bool is_const = false;
};

/// What can be said of a kernel before it runs.
struct KernelInfo {
  std::string name;
  /// Offset and size in bytes of each parameter in the parameter buffer.
  struct Parameter {
    std::uint32_t offset;
    std::uint32_t size;
  };
  std::vector<Parameter> parameters;
  std::uint32_t parameter_bytes = 0;
  std::uint64_t static_shared_bytes = 0;
  std::uint64_t local_bytes = 0; // per thread, without calls' frames
  std::uint32_t registers = 0; // per thread, an estimate in 32-bit registers
  std::uint32_t max_threads = 1024; // per block, by .maxntid
  std::uint32_t ptx_target = 0; // 80 for ".target sm_80"
  Dim3 required_threads{0, 0, 0}; // by .reqntid; zeros: not given
};

class Kernel; // a lowered kernel; owned by its Program

/// One PTX module loaded on one device. Kernels are lowered when first asked
/// for. Thread-safe.
class Program {
 public:
  /// Gives memory for a module's variables.
  /// @param bytes size, @param alignment bytes, @param read_only for .const,
  /// @param name for reports. Returns the device address; throws bad_alloc.
  using Allocate = std::function<std::uint64_t(
      std::uint64_t bytes,
      std::uint64_t alignment,
      bool read_only,
      std::string_view name)>;
  /// Resolves symbols that a module declares extern; 0 when unknown. May be
  /// empty.
  using Resolve = std::function<std::uint64_t(std::string_view name)>;

  /// @throws ptx::ParseError, LoweringError, std::bad_alloc.
  static std::shared_ptr<Program> load(
      std::string ptx,
      std::string source_name,
      const Allocate& allocate,
      const Resolve& resolve = {});
  virtual ~Program() = default;

  /// Names of all kernels, without reading their bodies.
  virtual std::vector<std::string> kernel_names() const = 0;
  /// Parses and lowers a kernel; null when there is none of that name.
  /// @throws ptx::ParseError, LoweringError.
  virtual const Kernel* kernel(std::string_view name) = 0;
  /// What is known of a lowered kernel.
  virtual const KernelInfo& info(const Kernel& kernel) const = 0;
  /// The variable of that name; null when there is none.
  virtual const Symbol* symbol(std::string_view name) const = 0;
  virtual std::vector<Symbol> symbols() const = 0;
};

/// Limits and identity of the device a launch runs on.
struct DeviceView {
  int ordinal = 0;
  std::uint32_t compute_capability = 80; // 80 for 8.0
  std::uint32_t multiprocessors = 16;
  std::uint64_t max_shared_bytes = 0; // per block, opt-in maximum
  std::uint64_t heap_bytes = 8u << 20; // device-side malloc
  AddressSpace* memory = nullptr;
};

struct Launch {
  Program* program = nullptr;
  const Kernel* kernel = nullptr;
  Dim3 grid;
  Dim3 block;
  std::uint64_t dynamic_shared_bytes = 0;
  /// Packed parameter buffer of KernelInfo::parameter_bytes.
  const void* parameters = nullptr;
  bool cooperative = false;
  DeviceView device;
  /// Host threads that execute blocks; 1 makes the order of blocks fixed.
  unsigned workers = 1;
  /// Seconds until kLaunchTimeout; 0: never.
  double timeout_seconds = 0;
  /// Checks of CUDASIM_CHECK=1: uninitialised reads, races in shared memory.
  bool check = false;
  /// Where device printf goes (stdout when empty); called with whole messages.
  std::function<void(std::string_view)> print;
};

/// How a launch ended.
struct Outcome {
  FaultKind fault = FaultKind::kNone;
  /// Report of several lines in the style of compute-sanitizer: what, kernel,
  /// block, thread, address, nearest allocation, PTX line. Empty when all is
  /// well.
  std::string report;
  /// Findings of CUDASIM_CHECK=1 that do not stop a kernel.
  std::vector<std::string> findings;
  std::uint64_t warp_instructions = 0;
  std::uint64_t thread_instructions = 0;
};

/// Runs a kernel to its end on the calling thread and `workers - 1` more.
/// Never throws for what the kernel does.
Outcome run(const Launch& launch);

} // namespace cudasim::engine
