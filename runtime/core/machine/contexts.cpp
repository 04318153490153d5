#include "runtime/core/machine/contexts.h"

#include <algorithm>
#include <iterator>

#include "runtime/core/machine/machine.h"
#include "runtime/core/machine/thread_state.h"

namespace accelerator::runtime {
namespace {

Contexts::Content key_of(Contexts::Kind kind, const void* handle) {
  return {kind, const_cast<void*>(handle)};
}

} // namespace

OwnContext& Contexts::create(int device, unsigned flags) {
  auto made = std::make_unique<OwnContext>();
  made->device = device;
  made->flags = flags;
  OwnContext& context = *made;
  const std::lock_guard lock(mutex_);
  // Those of devices are 1 and up.
  context.id =
      static_cast<std::uint64_t>(machine().device_count()) + 1 + all_.size();
  all_.emplace(&context, std::move(made));
  any_ = true;
  return context;
}

bool Contexts::any_on(int device) const {
  if (!any_) {
    return false;
  }
  const std::lock_guard lock(mutex_);
  return std::any_of(all_.begin(), all_.end(), [&](const auto& entry) {
    return entry.second->device == device && !entry.second->destroyed;
  });
}

OwnContext* Contexts::find(const void* handle) const {
  if (!any_) {
    return nullptr;
  }
  const std::lock_guard lock(mutex_);
  const auto found = all_.find(handle);
  return found == all_.end() ? nullptr : found->second.get();
}

std::vector<Contexts::Content> Contexts::take(OwnContext& context) {
  std::vector<Content> its;
  const std::lock_guard lock(mutex_);
  for (auto it = content_.begin(); it != content_.end();) {
    if (it->second == &context) {
      its.push_back(it->first);
      it = content_.erase(it);
    } else {
      ++it;
    }
  }
  return its;
}

void Contexts::note(Kind kind, void* handle) {
  OwnContext* const own = thread_state().context;
  if (own != nullptr && handle != nullptr) {
    const std::lock_guard lock(mutex_);
    content_[key_of(kind, handle)] = own;
  }
}

void Contexts::forget(Kind kind, const void* handle) {
  if (any_) {
    const std::lock_guard lock(mutex_);
    content_.erase(key_of(kind, handle));
  }
}

void Contexts::forget_all(int device) {
  const std::lock_guard lock(mutex_);
  for (auto it = content_.begin(); it != content_.end();) {
    it = it->second->device == device ? content_.erase(it) : std::next(it);
  }
}

OwnContext* Contexts::of(Kind kind, const void* handle) const {
  if (!any_) {
    return nullptr;
  }
  const std::lock_guard lock(mutex_);
  const auto found = content_.find(key_of(kind, handle));
  return found == content_.end() ? nullptr : found->second;
}

Contexts& contexts() {
  static auto* all = new Contexts; // threads end late
  return *all;
}

} // namespace accelerator::runtime
