// The contexts that programs make (cuCtxCreate), and what is in them: a context
// that is destroyed takes its memory, streams, events and modules with it. A
// device's primary context has no object of its own.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace accelerator::runtime {

/// One such context. Lives until the process ends, so that a handle is never
/// that of a later context.
struct OwnContext {
  int device = 0;
  std::uint64_t id = 0; // none of another context of the process
  std::atomic<unsigned> flags{0};
  std::atomic<bool> destroyed{false};
};

/// All of them. Thread-safe.
class Contexts {
 public:
  /// In the order in which a context is emptied.
  enum class Kind : std::uint8_t {
    kModule,
    kEvent,
    kStream,
    kMemory,
    kHostMemory,
  };
  using Content = std::pair<Kind, void*>;

  OwnContext& create(int device, unsigned flags);
  /// Whether a device has one that is not destroyed.
  bool any_on(int device) const;
  /// The context of a handle; null for a device's, and for what is none.
  OwnContext* find(const void* handle) const;
  /// Takes all out of it that is in it, in the order of Kind.
  std::vector<Content> take(OwnContext& context);

  /// Enters something in the calling thread's context, where that is none of a
  /// device.
  void note(Kind kind, void* handle);
  /// What was there is no more.
  void forget(Kind kind, const void* handle);
  /// The same for all that is on a device.
  void forget_all(int device);
  /// The context that something was entered in; null: a device's.
  OwnContext* of(Kind kind, const void* handle) const;

 private:
  /// Most programs make none.
  std::atomic<bool> any_{false};
  mutable std::mutex mutex_;
  std::map<const void*, std::unique_ptr<OwnContext>> all_;
  std::map<Content, OwnContext*> content_;
};

Contexts& contexts();

} // namespace accelerator::runtime
