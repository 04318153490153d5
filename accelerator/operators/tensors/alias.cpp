// Aliases of all layouts: strided, quantized, nested, sparse.
#include "accelerator/operators/tensors/alias.h"

#include "accelerator/operators/tensors/device_memory.h"
#include "accelerator/operators/tensors/stand_in.h"

#include <ATen/NamedTensorUtils.h>
#include <ATen/NestedTensorImpl.h>
#include <ATen/SparseCsrTensorImpl.h>
#include <ATen/SparseCsrTensorUtils.h>
#include <ATen/SparseTensorImpl.h>
#include <ATen/quantized/QTensorImpl.h>
#include <ATen/quantized/Quantizer.h>
#include <c10/cuda/CUDACachingAllocator.h>

#include <utility>

namespace torch_cuda::operators {
namespace {

using at::Tensor;
using c10::DispatchKey;
using c10::DispatchKeySet;
using c10::StorageImpl;
using c10::TensorImpl;

void release(void* storage) {
  c10::raw::intrusive_ptr::decref(static_cast<StorageImpl*>(storage));
}

// The bits that say how a tensor's memory is to be read.
constexpr DispatchKeySet kLazyBits(
    {DispatchKey::Conjugate, DispatchKey::Negative, DispatchKey::ZeroTensor});

void copy_bits(const TensorImpl& from, TensorImpl& to) {
  if (C10_UNLIKELY(from.is_wrapped_number())) {
    to.set_wrapped_number(true);
  }
  if (C10_UNLIKELY(from.has_named_tensor_meta())) {
    to.set_named_tensor_meta(from.named_tensor_meta()->clone());
  }
}

// A tensor like `like` on `device`, over `storage`.
Tensor strided(c10::Storage&& storage, const TensorImpl& like, bool on_cpu) {
  const DispatchKeySet keys(on_cpu ? DispatchKey::CPU : DispatchKey::CUDA);
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
  const bool cpu = device.is_cpu();
  if (tensor.layout() == c10::kSparse) {
    auto result = at::detail::make_tensor<at::SparseTensorImpl>(
        DispatchKeySet(cpu ? DispatchKey::SparseCPU : DispatchKey::SparseCUDA),
        tensor.dtype());
    fill_sparse(tensor, result, across);
    copy_bits(*tensor.unsafeGetTensorImpl(), *result.unsafeGetTensorImpl());
    return result;
  }
  TORCH_CHECK(
      at::sparse_csr::is_sparse_compressed(tensor),
      "torch_cuda: a tensor of layout ",
      tensor.layout(),
      " cannot be served by the CPU's kernels on ",
      device);
  auto result = at::detail::make_tensor<at::SparseCsrTensorImpl>(
      DispatchKeySet(
          cpu ? DispatchKey::SparseCsrCPU : DispatchKey::SparseCsrCUDA),
      device,
      tensor.layout(),
      tensor.dtype());
  fill_compressed(tensor, result, across);
  return result;
}

} // namespace

c10::DataPtr Aliases::host_data(StorageImpl& storage, bool written) const {
  if (behind_ == Behind::StandIn) {
    return stand_in(storage.nbytes());
  }
  // A copy-on-write storage gets a copy of its own before it is written to.
  void* data =
      written ? storage.mutable_data() : const_cast<void*>(storage.data());
  if (behind_ == Behind::BorrowedMemory) {
    return {data, c10::kCPU};
  }
  auto owner = c10::intrusive_ptr<StorageImpl>::reclaim_copy(&storage);
  return {data, owner.release(), &release, c10::kCPU};
}

c10::DataPtr Aliases::device_data(c10::DataPtr&& data, size_t bytes) const {
  return behind_ == Behind::StandIn
      ? c10::cuda::CUDACachingAllocator::get()->allocate(bytes)
      : on_device(std::move(data), bytes, device_);
}

c10::Storage Aliases::host_storage(const c10::Storage& storage, bool written) {
  auto* device = storage.unsafeGetStorageImpl();
  for (const auto& pair : storages_) {
    if (pair.device.get() == device) {
      return c10::Storage(pair.host);
    }
  }
  auto host = c10::make_intrusive<StorageImpl>(
      StorageImpl::use_byte_size_t(),
      device->nbytes(),
      host_data(*device, written),
      host_allocator(),
      device->resizable());
  storages_.push_back(
      {c10::intrusive_ptr<StorageImpl>::reclaim_copy(device), host});
  return c10::Storage(std::move(host));
}

c10::Storage Aliases::device_storage(const c10::Storage& storage) {
  auto* host = storage.unsafeGetStorageImpl();
  for (const auto& pair : storages_) {
    if (pair.host.get() == host) {
      return c10::Storage(pair.device);
    }
  }
  if (host->device_type() == c10::kCUDA) {
    return storage;
  }
  // The alias of another call, whose results are used in this one.
  if (host->data_ptr().get_deleter() == &release) {
    return c10::Storage(c10::intrusive_ptr<StorageImpl>::reclaim_copy(
        static_cast<StorageImpl*>(host->data_ptr().get_context())));
  }
  const size_t bytes = host->nbytes();
  host->set_data_ptr_noswap(
      device_data(std::move(host->mutable_data_ptr()), bytes));
  host->set_allocator(c10::cuda::CUDACachingAllocator::get());
  return storage;
}

c10::Storage Aliases::host(const c10::Storage& storage, bool written) {
  return storage.device_type() == c10::kCUDA ? host_storage(storage, written)
                                             : storage;
}

Tensor Aliases::make_host(const Tensor& tensor, bool written) {
  auto& impl = *tensor.unsafeGetTensorImpl();
  if (C10_LIKELY(is_strided(impl))) {
    auto storage = host_storage(impl.unsafe_storage(), written);
    if (C10_UNLIKELY(behind_ == Behind::StandIn)) {
      fill_stand_in(storage, impl, integers_);
    }
    if (C10_LIKELY(is_plain(impl))) {
      return strided(std::move(storage), impl, /*on_cpu=*/true);
    }
    auto alias = copy_over(std::move(storage), impl, c10::kCPU);
    if (alias.is_quantized()) {
      auto& quantized =
          static_cast<at::QTensorImpl&>(*alias.unsafeGetTensorImpl());
      quantized.set_quantizer_(quantizer_across(
          quantized.quantizer(),
          [this](const Tensor& t) { return host(t, false); }));
    }
    return alias;
  }
  return sparse_across(
      tensor, c10::kCPU, [&](const Tensor& t) { return host(t, written); });
}

Tensor Aliases::host(const Tensor& tensor, bool written) {
  if (!tensor.defined() || !tensor.is_cuda()) {
    return tensor;
  }
  tensors_.push_back({tensor, make_host(tensor, written), written});
  return tensors_.back().host;
}

Tensor Aliases::make_device(Tensor result) {
  auto& impl = *result.unsafeGetTensorImpl();
  if (C10_LIKELY(is_strided(impl))) {
    auto storage = device_storage(impl.unsafe_storage());
    if (result.is_quantized()) {
      auto moved = copy_over(std::move(storage), impl, device_);
      auto& quantized =
          static_cast<at::QTensorImpl&>(*moved.unsafeGetTensorImpl());
      quantized.set_quantizer_(quantizer_across(
          quantized.quantizer(),
          [this](const Tensor& t) { return device(t); }));
      return moved;
    }
    if (result.use_count() == 1) {
      impl.set_storage_keep_dtype(std::move(storage));
      impl._change_backend_component_keys(device_);
      return result;
    }
    return is_plain(impl) ? strided(std::move(storage), impl, false)
                          : copy_over(std::move(storage), impl, device_);
  }
  return sparse_across(
      result, device_, [this](const Tensor& t) { return device(t); });
}

Tensor Aliases::device(Tensor result) {
  if (!result.defined() || !result.is_cpu()) {
    return result;
  }
  for (const auto& pair : tensors_) {
    if (pair.host.unsafeGetTensorImpl() == result.unsafeGetTensorImpl()) {
      return pair.device;
    }
  }
  return make_device(std::move(result));
}

void Aliases::take_over(const Tensors& tensors) {
  auto& device = *tensors.device.unsafeGetTensorImpl();
  auto& host = *tensors.host.unsafeGetTensorImpl();
  if (C10_LIKELY(is_strided(device))) {
    auto storage = device_storage(host.unsafe_storage());
    if (storage.unsafeGetStorageImpl() !=
        device.unsafe_storage().unsafeGetStorageImpl()) {
      device.set_storage_keep_dtype(std::move(storage));
    }
    if (device.sizes() != host.sizes() || device.strides() != host.strides() ||
        device.storage_offset() != host.storage_offset()) {
      device.set_sizes_and_strides(
          host.sizes(), host.strides(), host.storage_offset());
    }
    if (C10_UNLIKELY(host.has_named_tensor_meta())) {
      device.set_named_tensor_meta(host.named_tensor_meta()->clone());
    }
    return;
  }
  const auto across = [this](const Tensor& t) { return this->device(t); };
  if (tensors.device.layout() == c10::kSparse) {
    fill_sparse(tensors.host, tensors.device, across);
  } else {
    fill_compressed(tensors.host, tensors.device, across);
  }
}

bool Aliases::is_unchanged(const Storages& pair) const {
  return pair.host->nbytes() == pair.device->nbytes() &&
      (behind_ == Behind::StandIn ? is_stand_in(pair.host->data_ptr())
                                  : pair.host->data() == pair.device->data());
}

void Aliases::take_over() {
  for (const auto& pair : storages_) {
    auto& host = *pair.host;
    auto& device = *pair.device;
    if (C10_LIKELY(is_unchanged(pair))) {
      continue;
    }
    if (host.data_ptr().get_deleter() != &release) {
      device.set_data_ptr_noswap(
          device_data(std::move(host.mutable_data_ptr()), host.nbytes()));
    }
    device.set_nbytes(host.nbytes());
  }
  // Parts of sparse tensors are added to the list meanwhile.
  const size_t tensors = tensors_.size();
  for (size_t i = 0; i < tensors; ++i) {
    if (tensors_[i].written) {
      take_over(Tensors(tensors_[i]));
    }
  }
}

} // namespace torch_cuda::operators
