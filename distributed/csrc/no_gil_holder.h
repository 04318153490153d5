// What lives here: how Python owns objects whose destruction may wait for
// threads that need the GIL, as that of a process group does.
#pragma once

#include <torch/csrc/python_headers.h>

#include <c10/util/intrusive_ptr.h>
#include <pybind11/pybind11.h>

#include <utility>

namespace torch_cuda_distributed {

// An intrusive_ptr that gives the GIL up while it lets its object go.
//
// It has to have the layout of an intrusive_ptr: torch's casters read the
// holder of an argument as one.
template <typename T>
class NoGilHolder {
 public:
  NoGilHolder() = default;
  NoGilHolder(const NoGilHolder&) = default;
  NoGilHolder(NoGilHolder&&) noexcept = default;
  NoGilHolder& operator=(const NoGilHolder&) = default;
  NoGilHolder& operator=(NoGilHolder&&) noexcept = default;
  // Implicit, so that factories may return what torch's functions do.
  NoGilHolder(c10::intrusive_ptr<T> object) : object_(std::move(object)) {}
  // For objects that pybind11 has made with `new`.
  explicit NoGilHolder(T* made)
      : object_(c10::intrusive_ptr<T>::unsafe_steal_from_new(made)) {}

  ~NoGilHolder() {
    // At the end of the process there may be no GIL to give up.
    if (object_ && PyGILState_Check() != 0) {
      pybind11::gil_scoped_release no_gil;
      object_.reset();
    }
  }

  T* get() const noexcept {
    return object_.get();
  }
  T& operator*() const noexcept {
    return *object_;
  }
  T* operator->() const noexcept {
    return object_.get();
  }
  explicit operator bool() const noexcept {
    return static_cast<bool>(object_);
  }

 private:
  c10::intrusive_ptr<T> object_;
};

} // namespace torch_cuda_distributed

PYBIND11_DECLARE_HOLDER_TYPE(T, torch_cuda_distributed::NoGilHolder<T>, true)
