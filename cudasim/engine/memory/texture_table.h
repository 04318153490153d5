// The textures of a device, by the numbers that kernels have of them.
#pragma once

#include <cstdint>
#include <memory>
#include <shared_mutex>
#include <unordered_map>

#include "cudasim/engine/memory/texture.h"

namespace cudasim::engine {

/// Thread-safe.
class TextureTable {
 public:
  /// @returns its handle: never 0, and never that of another texture of this
  /// process, whatever device it is of.
  std::uint64_t add(Texture texture);
  /// Forgets a texture; false when there is none of that handle.
  bool remove(std::uint64_t handle);
  /// The texture of a handle; null when there is none, or no longer.
  std::shared_ptr<const Texture> find(std::uint64_t handle) const;
  /// Forgets all.
  void clear();

 private:
  mutable std::shared_mutex mutex_;
  std::unordered_map<std::uint64_t, std::shared_ptr<const Texture>> textures_;
};

} // namespace cudasim::engine
