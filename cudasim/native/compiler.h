// LLVM, loaded when the first code is made. It comes as the shared library of
// the package llvmlite (PyPI), whose own LLVM is hidden from all others in the
// process, Triton's among them.
#pragma once

#include <memory>
#include <string>

namespace cudasim::native {

/// Makes machine code of LLVM's intermediate representation. One thread at a
/// time may use it.
class Compiler {
 public:
  /// @param library path of llvmlite's shared library. @param processor as LLVM
  /// names it, such as "x86-64-v3". @param why is set where it fails.
  /// @returns null where the library cannot be loaded or lacks a function.
  static std::unique_ptr<Compiler> load(
      const std::string& library,
      const std::string& processor,
      std::string* why);
  virtual ~Compiler() = default;
  Compiler(const Compiler&) = delete;
  Compiler& operator=(const Compiler&) = delete;

  /// The machine code of a function, which stays until the process ends.
  /// @param text of a module. @param function its name. @param why is set
  /// where it fails.
  /// @returns its address; null where LLVM refuses the text.
  virtual void* compile(
      const std::string& text,
      const std::string& function,
      std::string* why) = 0;

 protected:
  Compiler() = default;
};

} // namespace cudasim::native
