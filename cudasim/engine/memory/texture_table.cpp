#include "cudasim/engine/memory/texture_table.h"

#include <atomic>
#include <mutex>
#include <utility>

namespace cudasim::engine {

std::uint64_t TextureTable::add(Texture texture) {
  // Above what is an index or a size, and no address: what a kernel has by
  // mistake is no texture. Positive, since programs keep it as a signed number.
  static std::atomic<std::uint64_t> next{std::uint64_t{0x67} << 56};
  const std::uint64_t handle = ++next;
  auto entry = std::make_shared<const Texture>(std::move(texture));
  const std::lock_guard lock(mutex_);
  textures_.emplace(handle, std::move(entry));
  return handle;
}

bool TextureTable::remove(std::uint64_t handle) {
  const std::lock_guard lock(mutex_);
  return textures_.erase(handle) != 0;
}

std::shared_ptr<const Texture> TextureTable::find(std::uint64_t handle) const {
  const std::shared_lock lock(mutex_);
  const auto found = textures_.find(handle);
  return found == textures_.end() ? nullptr : found->second;
}

void TextureTable::clear() {
  const std::lock_guard lock(mutex_);
  textures_.clear();
}

} // namespace cudasim::engine
