// Objects of the program whose lives graphs prolong (cudaUserObject_t).
#pragma once

#include <driver_types.h>

#include <cstdint>
#include <memory>
#include <mutex>

namespace accelerator::runtime {

/// Its address is the handle. It is destroyed with its last reference, by
/// whoever gives that up: the program, a graph, or the thread on which the last
/// run of an instantiated graph ends.
class UserObject {
 public:
  UserObject(void* object, cudaHostFn_t destroy, unsigned references)
      : object_(object), destroy_(destroy), references_(references) {}
  UserObject(const UserObject&) = delete;
  UserObject& operator=(const UserObject&) = delete;

  void retain(unsigned count);
  /// @throws Failure: cudaErrorInvalidValue when there are fewer.
  void release(unsigned count);

 private:
  std::mutex mutex_;
  void* object_;
  cudaHostFn_t destroy_;
  std::uint64_t references_;
};

/// One reference to an object.
class HeldObject {
 public:
  explicit HeldObject(std::shared_ptr<UserObject> object);
  HeldObject(HeldObject&&) = default;
  HeldObject& operator=(HeldObject&&) = delete;
  ~HeldObject();

 private:
  std::shared_ptr<UserObject> object_;
};

/// Makes an object and enters it into the table of handles, which it leaves
/// when it is destroyed.
UserObject* make_user_object(
    void* object,
    cudaHostFn_t destroy,
    unsigned references);

/// The object of a handle.
/// @throws Failure: cudaErrorInvalidValue.
std::shared_ptr<UserObject> resolve_user_object(cudaUserObject_t handle);

} // namespace accelerator::runtime
