// Loads, stores, reductions and queries of surfaces: suld, sust, sured, suq.
// Source: PTX ISA 9.7.10.
#include <algorithm>
#include <array>
#include <cstring>
#include <type_traits>

#include "cudasim/engine/instructions/family.h"
#include "cudasim/engine/instructions/texture/elements.h"
#include "cudasim/engine/instructions/texture/geometry.h"
#include "cudasim/engine/instructions/texture/object_lane.h"
#include "cudasim/engine/instructions/texture/queries.h"

namespace cudasim::engine {
namespace {

/// What happens outside of a surface.
enum class Boundary : std::uint8_t { kTrap, kClamp, kZero };

/// What a row says of its handler, as the immediate.
struct SurfaceForm {
  Geometry geometry = Geometry::k1d;
  Boundary boundary = Boundary::kTrap;
  std::uint8_t values = 1; // registers
  std::uint8_t bytes = 0; // of each in memory; 0: elements in their format
};

constexpr unsigned long long packed(const SurfaceForm& form) {
  return static_cast<unsigned long long>(form.geometry) |
      static_cast<unsigned long long>(form.boundary) << 3 |
      static_cast<unsigned long long>(form.values) << 5 |
      static_cast<unsigned long long>(form.bytes) << 8;
}

constexpr SurfaceForm surface_form(std::uint64_t bits) {
  SurfaceForm form;
  form.geometry = static_cast<Geometry>(bits & 7);
  form.boundary = static_cast<Boundary>(bits >> 3 & 3);
  form.values = static_cast<std::uint8_t>(bits >> 5 & 7);
  form.bytes = static_cast<std::uint8_t>(bits >> 8 & 15);
  return form;
}

/// The surface of each lane, and the memory that its coordinates name.
class SurfaceAccess {
 public:
  /// @param first operand, the handle; coordinates follow.
  SurfaceAccess(
      Warp& warp,
      const Inst& inst,
      std::uint32_t first,
      bool is_write)
      : warp_(warp),
        inst_(inst),
        lane_(warp, inst),
        form_(surface_form(inst.immediate)),
        first_(first),
        is_write_(is_write) {}

  const SurfaceForm& form() const {
    return form_;
  }
  ObjectLane& lane() {
    return lane_;
  }
  /// The first operand behind the coordinates.
  std::uint32_t behind() const {
    return first_ + 1 + (is_layered(form_.geometry) ? 1 : 0) +
        static_cast<std::uint32_t>(coordinates_of(form_.geometry));
  }

  /// The surface of a lane; null, and a fault, when there is none that the
  /// instruction fits.
  const Texture* surface(int lane) {
    lane_.set_lane(lane);
    const Texture* surface = lane_.find(
        lanes<std::uint64_t>(warp_, object_operand(inst_, first_))[lane]);
    if (surface == nullptr) {
      return nullptr;
    }
    const char* misfit = surface->linear
        ? "linear memory is no surface"
        : surface_misfit(*surface, form_.geometry);
    if (misfit != nullptr) {
      lane_.fail(FaultKind::kIllegalInstruction, misfit);
      return nullptr;
    }
    return surface;
  }

  /// Where a lane accesses a surface; null, without a fault, where nothing is
  /// to be done outside of it.
  /// @param size bytes; @param unit bytes that the first coordinate counts.
  std::byte* place(
      const Texture& surface,
      int lane,
      std::uint32_t size,
      std::uint32_t unit) {
    const TextureLevel& level = surface.levels[0];
    const auto row =
        static_cast<std::int64_t>(level.width * surface.element_bytes());
    // The highest allowed coordinate of each axis.
    std::array<std::int64_t, 3> last = {
        (row - size) / unit,
        static_cast<std::int64_t>(level.height) - 1,
        static_cast<std::int64_t>(level.depth) - 1};
    std::array<std::int64_t, 3> at = {};
    std::uint32_t operand = first_ + 1;
    if (is_layered(form_.geometry)) {
      at[2] =
          lanes<std::uint32_t>(warp_, object_operand(inst_, operand++))[lane];
    }
    for (int i = 0; i < coordinates_of(form_.geometry); ++i) {
      at[i] =
          lanes<std::int32_t>(warp_, object_operand(inst_, operand++))[lane];
    }
    if (form_.bytes != 0) {
      // Bytes are aligned in every mode, as a GPU has it, and clamped to where
      // they are (RTX 3060, measured by pantheongpu/pantheonsim).
      if (at[0] % size != 0) {
        lane_.fail_alignment(
            level.address + static_cast<std::uint64_t>(at[0]), size, is_write_);
        return nullptr;
      }
      last[0] -= last[0] % size;
    }
    bool is_outside = row < size;
    for (std::size_t i = 0; i < at.size(); ++i) {
      is_outside |= at[i] < 0 || at[i] > last[i];
    }
    if (is_outside) {
      if (form_.boundary == Boundary::kZero) {
        return nullptr;
      }
      if (form_.boundary == Boundary::kTrap || row < size) {
        lane_.fail(FaultKind::kTrap, "a coordinate is outside of the surface");
        return nullptr;
      }
      for (std::size_t i = 0; i < at.size(); ++i) {
        at[i] = std::clamp<std::int64_t>(at[i], 0, last[i]);
      }
    }
    const std::uint64_t address = level.address +
        static_cast<std::uint64_t>(at[2]) * level.slice +
        static_cast<std::uint64_t>(at[1]) * level.pitch +
        static_cast<std::uint64_t>(at[0]) * unit;
    // Elements of a format are aligned as their surface is.
    if (form_.bytes != 0 && address % size != 0) {
      lane_.fail_alignment(address, size, is_write_);
      return nullptr;
    }
    return lane_.memory_at(address, size, is_write_);
  }

 private:
  Warp& warp_;
  const Inst& inst_;
  ObjectLane lane_;
  SurfaceForm form_;
  std::uint32_t first_;
  bool is_write_;
};

/// A lane's part of a register, which may be wider than what is in memory.
std::byte* in_register(
    Warp& warp,
    const Inst& inst,
    std::uint32_t operand,
    int lane) {
  return lanes<std::byte>(warp, inst.operands[operand]) +
      lane * inst.widths[operand];
}

Flow load_surface(Warp& warp, const Inst& inst, Mask active) {
  const std::uint32_t values = surface_form(inst.immediate).values;
  SurfaceAccess access(warp, inst, values, false);
  const std::uint32_t bytes = access.form().bytes;
  for (Mask left = active; left != 0; left &= left - 1) {
    const int i = __builtin_ctz(left);
    const Texture* surface = access.surface(i);
    const std::byte* memory = surface == nullptr
        ? nullptr
        : access.place(*surface, i, values * bytes, 1);
    if (access.lane().failed()) {
      return Flow::kFault;
    }
    for (std::uint32_t k = 0; k < values; ++k) {
      std::byte* d = in_register(warp, inst, k, i);
      std::memset(d, 0, inst.widths[k]);
      if (memory != nullptr) {
        std::memcpy(d, memory + k * bytes, bytes);
      }
    }
  }
  return Flow::kNext;
}

Flow store_surface(Warp& warp, const Inst& inst, Mask active) {
  SurfaceAccess access(warp, inst, 0, true);
  const std::uint32_t values = access.form().values;
  const std::uint32_t bytes = access.form().bytes;
  for (Mask left = active; left != 0; left &= left - 1) {
    const int i = __builtin_ctz(left);
    const Texture* surface = access.surface(i);
    std::byte* memory = surface == nullptr
        ? nullptr
        : access.place(*surface, i, values * bytes, 1);
    if (access.lane().failed()) {
      return Flow::kFault;
    }
    for (std::uint32_t k = 0; k < values && memory != nullptr; ++k) {
      std::memcpy(
          memory + k * bytes,
          in_register(warp, inst, access.behind() + k, i),
          bytes);
    }
  }
  return Flow::kNext;
}

/// Stores in the surface's format. Channels that no register is given for
/// become 0, which PTX leaves open.
Flow store_formatted(Warp& warp, const Inst& inst, Mask active) {
  SurfaceAccess access(warp, inst, 0, true);
  for (Mask left = active; left != 0; left &= left - 1) {
    const int i = __builtin_ctz(left);
    const Texture* surface = access.surface(i);
    std::byte* memory = surface == nullptr
        ? nullptr
        : access.place(
              *surface, i, surface->element_bytes(), surface->element_bytes());
    if (access.lane().failed()) {
      return Flow::kFault;
    }
    if (memory == nullptr) {
      continue;
    }
    Element element{};
    for (std::uint32_t k = 0; k < access.form().values; ++k) {
      std::memcpy(
          &element[k],
          in_register(warp, inst, access.behind() + k, i),
          sizeof(element[k]));
    }
    write_element(*surface, element, memory);
  }
  return Flow::kNext;
}

struct Add {
  template <typename T>
  static T run(T a, T b) {
    using Bits = std::make_unsigned_t<T>;
    return static_cast<T>(static_cast<Bits>(a) + static_cast<Bits>(b));
  }
};
struct Minimum {
  template <typename T>
  static T run(T a, T b) {
    return std::min(a, b);
  }
};
struct Maximum {
  template <typename T>
  static T run(T a, T b) {
    return std::max(a, b);
  }
};
struct And {
  template <typename T>
  static T run(T a, T b) {
    return a & b;
  }
};
struct Or {
  template <typename T>
  static T run(T a, T b) {
    return a | b;
  }
};

template <typename Operation, typename T>
void combine(std::byte* memory, T value) {
  T* place = reinterpret_cast<T*>(memory);
  T old = __atomic_load_n(place, __ATOMIC_RELAXED);
  while (!__atomic_compare_exchange_n(
      place,
      &old,
      Operation::run(old, value),
      true,
      __ATOMIC_RELAXED,
      __ATOMIC_RELAXED)) {
  }
}

template <typename Operation, typename T>
Flow reduce_surface(Warp& warp, const Inst& inst, Mask active) {
  SurfaceAccess access(warp, inst, 0, true);
  for (Mask left = active; left != 0; left &= left - 1) {
    const int i = __builtin_ctz(left);
    const Texture* surface = access.surface(i);
    std::byte* memory =
        surface == nullptr ? nullptr : access.place(*surface, i, sizeof(T), 1);
    if (access.lane().failed()) {
      return Flow::kFault;
    }
    if (memory != nullptr) {
      combine<Operation>(
          memory, lanes<T>(warp, inst.operands[access.behind()])[i]);
    }
  }
  return Flow::kNext;
}

/// Reduces elements, which are whole numbers of one channel of 32 bits.
template <typename Operation>
Flow reduce_elements(Warp& warp, const Inst& inst, Mask active) {
  SurfaceAccess access(warp, inst, 0, true);
  for (Mask left = active; left != 0; left &= left - 1) {
    const int i = __builtin_ctz(left);
    const Texture* surface = access.surface(i);
    if (surface != nullptr &&
        (surface->channel == Texture::Channel::kFloat ||
         surface->element_bytes() != 4 || surface->channels != 1)) {
      access.lane().fail(
          FaultKind::kIllegalInstruction,
          "sured.p needs elements of one whole number of 32 bits");
    }
    std::byte* memory =
        access.lane().failed() ? nullptr : access.place(*surface, i, 4, 4);
    if (access.lane().failed()) {
      return Flow::kFault;
    }
    if (memory == nullptr) {
      continue;
    }
    const Slot values = inst.operands[access.behind()];
    if (surface->channel == Texture::Channel::kSigned) {
      combine<Operation>(memory, lanes<std::int32_t>(warp, values)[i]);
    } else {
      combine<Operation>(memory, lanes<std::uint32_t>(warp, values)[i]);
    }
  }
  return Flow::kNext;
}

constexpr unsigned long long surface_form_of(
    Geometry geometry,
    Boundary boundary,
    int values,
    int bytes) {
  SurfaceForm form;
  form.geometry = geometry;
  form.boundary = boundary;
  form.values = static_cast<std::uint8_t>(values);
  form.bytes = static_cast<std::uint8_t>(bytes);
  return packed(form);
}

#define CUDASIM_SURFACE_SECTION "9.7.10"

// Each geometry, with each of what happens outside.
#define CUDASIM_BOUNDARIES(use, shape, geometry, at, ...)     \
  use(shape, geometry, at, ".trap", kTrap, __VA_ARGS__)       \
      use(shape, geometry, at, ".clamp", kClamp, __VA_ARGS__) \
          use(shape, geometry, at, ".zero", kZero, __VA_ARGS__)
#define CUDASIM_PLAIN_SHAPES(use, ...)                  \
  CUDASIM_BOUNDARIES(use, ".1d", k1d, "1", __VA_ARGS__) \
  CUDASIM_BOUNDARIES(use, ".2d", k2d, "2", __VA_ARGS__) \
  CUDASIM_BOUNDARIES(use, ".3d", k3d, "3", __VA_ARGS__)
#define CUDASIM_SHAPES(use, ...)                                      \
  CUDASIM_PLAIN_SHAPES(use, __VA_ARGS__)                              \
  CUDASIM_BOUNDARIES(use, ".a1d", kLayered1d, "layer+1", __VA_ARGS__) \
  CUDASIM_BOUNDARIES(use, ".a2d", kLayered2d, "layer+2", __VA_ARGS__)

#define CUDASIM_MOVE(                                                       \
    shape,                                                                  \
    geometry,                                                               \
    at,                                                                     \
    outside,                                                                \
    boundary,                                                               \
    vector,                                                                 \
    to,                                                                     \
    from,                                                                   \
    type,                                                                   \
    values,                                                                 \
    bytes)                                                                  \
  {"suld.b" shape vector type outside,                                      \
   to " [object:" at "*s32]",                                               \
   CUDASIM_SURFACE_SECTION,                                                 \
   load_surface,                                                            \
   surface_form_of(Geometry::geometry, Boundary::boundary, values, bytes)}, \
      {"sust.b" shape vector type outside,                                  \
       "[object:" at "*s32] " from,                                         \
       CUDASIM_SURFACE_SECTION,                                             \
       store_surface,                                                       \
       surface_form_of(                                                     \
           Geometry::geometry, Boundary::boundary, values, bytes)},
#define CUDASIM_MOVES(type, bytes)                              \
  CUDASIM_SHAPES(CUDASIM_MOVE, "", "=t~", "t~", type, 1, bytes) \
  CUDASIM_SHAPES(CUDASIM_MOVE, ".v2", "{2*=t~_}", "{2*t~}", type, 2, bytes)
#define CUDASIM_WIDE_MOVES(type, bytes) \
  CUDASIM_SHAPES(CUDASIM_MOVE, ".v4", "{4*=t~_}", "{4*t~}", type, 4, bytes)

#define CUDASIM_FORMATTED(                                        \
    shape, geometry, at, outside, boundary, vector, from, values) \
  {"sust.p" shape vector ".b32" outside,                          \
   "[object:" at "*s32] " from,                                   \
   CUDASIM_SURFACE_SECTION,                                       \
   store_formatted,                                               \
   surface_form_of(Geometry::geometry, Boundary::boundary, values, 0)},

#define CUDASIM_REDUCTION(                                            \
    shape, geometry, at, outside, boundary, name, type, operation, T) \
  {"sured.b." name shape type outside,                                \
   "[object:" at "*s32] t",                                           \
   CUDASIM_SURFACE_SECTION,                                           \
   reduce_surface<operation, T>,                                      \
   surface_form_of(Geometry::geometry, Boundary::boundary, 1, sizeof(T))},
#define CUDASIM_ELEMENTS(                                    \
    shape, geometry, at, outside, boundary, name, operation) \
  {"sured.p." name shape ".b32" outside,                     \
   "[object:" at "*s32] b32",                                \
   CUDASIM_SURFACE_SECTION,                                  \
   reduce_elements<operation>,                               \
   surface_form_of(Geometry::geometry, Boundary::boundary, 1, 0)},
#define CUDASIM_REDUCTIONS(...) \
  CUDASIM_PLAIN_SHAPES(CUDASIM_REDUCTION, __VA_ARGS__)
#define CUDASIM_EXTREMES(name, operation)                    \
  CUDASIM_REDUCTIONS(name, ".u32", operation, std::uint32_t) \
  CUDASIM_REDUCTIONS(name, ".s32", operation, std::int32_t)  \
  CUDASIM_REDUCTIONS(name, ".u64", operation, std::uint64_t) \
  CUDASIM_REDUCTIONS(name, ".s64", operation, std::int64_t)

#define CUDASIM_SURFACE_QUERY(name, query) \
  {"suq." name ".b32",                     \
   "=b32 [object]",                        \
   CUDASIM_SURFACE_SECTION,                \
   answer_query,                           \
   static_cast<unsigned long long>(Query::query)},

// clang-format off
constexpr Entry kSurfaceEntries[] = {
    CUDASIM_MOVES(".b8", 1)
    CUDASIM_MOVES(".b16", 2)
    CUDASIM_MOVES(".b32", 4)
    CUDASIM_MOVES(".b64", 8)
    CUDASIM_WIDE_MOVES(".b8", 1)
    CUDASIM_WIDE_MOVES(".b16", 2)
    CUDASIM_WIDE_MOVES(".b32", 4)
    CUDASIM_SHAPES(CUDASIM_FORMATTED, "", "b32", 1)
    CUDASIM_SHAPES(CUDASIM_FORMATTED, ".v2", "{2*b32}", 2)
    CUDASIM_SHAPES(CUDASIM_FORMATTED, ".v4", "{4*b32}", 4)
    CUDASIM_REDUCTIONS("add", ".u32", Add, std::uint32_t)
    CUDASIM_REDUCTIONS("add", ".s32", Add, std::int32_t)
    CUDASIM_REDUCTIONS("add", ".u64", Add, std::uint64_t)
    CUDASIM_EXTREMES("min", Minimum)
    CUDASIM_EXTREMES("max", Maximum)
    CUDASIM_REDUCTIONS("and", ".b32", And, std::uint32_t)
    CUDASIM_REDUCTIONS("or", ".b32", Or, std::uint32_t)
    CUDASIM_PLAIN_SHAPES(CUDASIM_ELEMENTS, "add", Add)
    CUDASIM_PLAIN_SHAPES(CUDASIM_ELEMENTS, "min", Minimum)
    CUDASIM_PLAIN_SHAPES(CUDASIM_ELEMENTS, "max", Maximum)
    CUDASIM_PLAIN_SHAPES(CUDASIM_ELEMENTS, "and", And)
    CUDASIM_PLAIN_SHAPES(CUDASIM_ELEMENTS, "or", Or)
    CUDASIM_SURFACE_QUERY("width", kWidth)
    CUDASIM_SURFACE_QUERY("height", kHeight)
    CUDASIM_SURFACE_QUERY("depth", kDepth)
    CUDASIM_SURFACE_QUERY("channel_data_type", kChannelType)
    CUDASIM_SURFACE_QUERY("channel_order", kChannelOrder)
    CUDASIM_SURFACE_QUERY("array_size", kLayers)};
// clang-format on

} // namespace

Family surfaces_family() {
  return {
      "surfaces",
      kSurfaceEntries,
      sizeof(kSurfaceEntries) / sizeof(kSurfaceEntries[0]),
      "suld sust"};
}

} // namespace cudasim::engine
