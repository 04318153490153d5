#include "adapter/testing/stand_in/jpeg/decoder.h"

#include <dlfcn.h>

#include <cstdio>
#include <cstring>
#include <memory>

namespace stand::jpeg {
namespace {

/// The functions of gdk-pixbuf 2 that are used, by its documentation
/// (GdkPixbufLoader, GdkPixbuf). Objects are opaque.
struct Library {
  void* (*new_loader)(const char* type, void** error) = nullptr;
  int (*write)(void* loader, const unsigned char*, std::size_t, void** error) =
      nullptr;
  int (*close)(void* loader, void** error) = nullptr;
  void* (*pixbuf)(void* loader) = nullptr;
  int (*width)(const void* pixbuf) = nullptr;
  int (*height)(const void* pixbuf) = nullptr;
  int (*row_bytes)(const void* pixbuf) = nullptr;
  int (*channels)(const void* pixbuf) = nullptr;
  const unsigned char* (*pixels)(const void* pixbuf) = nullptr;
  void (*unref)(void* object) = nullptr;
  bool is_there = false;

  Library() {
    const char* name = "libgdk_pixbuf-2.0.so.0";
    void* handle = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr) {
      std::fprintf(
          stderr,
          "standjpeg: found no %s, which decodes for it; needed: Debian's "
          "libgdk-pixbuf-2.0-0, or its like. Type: apt-get install "
          "libgdk-pixbuf-2.0-0\n",
          name);
      return;
    }
    is_there = find(handle, "gdk_pixbuf_loader_new_with_type", new_loader) &&
        find(handle, "gdk_pixbuf_loader_write", write) &&
        find(handle, "gdk_pixbuf_loader_close", close) &&
        find(handle, "gdk_pixbuf_loader_get_pixbuf", pixbuf) &&
        find(handle, "gdk_pixbuf_get_width", width) &&
        find(handle, "gdk_pixbuf_get_height", height) &&
        find(handle, "gdk_pixbuf_get_rowstride", row_bytes) &&
        find(handle, "gdk_pixbuf_get_n_channels", channels) &&
        find(handle, "gdk_pixbuf_read_pixels", pixels) &&
        find(handle, "g_object_unref", unref);
  }

 private:
  template <typename Function>
  static bool find(void* handle, const char* name, Function& function) {
    function = reinterpret_cast<Function>(dlsym(handle, name));
    return function != nullptr;
  }
};

const Library& library() {
  static const Library loaded;
  return loaded;
}

} // namespace

bool has_decoder() {
  return library().is_there;
}

std::optional<Pixels> decode(const std::uint8_t* data, std::size_t length) {
  const Library& gdk = library();
  const std::unique_ptr<void, void (*)(void*)> loader(
      gdk.new_loader("jpeg", nullptr), gdk.unref);
  if (loader == nullptr) {
    return std::nullopt;
  }
  // Closed in any case; what goes wrong in between leaves no picture.
  const bool written = gdk.write(loader.get(), data, length, nullptr) != 0;
  const bool closed = gdk.close(loader.get(), nullptr) != 0;
  const void* pixbuf = gdk.pixbuf(loader.get());
  if (!written || !closed || pixbuf == nullptr || gdk.channels(pixbuf) != 3) {
    return std::nullopt;
  }
  Pixels result{gdk.width(pixbuf), gdk.height(pixbuf), {}};
  const auto row = static_cast<std::size_t>(result.width) * 3;
  result.bytes.resize(row * static_cast<std::size_t>(result.height));
  for (int y = 0; y < result.height; ++y) {
    const auto line = static_cast<std::size_t>(y);
    std::memcpy(
        result.bytes.data() + line * row,
        gdk.pixels(pixbuf) +
            line * static_cast<std::size_t>(gdk.row_bytes(pixbuf)),
        row);
  }
  return result;
}

} // namespace stand::jpeg
