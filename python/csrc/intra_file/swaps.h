// The replacements that were made in torch, and how to take them back.
#pragma once

#include <functional>
#include <vector>

#include <torch/csrc/utils/pybind.h>

namespace torch_cuda::intra_file {

// Replaces functions, constructors and attributes of torch's Python objects and
// remembers what was there. Needs the GIL.
class Swaps {
 public:
  // Replaces the C function behind a method or a builtin function, in place:
  // whoever took a reference to the method earlier calls the new one too.
  //
  //   owner: a type or a module
  //   name: the method's name there, for messages too
  //   flags: the METH_* flags it must have; they fix the signature
  //   replacement: the new function, of the signature that `flags` say
  //
  // Returns the original function. Throws c10::Error when `name` is not a C
  // function with these flags.
  PyCFunction function(
      py::handle owner,
      const char* name,
      int flags,
      PyCFunction replacement);

  // Replaces `tp_new` of `type` and of every subclass that inherited it.
  //
  // Returns the original. Throws c10::Error when the type has none.
  newfunc constructor(py::handle type, newfunc replacement);

  // Sets an attribute, whether or not there was one of that name.
  void attribute(py::handle owner, const char* name, py::object value);

  // Undoes everything, latest first.
  void revert() noexcept;

 private:
  std::vector<std::function<void()>> undo_;
};

} // namespace torch_cuda::intra_file
