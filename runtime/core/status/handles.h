// Opaque handles as CUDA gives them out: pointers that are only compared, never
// believed.
#pragma once

#include <memory>
#include <mutex>
#include <shared_mutex>
#include <unordered_map>
#include <utility>
#include <vector>

#include "runtime/core/status/status.h"

namespace accelerator::runtime {

/// The living objects of one type. A handle is the object's address; one that
/// is stale or invented is found out. Thread-safe.
template <typename Object>
class HandleTable {
 public:
  /// Enters an object and gives its handle.
  Object* add(std::shared_ptr<Object> object) {
    Object* handle = object.get();
    const std::unique_lock lock(mutex_);
    objects_[handle] = std::move(object);
    return handle;
  }

  /// The object of a handle.
  /// @throws Failure with `status` when there is none.
  std::shared_ptr<Object> get(
      const void* handle,
      Status status = cudaErrorInvalidResourceHandle) const {
    const std::shared_lock lock(mutex_);
    const auto found = objects_.find(handle);
    require(found != objects_.end(), status);
    return found->second;
  }

  /// Whether this is the handle of a living object.
  bool contains(const void* handle) const {
    const std::shared_lock lock(mutex_);
    return objects_.count(handle) != 0;
  }

  /// Makes the handle invalid; the object lives on while it is in use.
  /// @throws Failure with `status` when there is none.
  std::shared_ptr<Object> remove(
      const void* handle,
      Status status = cudaErrorInvalidResourceHandle) {
    const std::unique_lock lock(mutex_);
    const auto found = objects_.find(handle);
    require(found != objects_.end(), status);
    std::shared_ptr<Object> object = std::move(found->second);
    objects_.erase(found);
    return object;
  }

  /// Makes the handles of all objects invalid for which `condition` holds.
  template <typename Condition>
  void remove_if(Condition condition) {
    std::vector<std::shared_ptr<Object>> removed; // let go without the lock
    const std::unique_lock lock(mutex_);
    for (auto at = objects_.begin(); at != objects_.end();) {
      if (condition(*at->second)) {
        removed.push_back(std::move(at->second));
        at = objects_.erase(at);
      } else {
        ++at;
      }
    }
  }

 private:
  mutable std::shared_mutex mutex_;
  std::unordered_map<const void*, std::shared_ptr<Object>> objects_;
};

} // namespace accelerator::runtime
