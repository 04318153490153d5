// Where the elements of each side of a transform lie.
#include <utility>

#include "runtime/libraries/fft/transform.h"
#include "runtime/stream_work/stream_work.h"

namespace accelerator::fft {
namespace {

std::size_t real_bytes(Precision precision) {
  switch (precision) {
    case Precision::kHalf:
    case Precision::kBfloat16:
      return 2;
    case Precision::kSingle:
      return 4;
    case Precision::kDouble:
      return 8;
  }
  return 0;
}

Side make_side(
    const Transform& transform,
    bool is_complex,
    bool is_halved,
    bool is_padded,
    const std::optional<Layout>& layout) {
  Side side;
  side.is_complex = is_complex;
  side.element_bytes = real_bytes(transform.precision) * (is_complex ? 2 : 1);
  const std::size_t rank = transform.sizes.size();
  const std::int64_t last = transform.sizes.back();
  side.shape.push_back(static_cast<std::size_t>(transform.batch));
  for (const std::int64_t size : transform.sizes) {
    side.shape.push_back(static_cast<std::size_t>(size));
  }
  if (is_halved) {
    side.shape.back() = static_cast<std::size_t>(last / 2 + 1);
  }
  Layout dense;
  if (!layout) {
    dense.embed = transform.sizes;
    dense.embed.back() = is_halved ? last / 2 + 1
        : is_padded                ? (last / 2 + 1) * 2
                                   : last;
    dense.distance = 1;
    for (const std::int64_t size : dense.embed) {
      dense.distance *= size;
    }
  }
  const Layout& used = layout ? *layout : dense;
  side.strides.resize(rank + 1);
  std::ptrdiff_t stride = used.stride;
  for (std::size_t i = rank; i > 0; --i) {
    side.strides[i] = stride;
    stride *= used.embed[i - 1];
  }
  side.strides[0] = used.distance;
  return side;
}

} // namespace

std::size_t Side::elements() const {
  std::size_t product = 1;
  for (const std::size_t size : shape) {
    product *= size;
  }
  return product;
}

std::size_t Side::extent_bytes() const {
  std::size_t last = 0;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    last = stream_work::plus(
        last,
        stream_work::times(shape[i] - 1, stream_work::magnitude(strides[i])));
  }
  return stream_work::times(stream_work::plus(last, 1), element_bytes);
}

Side Transform::input(bool in_place) const {
  const bool is_complex = kind != Kind::kRealToComplex;
  return make_side(
      *this,
      is_complex,
      kind == Kind::kComplexToReal,
      !is_complex && in_place,
      input_layout);
}

Side Transform::output(bool in_place) const {
  const bool is_complex = kind != Kind::kComplexToReal;
  return make_side(
      *this,
      is_complex,
      kind == Kind::kRealToComplex,
      !is_complex && in_place,
      output_layout);
}

} // namespace accelerator::fft
