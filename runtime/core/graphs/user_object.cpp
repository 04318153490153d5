#include "runtime/core/graphs/user_object.h"

#include <utility>

#include "runtime/core/status/handles.h"
#include "runtime/core/status/status.h"

namespace accelerator::runtime {
namespace {

HandleTable<UserObject>& table() {
  static auto* objects = new HandleTable<UserObject>; // outlives statics
  return *objects;
}

} // namespace

void UserObject::retain(unsigned count) {
  const std::lock_guard lock(mutex_);
  references_ += count;
}

void UserObject::release(unsigned count) {
  {
    const std::lock_guard lock(mutex_);
    require(count <= references_);
    references_ -= count;
    if (references_ > 0) {
      return;
    }
  }
  const auto self = table().remove(this);
  destroy_(object_);
}

HeldObject::HeldObject(std::shared_ptr<UserObject> object)
    : object_(std::move(object)) {
  object_->retain(1);
}

HeldObject::~HeldObject() {
  if (object_ == nullptr) {
    return;
  }
  try {
    object_->release(1);
  } catch (const Failure&) {
    // The program has released this reference as well.
  }
}

UserObject* make_user_object(
    void* object,
    cudaHostFn_t destroy,
    unsigned references) {
  return table().add(std::make_shared<UserObject>(object, destroy, references));
}

std::shared_ptr<UserObject> resolve_user_object(cudaUserObject_t handle) {
  return table().get(handle, cudaErrorInvalidValue);
}

} // namespace accelerator::runtime
