// The words.
#include "pu/csrc/operators/errors.h"

#include <c10/util/Exception.h>

#include <string_view>
#include <utility>

namespace torch_pu {
namespace {

constexpr std::pair<std::string_view, std::string_view> kWords[] = {
    {"cuda:", "pu:"},
    {"'cuda'", "'pu'"},
    {"from the 'CUDA' backend", "from the 'pu' backend"},
    {"from the 'SparseCUDA' backend", "from the 'Sparsepu' backend"},
    {"from the 'SparseCsrCUDA' backend", "from the 'SparseCsrpu' backend"},
    {"from the 'QuantizedCUDA' backend", "from the 'Quantizedpu' backend"},
    {"from the 'NestedTensorCUDA' backend",
     "from the 'NestedTensorpu' backend"},
};

template <class Error>
[[noreturn]] void raise(const c10::Error& error) {
  throw Error(
      in_words_of_pu(error.what_without_backtrace()),
      error.backtrace(),
      nullptr);
}

} // namespace

std::string in_words_of_pu(std::string message) {
  for (const auto& [cuda, pu] : kWords) {
    for (auto at = message.find(cuda); at != std::string::npos;
         at = message.find(cuda, at + pu.size())) {
      message.replace(at, cuda.size(), pu);
    }
  }
  return message;
}

void rethrow_in_words_of_pu() {
  try {
    throw;
  } catch (const c10::IndexError& error) {
    raise<c10::IndexError>(error);
  } catch (const c10::ValueError& error) {
    raise<c10::ValueError>(error);
  } catch (const c10::TypeError& error) {
    raise<c10::TypeError>(error);
  } catch (const c10::NotImplementedError& error) {
    raise<c10::NotImplementedError>(error);
  } catch (const c10::LinAlgError& error) {
    raise<c10::LinAlgError>(error);
  } catch (const c10::OutOfMemoryError& error) {
    raise<c10::OutOfMemoryError>(error);
  } catch (const c10::Error& error) {
    if (typeid(error) != typeid(c10::Error)) {
      throw; // of a type that is not known here
    }
    raise<c10::Error>(error);
  }
}

} // namespace torch_pu
