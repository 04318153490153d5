// What lives here: the one place where C++ exceptions that leave our code turn
// into Python exceptions. What does not: the translation that upstream's own
// bindings do for themselves (torch/csrc/Exceptions.h).
#pragma once

#include <torch/csrc/python_headers.h>

#include <pybind11/pybind11.h>
#include <torch/csrc/Exceptions.h>

#include <stdexcept>
#include <utility>

namespace torch_cuda {

// Runs `body` and returns what it returns.
//
// Errors: whatever `body` throws leaves as an exception that pybind11 knows how
// to hand to Python. A torch `python_error` becomes the Python error it stands
// for, a `c10::Error` loses its C++ backtrace, and an object that is no
// std::exception becomes a RuntimeError instead of ending the process.
template <typename Body>
auto with_python_errors(Body&& body) -> decltype(body()) {
  try {
    return std::forward<Body>(body)();
  } catch (pybind11::error_already_set&) {
    throw;
  } catch (python_error& error) {
    // Upstream throws it with the Python error either still pending or stored
    // in the exception.
    if (!PyErr_Occurred()) {
      error.restore();
    }
    throw pybind11::error_already_set();
  } catch (const c10::Error& error) {
    throw std::runtime_error(error.what_without_backtrace());
  } catch (const std::exception&) {
    throw;
  } catch (...) {
    throw std::runtime_error(
        "torch_cuda: a C++ exception of unknown type left the CUDA bindings");
  }
}

} // namespace torch_cuda
