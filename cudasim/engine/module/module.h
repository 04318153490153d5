// A PTX module on a device: its variables, and its kernels, which are lowered
// when they are first asked for. Nothing of CUDA's API, nor of the device ABI,
// is known here (cudasim/backend is above it).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "cudasim/engine/code/kernel_info.h"
#include "cudasim/engine/code/kernels.h"
#include "cudasim/engine/code/lowering_error.h"

namespace cudasim::engine {

/// A .global or .const variable of a loaded module.
struct Symbol {
  std::string name;
  std::uint64_t address = 0; // device address
  std::uint64_t size = 0; // bytes
  bool is_const = false;
};

/// One PTX module loaded on one device. Kernels are lowered when first asked
/// for. Thread-safe.
class Module : public Kernels {
 public:
  /// Gives memory for a module's variables.
  /// @param bytes size, @param alignment bytes, @param read_only for .const,
  /// @param name for reports. Returns the device address; throws bad_alloc.
  using Allocate = std::function<std::uint64_t(
      std::uint64_t bytes,
      std::uint64_t alignment,
      bool read_only,
      std::string_view name)>;

  /// When the bodies of a module's functions are verified: all at once when it
  /// is loaded, as a program that gives PTX to the driver expects, or each
  /// before its kernel is lowered, as those of the libraries that are linked to
  /// a program, of which few are used. An assembler also refuses what could
  /// not be executed if it was reached.
  enum class Verify : std::uint8_t { kAtLoad, kAtFirstUse, kToRunWhole };

  /// @param capability of the device, 80 for 8.0, which has to run PTX of that
  /// target; 0: any.
  /// @throws ptx::ParseError, LoweringError, std::bad_alloc.
  static std::shared_ptr<Module> load(
      std::string ptx,
      std::string source_name,
      const Allocate& allocate,
      Verify verify = Verify::kAtLoad,
      std::uint32_t capability = 0);
  virtual ~Module() = default;

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

} // namespace cudasim::engine
