// Reads of textures: tex, tld4 and txq. Source: PTX ISA 9.7.9.
//
// Without coordinates of their own kind (.s32, tex1Dfetch) they are sampled;
// fetched elements take no part in filtering, and are 0 outside of the texture.
// tex.level and tex.grad with .s32, multi-sample textures (.2dms) and samplers
// of their own are not here, and CUDA's compiler writes none of them.

#include "cudasim/engine/instructions/family.h"
#include "cudasim/engine/instructions/half_types.h"
#include "cudasim/engine/instructions/texture/queries.h"
#include "cudasim/engine/instructions/texture/sampling.h"

namespace cudasim::engine {
namespace {

enum class Detail : std::uint8_t { kBase, kLevel, kGradient };
/// What registers get: four words, four halves, or four halves in two words.
enum class Result : std::uint8_t { kWords, kHalves, kPairs };

/// What a row says of its handler, as the immediate.
struct Form {
  Geometry geometry = Geometry::k1d;
  Detail detail = Detail::kBase;
  Result result = Result::kWords;
  bool whole = false; // coordinates are integers
  bool gathers = false;
  std::uint8_t channel = 0; // that is gathered
  bool compares = false; // a depth follows the coordinates at once
};

constexpr unsigned long long packed(const Form& form) {
  return static_cast<unsigned long long>(form.geometry) |
      static_cast<unsigned long long>(form.detail) << 3 |
      static_cast<unsigned long long>(form.result) << 5 |
      static_cast<unsigned long long>(form.whole) << 7 |
      static_cast<unsigned long long>(form.gathers) << 8 |
      static_cast<unsigned long long>(form.channel) << 9 |
      static_cast<unsigned long long>(form.compares) << 11;
}

constexpr Form unpacked(std::uint64_t bits) {
  Form form;
  form.geometry = static_cast<Geometry>(bits & 7);
  form.detail = static_cast<Detail>(bits >> 3 & 3);
  form.result = static_cast<Result>(bits >> 5 & 3);
  form.whole = (bits >> 7 & 1) != 0;
  form.gathers = (bits >> 8 & 1) != 0;
  form.channel = static_cast<std::uint8_t>(bits >> 9 & 3);
  form.compares = (bits >> 11 & 1) != 0;
  return form;
}

/// A vector of three has four elements in PTX.
constexpr std::uint32_t vector_of(int count) {
  return count == 3 ? 4 : static_cast<std::uint32_t>(count);
}

/// Where the operands of a read are.
struct ReadOperands {
  Slot results[4] = {kNoSlot, kNoSlot, kNoSlot, kNoSlot};
  Slot resident = kNoSlot;
  Slot handle = kNoSlot;
  Slot layer = kNoSlot;
  Slot at[3] = {kNoSlot, kNoSlot, kNoSlot};
  Slot level = kNoSlot;
  Slot dx[3] = {kNoSlot, kNoSlot, kNoSlot};
  Slot dy[3] = {kNoSlot, kNoSlot, kNoSlot};
  Slot offset[3] = {kNoSlot, kNoSlot, kNoSlot};
  Slot depth = kNoSlot;

  ReadOperands(const Inst& inst, const Form& form) {
    const int count = coordinates_of(form.geometry);
    const auto take = [&] { return object_operand(inst, next_++); };
    const auto take_vector = [&](Slot(&slots)[3]) {
      for (int i = 0; i < count; ++i) {
        slots[i] = object_operand(inst, next_ + static_cast<unsigned>(i));
      }
      next_ += vector_of(count);
    };
    for (int i = 0; i < (form.result == Result::kPairs ? 2 : 4); ++i) {
      results[i] = take();
    }
    resident = take();
    handle = take();
    if (is_layered(form.geometry)) {
      layer = take();
    }
    for (int i = 0; i < count; ++i) {
      at[i] = take();
    }
    if (form.detail == Detail::kLevel) {
      level = take();
    } else if (form.detail == Detail::kGradient) {
      take_vector(dx);
      take_vector(dy);
    }
    if (!form.compares && !is_cube(form.geometry)) {
      take_vector(offset);
    }
    depth = take();
  }

 private:
  std::uint32_t next_ = 0;
};

template <typename T>
T value_at(Warp& warp, Slot slot, int lane) {
  return slot == kNoSlot ? T{} : lanes<T>(warp, slot)[lane];
}

template <typename T>
std::array<T, 3> values_at(Warp& warp, const Slot (&slots)[3], int lane) {
  return {
      value_at<T>(warp, slots[0], lane),
      value_at<T>(warp, slots[1], lane),
      value_at<T>(warp, slots[2], lane)};
}

/// Offsets have four bits, those of tld4 six, and the device looks at no others
/// (as ptxas packs them; pantheongpu/pantheonsim measured it).
std::array<std::int32_t, 3> offset_of(
    Warp& warp,
    const ReadOperands& operands,
    bool gathers,
    int lane) {
  auto offset = values_at<std::int32_t>(warp, operands.offset, lane);
  const int unused = gathers ? 26 : 28;
  for (std::int32_t& part : offset) {
    part =
        static_cast<std::int32_t>(static_cast<std::uint32_t>(part) << unused) >>
        unused;
  }
  return offset;
}

Element read_lane(
    Warp& warp,
    const Form& form,
    const ReadOperands& operands,
    const Texture& texture,
    int i,
    ObjectLane& lane) {
  const std::uint32_t layer = value_at<std::uint32_t>(warp, operands.layer, i);
  const auto offset = offset_of(warp, operands, form.gathers, i);
  if (form.whole) {
    auto at = values_at<std::int32_t>(warp, operands.at, i);
    for (std::size_t k = 0; k < at.size(); ++k) {
      at[k] = static_cast<std::int32_t>(
          static_cast<std::uint32_t>(at[k]) +
          static_cast<std::uint32_t>(offset[k]));
    }
    return fetch(texture, form.geometry, at, layer, lane);
  }
  if (texture.linear) {
    lane.fail(
        FaultKind::kIllegalInstruction,
        "linear memory is read by whole coordinates only, as by tex1Dfetch");
    return {};
  }
  SamplePoint point;
  point.geometry = form.geometry;
  point.at = values_at<float>(warp, operands.at, i);
  point.layer = layer;
  point.offset = offset;
  if (form.gathers) {
    return gather(texture, point, form.channel, lane);
  }
  const float level = form.detail == Detail::kBase ? kBaseLevel
      : form.detail == Detail::kLevel
      ? value_at<float>(warp, operands.level, i)
      : level_for(
            texture,
            point,
            values_at<float>(warp, operands.dx, i),
            values_at<float>(warp, operands.dy, i));
  return sample(texture, point, level, lane);
}

std::uint16_t half_of_word(std::uint32_t word) {
  return Half::narrow(bits_as<float>(word));
}

void write_results(
    Warp& warp,
    const Form& form,
    const ReadOperands& operands,
    const Element& element,
    int i) {
  for (std::uint32_t k = 0; k < 4; ++k) {
    const Slot slot = operands.results[k];
    if (slot == kNoSlot) {
      return; // of two words
    }
    if (form.result == Result::kWords) {
      lanes<std::uint32_t>(warp, slot)[i] = element[k];
    } else if (form.result == Result::kHalves) {
      lanes<std::uint16_t>(warp, slot)[i] = half_of_word(element[k]);
    } else {
      lanes<std::uint32_t>(warp, slot)[i] = half_of_word(element[2 * k]) |
          std::uint32_t{half_of_word(element[2 * k + 1])} << 16;
    }
  }
}

Flow read_texture(Warp& warp, const Inst& inst, Mask active) {
  const Form form = unpacked(inst.immediate);
  const ReadOperands operands(inst, form);
  ObjectLane lane(warp, inst);
  for (Mask left = active; left != 0; left &= left - 1) {
    const int i = __builtin_ctz(left);
    lane.set_lane(i);
    const Texture* texture =
        lane.find(value_at<std::uint64_t>(warp, operands.handle, i));
    if (texture == nullptr) {
      return Flow::kFault;
    }
    if (operands.depth != kNoSlot) {
      lane.fail(
          FaultKind::kUnsupported,
          "a comparison with depths, which CUDA has no textures for");
    } else if (const char* misfit = texture_misfit(*texture, form.geometry)) {
      lane.fail(FaultKind::kIllegalInstruction, misfit);
    }
    const Element element = lane.failed()
        ? Element{}
        : read_lane(warp, form, operands, *texture, i, lane);
    if (lane.failed()) {
      return Flow::kFault;
    }
    write_results(warp, form, operands, element, i);
  }
  if (operands.resident != kNoSlot) {
    predicate(warp, operands.resident) |= active; // all memory is there
  }
  return Flow::kNext;
}

constexpr unsigned long long form_of(
    Detail detail,
    bool compares,
    Geometry geometry,
    Result result,
    bool whole) {
  Form form;
  form.geometry = geometry;
  form.detail = detail;
  form.result = result;
  form.whole = whole;
  form.compares = compares;
  return packed(form);
}

constexpr unsigned long long gathering_form(
    std::uint8_t channel,
    Geometry geometry,
    bool compares) {
  Form form;
  form.geometry = geometry;
  form.gathers = true;
  form.channel = channel;
  form.compares = compares;
  return packed(form);
}

#define CUDASIM_SECTION "9.7.9"

// A read in one of its types. Registers for .f32 may have any type of 32 bits,
// as ptxas has it.
#define CUDASIM_READ(                                   \
    name,                                               \
    type,                                               \
    results,                                            \
    result,                                             \
    geometry,                                           \
    at,                                                 \
    coordinate,                                         \
    tail,                                               \
    detail,                                             \
    depth)                                              \
  {"tex" name "." type "." coordinate,                  \
   results "|pred [object:" at "*" coordinate "]" tail, \
   CUDASIM_SECTION,                                     \
   read_texture,                                        \
   form_of(                                             \
       Detail::detail,                                  \
       depth,                                           \
       Geometry::geometry,                              \
       Result::result,                                  \
       coordinate[0] == 's')},
#define CUDASIM_READS(...)                                     \
  CUDASIM_READ_AS(__VA_ARGS__, "v4.u32", "{4*=u32_}", kWords)  \
  CUDASIM_READ_AS(__VA_ARGS__, "v4.s32", "{4*=s32_}", kWords)  \
  CUDASIM_READ_AS(__VA_ARGS__, "v4.f32", "{4*=b32_}", kWords)  \
  CUDASIM_READ_AS(__VA_ARGS__, "v4.f16", "{4*=f16_}", kHalves) \
  CUDASIM_READ_AS(__VA_ARGS__, "v2.f16x2", "{2*=f16x2_}", kPairs)
#define CUDASIM_READ_AS( \
    name,                \
    geometry,            \
    at,                  \
    coordinate,          \
    tail,                \
    detail,              \
    depth,               \
    type,                \
    results,             \
    result)              \
  CUDASIM_READ(          \
      name,              \
      type,              \
      results,           \
      result,            \
      geometry,          \
      at,                \
      coordinate,        \
      tail,              \
      detail,            \
      depth)

// By floating point coordinates, perhaps with an offset, and a depth.
#define CUDASIM_FLAT(name, geometry, at, size, extra, detail)                  \
  CUDASIM_READS(                                                               \
      name, geometry, at, "f32", extra " {" size "*s32}? f32?", detail, false) \
  CUDASIM_READS(name, geometry, at, "f32", extra " f32", detail, true)
#define CUDASIM_SAMPLED(name, detail, one, two, four)                         \
  CUDASIM_FLAT(name ".1d", k1d, "1", "1", one, detail)                        \
  CUDASIM_FLAT(name ".2d", k2d, "2", "2", two, detail)                        \
  CUDASIM_READS(name ".3d", k3d, "3", "f32", four " {4*s32}?", detail, false) \
  CUDASIM_FLAT(name ".a1d", kLayered1d, "layer+1", "1", one, detail)          \
  CUDASIM_FLAT(name ".a2d", kLayered2d, "layer+2", "2", two, detail)          \
  CUDASIM_READS(name ".cube", kCube, "3", "f32", four " f32?", detail, false) \
  CUDASIM_READS(                                                              \
      name ".acube",                                                          \
      kLayeredCube,                                                           \
      "layer+3",                                                              \
      "f32",                                                                  \
      four " f32?",                                                           \
      detail,                                                                 \
      false)
// By whole ones.
#define CUDASIM_FETCHED(name)                                               \
  CUDASIM_READS(name ".1d", k1d, "1", "s32", " {1*s32}?", kBase, false)     \
  CUDASIM_READS(name ".2d", k2d, "2", "s32", " {2*s32}?", kBase, false)     \
  CUDASIM_READS(name ".3d", k3d, "3", "s32", " {4*s32}?", kBase, false)     \
  CUDASIM_READS(                                                            \
      name ".a1d", kLayered1d, "layer+1", "s32", " {1*s32}?", kBase, false) \
  CUDASIM_READS(                                                            \
      name ".a2d", kLayered2d, "layer+2", "s32", " {2*s32}?", kBase, false)

#define CUDASIM_GATHER(name, channel, geometry, at, tail, depth, type, result) \
  {"tld4." name ".v4." type ".f32",                                            \
   "{4*=" result "_}|pred [object:" at "*f32]" tail,                           \
   CUDASIM_SECTION,                                                            \
   read_texture,                                                               \
   gathering_form(channel, Geometry::geometry, depth)},
#define CUDASIM_GATHERS(...)                \
  CUDASIM_GATHER(__VA_ARGS__, "u32", "u32") \
  CUDASIM_GATHER(__VA_ARGS__, "s32", "s32") \
  CUDASIM_GATHER(__VA_ARGS__, "f32", "b32")
#define CUDASIM_GATHERED(name, channel)                                      \
  CUDASIM_GATHERS(name ".2d", channel, k2d, "2", " {2*s32}? f32?", false)    \
  CUDASIM_GATHERS(name ".2d", channel, k2d, "2", " f32", true)               \
  CUDASIM_GATHERS(                                                           \
      name ".a2d", channel, kLayered2d, "layer+2", " {2*s32}? f32?", false)  \
  CUDASIM_GATHERS(name ".a2d", channel, kLayered2d, "layer+2", " f32", true) \
  CUDASIM_GATHERS(name ".cube", channel, kCube, "3", " f32?", false)         \
  CUDASIM_GATHERS(                                                           \
      name ".acube", channel, kLayeredCube, "layer+3", " f32?", false)

#define CUDASIM_QUERY(name, tail, query) \
  {"txq." name ".b32",                   \
   "=b32 [object]" tail,                 \
   CUDASIM_SECTION,                      \
   answer_query,                         \
   static_cast<unsigned long long>(Query::query)},

constexpr Entry kTextureEntries[] = {
    CUDASIM_SAMPLED("", kBase, "", "", "") CUDASIM_SAMPLED(
        ".base",
        kBase,
        "",
        "",
        "") CUDASIM_SAMPLED(".level", kLevel, " f32", " f32", " f32")
        CUDASIM_SAMPLED(
            ".grad",
            kGradient,
            " {1*f32} {1*f32}",
            " {2*f32} {2*f32}",
            " {4*f32} {4*f32}") CUDASIM_FETCHED("") CUDASIM_FETCHED(".base")
            CUDASIM_GATHERED("r", 0) CUDASIM_GATHERED("g", 1) CUDASIM_GATHERED(
                "b",
                2) CUDASIM_GATHERED("a", 3) CUDASIM_QUERY("width", "", kWidth)
                CUDASIM_QUERY("height", "", kHeight) CUDASIM_QUERY(
                    "depth",
                    "",
                    kDepth) CUDASIM_QUERY("array_size", "", kLayers)
                    CUDASIM_QUERY("num_mipmap_levels", "", kLevels)
                        CUDASIM_QUERY(
                            "normalized_coords",
                            "",
                            kNormalizedCoordinates)
                            CUDASIM_QUERY("channel_data_type", "", kChannelType)
                                CUDASIM_QUERY(
                                    "channel_order",
                                    "",
                                    kChannelOrder)
                                    CUDASIM_QUERY("level.width", " u32", kWidth)
                                        CUDASIM_QUERY(
                                            "level.height",
                                            " u32",
                                            kHeight)
                                            CUDASIM_QUERY(
                                                "level.depth",
                                                " u32",
                                                kDepth)};

} // namespace

Family textures_family() {
  return {
      "textures",
      kTextureEntries,
      sizeof(kTextureEntries) / sizeof(kTextureEntries[0]),
      "tld4"};
}

} // namespace cudasim::engine
