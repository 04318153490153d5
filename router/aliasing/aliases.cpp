// Aliases of all layouts: strided, quantized, nested, sparse.
#include "router/aliasing/aliases.h"

#include "router/aliasing/torch_versions.h"

#include <ATen/NestedTensorImpl.h>
#include <ATen/SparseCsrTensorImpl.h>
#include <ATen/SparseCsrTensorUtils.h>
#include <ATen/SparseTensorImpl.h>
#include <ATen/quantized/QTensorImpl.h>
#include <ATen/quantized/Quantizer.h>
#include <c10/core/DeviceGuard.h>
#include <c10/core/TensorOptions.h>

#include <optional>
#include <utility>

namespace torch_cuda::aliasing {
namespace {

using at::Tensor;
using c10::DispatchKey;
using c10::DispatchKeySet;
using c10::TensorImpl;

// The bits that say how a tensor's memory is to be read.
constexpr DispatchKeySet kLazyBits(
    {DispatchKey::Conjugate, DispatchKey::Negative, DispatchKey::ZeroTensor});

void copy_bits(const TensorImpl& from, TensorImpl& to) {
  if (C10_UNLIKELY(from.is_wrapped_number())) {
    to.set_wrapped_number(true);
  }
  copy_names(from, to);
}

DispatchKeySet keys_of(c10::Layout layout, c10::DeviceType type) {
  return DispatchKeySet(
      c10::computeDispatchKey(std::nullopt, layout, c10::Device(type)));
}

// A tensor like `like` with a device's keys, over `storage`.
Tensor strided(
    c10::Storage&& storage,
    const TensorImpl& like,
    DispatchKeySet keys) {
  auto tensor = at::detail::make_tensor<TensorImpl>(
      std::move(storage), keys | (like.key_set() & kLazyBits), like.dtype());
  auto& impl = *tensor.unsafeGetTensorImpl();
  impl.set_sizes_and_strides(
      like.sizes(), like.strides(), like.storage_offset());
  copy_bits(like, impl);
  return tensor;
}

// A copy of a tensor with a storage, of whatever class, over another storage.
Tensor copy_over(
    c10::Storage&& storage,
    const TensorImpl& like,
    c10::Device device) {
  auto impl = like.shallow_copy_and_detach(c10::VariableVersion(0), true);
  impl->set_storage_keep_dtype(std::move(storage));
  impl->_change_backend_component_keys(device);
  return Tensor(std::move(impl));
}

bool is_strided(const TensorImpl& impl) {
  return impl.layout() == c10::kStrided && impl.has_storage();
}

// Quantized and nested tensors have classes of their own.
bool is_plain(const TensorImpl& impl) {
  return !impl.is_quantized() && !impl.is_nested();
}

template <class Across>
at::QuantizerPtr quantizer_across(
    const at::QuantizerPtr& quantizer,
    const Across& across) {
  if (quantizer->qscheme() == at::kPerTensorAffine) {
    return quantizer;
  }
  auto& channels = static_cast<at::PerChannelAffineQuantizer&>(*quantizer);
  auto scales = across(channels.scales());
  auto zero_points = across(channels.zero_points());
  if (quantizer->qscheme() == at::kPerChannelAffineFloatQParams) {
    return c10::make_intrusive<at::PerChannelAffineFloatQParamsQuantizer>(
        channels.scalar_type(), scales, zero_points, channels.axis());
  }
  return c10::make_intrusive<at::PerChannelAffineQuantizer>(
      channels.scalar_type(), scales, zero_points, channels.axis());
}

template <class Across>
void take_quantizer_across(const Tensor& tensor, const Across& across) {
  auto& quantized =
      static_cast<at::QTensorImpl&>(*tensor.unsafeGetTensorImpl());
  quantized.set_quantizer_(quantizer_across(quantized.quantizer(), across));
}

// A kernel without one of autograd's above it counts its writes itself, on the
// tensor that it has: those of _foreach_add_ and split_copy.out do.
void count_writes(const Tensor& alias, const Tensor& tensor) {
  if (!alias.is_inference() && !tensor.is_inference()) {
    alias.unsafeGetTensorImpl()->set_version_counter(
        tensor.unsafeGetTensorImpl()->version_counter());
  }
}

at::SparseTensorImpl& sparse(const Tensor& tensor) {
  return *static_cast<at::SparseTensorImpl*>(tensor.unsafeGetTensorImpl());
}

at::SparseCsrTensorImpl& compressed(const Tensor& tensor) {
  return *static_cast<at::SparseCsrTensorImpl*>(tensor.unsafeGetTensorImpl());
}

template <class Across>
void fill_sparse(const Tensor& from, const Tensor& to, const Across& across) {
  auto& source = sparse(from);
  auto& target = sparse(to);
  target.raw_resize_(source.sparse_dim(), source.dense_dim(), source.sizes());
  target.set_indices_and_values_unsafe(
      across(source.indices()), across(source.values()));
  target.set_coalesced(source.coalesced());
}

template <class Across>
void fill_compressed(
    const Tensor& from,
    const Tensor& to,
    const Across& across) {
  auto& source = compressed(from);
  compressed(to).set_member_tensors(
      across(source.compressed_indices()),
      across(source.plain_indices()),
      across(source.values()),
      from.sizes());
}

// A tensor of a sparse layout, part by part.
template <class Across>
Tensor sparse_across(
    const Tensor& tensor,
    c10::Device device,
    const Across& across) {
  if (tensor.layout() == c10::kSparse) {
    const c10::DeviceGuard guard(device); // it is made on the current one
    auto result = at::detail::make_tensor<at::SparseTensorImpl>(
        keys_of(c10::kSparse, device.type()), tensor.dtype());
    fill_sparse(tensor, result, across);
    copy_bits(*tensor.unsafeGetTensorImpl(), *result.unsafeGetTensorImpl());
    return result;
  }
  TORCH_CHECK(
      at::sparse_csr::is_sparse_compressed(tensor),
      "torch_cuda: a tensor of layout ",
      tensor.layout(),
      " on ",
      tensor.device(),
      " cannot be served by the kernels of ",
      device);
  auto result = at::detail::make_tensor<at::SparseCsrTensorImpl>(
      keys_of(tensor.layout(), device.type()),
      device,
      tensor.layout(),
      tensor.dtype());
  fill_compressed(tensor, result, across);
  return result;
}

} // namespace

Aliases::Side::Side(c10::DeviceType type)
    : type(type), dense(keys_of(c10::kStrided, type)) {}

Aliases::Aliases(Storages& storages, c10::DeviceType near, c10::DeviceType far)
    : storages_(storages), near_(near), far_(far) {}

Tensor Aliases::make_far(const Tensor& tensor, bool written) {
  auto& impl = *tensor.unsafeGetTensorImpl();
  if (C10_LIKELY(is_strided(impl))) {
    auto storage = storages_.far(impl.unsafe_storage(), written, &impl);
    if (C10_LIKELY(is_plain(impl))) {
      return strided(std::move(storage), impl, far_.dense);
    }
    auto alias =
        copy_over(std::move(storage), impl, storages_.far(impl.device()));
    if (alias.is_quantized()) {
      take_quantizer_across(
          alias, [this](const Tensor& t) { return far(t, false); });
    }
    return alias;
  }
  return sparse_across(
      tensor, storages_.far(tensor.device()), [&](const Tensor& t) {
        return far(t, written);
      });
}

Tensor Aliases::far(const Tensor& tensor, bool written) {
  if (!tensor.defined()) {
    return tensor;
  }
  if (C10_UNLIKELY(tensor.device().type() != near_.type)) {
    if (written) {
      // It stays what it is where it is the result.
      tensors_.push_back({tensor, tensor, false, false});
    }
    return tensor;
  }
  for (auto& pair : tensors_) {
    if (pair.near.unsafeGetTensorImpl() == tensor.unsafeGetTensorImpl()) {
      const bool first_write = written && !pair.written;
      pair.written = pair.written || written;
      pair.read = pair.read || !written;
      const Tensor alias = pair.far;
      if (first_write) {
        count_writes(alias, tensor);
        note_written(tensor);
      }
      return alias;
    }
  }
  tensors_.push_back({tensor, make_far(tensor, written), written, !written});
  if (written) {
    count_writes(tensors_.back().far, tensor);
  }
  return tensors_.back().far;
}

// What was taken across to be read is written to as well.
void Aliases::note_written(const Tensor& tensor) {
  auto& impl = *tensor.unsafeGetTensorImpl();
  if (is_strided(impl)) {
    storages_.far(impl.unsafe_storage(), true, &impl);
  } else if (tensor.layout() == c10::kSparse) {
    far(sparse(tensor).indices(), true);
    far(sparse(tensor).values(), true);
  } else {
    far(compressed(tensor).compressed_indices(), true);
    far(compressed(tensor).plain_indices(), true);
    far(compressed(tensor).values(), true);
  }
}

Tensor Aliases::make_near(Tensor result) {
  auto& impl = *result.unsafeGetTensorImpl();
  if (C10_LIKELY(is_strided(impl))) {
    const auto device = storages_.near(impl.device());
    auto storage = storages_.near(impl.unsafe_storage());
    if (result.is_quantized()) {
      auto moved = copy_over(std::move(storage), impl, device);
      take_quantizer_across(moved, [this](const Tensor& t) { return near(t); });
      return moved;
    }
    if (result.use_count() == 1) {
      impl.set_storage_keep_dtype(std::move(storage));
      impl._change_backend_component_keys(device);
      return result;
    }
    return is_plain(impl) ? strided(std::move(storage), impl, near_.dense)
                          : copy_over(std::move(storage), impl, device);
  }
  return sparse_across(
      result, storages_.near(result.device()), [this](const Tensor& t) {
        return near(t);
      });
}

Tensor Aliases::near(Tensor result) {
  if (!result.defined() || result.device().type() != far_.type) {
    return result;
  }
  for (const auto& pair : tensors_) {
    if (pair.far.unsafeGetTensorImpl() == result.unsafeGetTensorImpl()) {
      return pair.near;
    }
  }
  return make_near(std::move(result));
}

void Aliases::take_over(const Pair& pair) {
  auto& near = *pair.near.unsafeGetTensorImpl();
  auto& far = *pair.far.unsafeGetTensorImpl();
  if (C10_LIKELY(is_strided(near))) {
    auto storage = storages_.near(far.unsafe_storage());
    if (storage.unsafeGetStorageImpl() !=
        near.unsafe_storage().unsafeGetStorageImpl()) {
      near.set_storage_keep_dtype(std::move(storage));
    }
    if (pair.near.is_quantized()) {
      auto& quantized = static_cast<at::QTensorImpl&>(near);
      quantized.set_quantizer_(quantizer_across(
          static_cast<at::QTensorImpl&>(far).quantizer(),
          [this](const Tensor& t) { return this->near(t); }));
    }
    if (near.is_nested()) {
      return;
    }
    if (near.sizes() != far.sizes() || near.strides() != far.strides() ||
        near.storage_offset() != far.storage_offset()) {
      near.set_sizes_and_strides(
          far.sizes(), far.strides(), far.storage_offset());
    }
    if (C10_UNLIKELY(near.is_conj() != far.is_conj())) {
      near._set_conj(far.is_conj());
    }
    if (C10_UNLIKELY(near.is_neg() != far.is_neg())) {
      near._set_neg(far.is_neg());
    }
    copy_names(far, near);
    return;
  }
  const auto across = [this](const Tensor& t) { return this->near(t); };
  if (pair.near.layout() == c10::kSparse) {
    fill_sparse(pair.far, pair.near, across);
  } else {
    fill_compressed(pair.far, pair.near, across);
  }
}

void Aliases::check_kept_sizes() const {
  for (const auto& pair : tensors_) {
    TORCH_CHECK(
        !pair.written || !pair.read || pair.near.is_nested() ||
            pair.near.sizes() == pair.far.sizes(),
        "output with shape ",
        pair.near.sizes(),
        " doesn't match the broadcast shape ",
        pair.far.sizes());
  }
}

void Aliases::take_over() {
  for (const auto& pair : tensors_) {
    const auto& near = *pair.near.unsafeGetTensorImpl();
    const auto& far = *pair.far.unsafeGetTensorImpl();
    // Nested tensors have geometries of their own, which nothing changes.
    if (pair.written && is_strided(near) && !near.is_nested() &&
        (near.sizes() != far.sizes() || near.strides() != far.strides())) {
      storages_.resized(near.unsafe_storage(), far);
    }
  }
  storages_.take_over();
  // Parts of sparse tensors are added to the list meanwhile.
  const size_t tensors = tensors_.size();
  for (size_t i = 0; i < tensors; ++i) {
    if (tensors_[i].written) {
      take_over(Pair(tensors_[i]));
    }
  }
}

} // namespace torch_cuda::aliasing
