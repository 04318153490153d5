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

  /// Compiles a module to an object, which any process can load.
  /// @param text of the module. @param function the name of its only function.
  /// @param why is set where LLVM refuses the text.
  virtual bool compile(
      const std::string& text,
      const std::string& function,
      std::string* object,
      std::string* why) = 0;
  /// Makes an object part of this process, until the process ends.
  /// @returns the function's address; null where it cannot be loaded.
  virtual void* link(
      const std::string& object,
      const std::string& function,
      std::string* why) = 0;

 protected:
  Compiler() = default;
};

/// Where llvmlite's library is: as CUDASIM_LLVM says, or in the folder of
/// packages that this library is in, too. Empty where there is none.
std::string find_library();

/// That of the folder of packages that a library of this one is in.
/// @param own path of the library, as whoever loaded it wrote it.
std::string library_beside(const std::string& own);

} // namespace cudasim::native
