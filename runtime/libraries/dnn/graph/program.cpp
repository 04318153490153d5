#include "runtime/libraries/dnn/graph/program.h"

#include <algorithm>
#include <limits>
#include <set>

#include "runtime/libraries/dnn/graph/operations.h"

namespace accelerator::dnn {
namespace {

/// Calls `body(offset, count, at)` for rows of a ragged tensor: each batch,
/// dimension 0, begins where `starts` says, and ends where the next one begins.
/// What of a row lies behind that is left out.
/// @param starts one more than there are batches, in elements.
template <typename Body>
void for_each_ragged_row(
    const Layout& layout,
    const std::vector<std::int64_t>& starts,
    Body body) {
  Dims dims = layout.dims;
  dims[0] = 1;
  const std::int64_t length = dims.back();
  const std::int64_t stride = layout.strides.back();
  const std::int64_t rows = count_of(dims) / std::max<std::int64_t>(1, length);
  for (std::int64_t batch = 0; batch < layout.dims[0]; ++batch) {
    const std::int64_t room = starts[batch + 1] - starts[batch];
    for_each_row(
        dims, layout.strides, [&](std::int64_t offset, std::int64_t row) {
          const std::int64_t left = room - offset;
          const std::int64_t some = left <= 0 ? 0
              : stride == 0                   ? length
                            : std::min(length, (left + stride - 1) / stride);
          if (some > 0) {
            body(starts[batch] + offset, some, (batch * rows + row) * length);
          }
        });
  }
}

} // namespace

template <typename T>
const Array<T>& Run<T>::in(std::int64_t uid) {
  const auto known = values_.find(uid);
  if (known != values_.end()) {
    return known->second;
  }
  const Tensor& tensor = program_.tensor(uid);
  require_valid(!tensor.is_virtual, "nothing makes a virtual tensor");
  const void* memory = pointers_.at(uid);
  if (tensor.ragged < 0) {
    return values_[uid] = read<T>(tensor.layout, memory);
  }
  Array<T> values(tensor.layout.dims);
  T* to = values.writable();
  for_each_ragged_row(
      tensor.layout,
      starts(tensor),
      [&](std::int64_t offset, std::int64_t count, std::int64_t at) {
        load(
            tensor.layout.type,
            memory,
            offset,
            tensor.layout.strides.back(),
            count,
            to + at);
      });
  return values_[uid] = std::move(values);
}

template <typename T>
std::vector<std::int64_t> Run<T>::starts(const Tensor& tensor) const {
  const Tensor& ragged = program_.tensor(tensor.ragged);
  const Array<double> values =
      read<double>(ragged.layout, pointers_.at(tensor.ragged));
  std::vector<std::int64_t> result;
  for (std::int64_t i = 0; i < values.size(); ++i) {
    result.push_back(
        static_cast<std::int64_t>(values[i]) * tensor.ragged_multiplier);
  }
  return result;
}

template <typename T>
std::int64_t Run<T>::integer(std::int64_t uid) const {
  const Layout& layout = program_.tensor(uid).layout;
  const void* memory = pointers_.at(uid);
  if (layout.type == CUDNN_DATA_INT64) {
    return *static_cast<const std::int64_t*>(memory);
  }
  double value = 0;
  load(layout.type, memory, 0, 1, 1, &value);
  return static_cast<std::int64_t>(value);
}

template <typename T>
void Run<T>::out(std::int64_t uid, Array<T> values) {
  if (uid < 0) {
    return;
  }
  const Tensor& tensor = program_.tensor(uid);
  if (values.dims() != tensor.layout.dims) {
    values = std::move(values).reshaped(tensor.layout.dims);
  }
  if (!is_type<T>(tensor.layout.type)) {
    round_to(tensor.layout.type, values.size(), values.writable());
  }
  values_[uid] = std::move(values);
  made_.push_back(uid);
}

template <typename T>
Array<T> Run<T>::before(std::int64_t uid) const {
  return read<T>(program_.tensor(uid).layout, pointers_.at(uid));
}

template <typename T>
void Run<T>::finish() {
  for (const std::int64_t uid : made_) {
    const Tensor& tensor = program_.tensor(uid);
    if (tensor.is_virtual) {
      continue;
    }
    void* memory = pointers_.at(uid);
    const Array<T>& values = values_.at(uid);
    if (tensor.ragged < 0) {
      write(tensor.layout, memory, values);
      continue;
    }
    for_each_ragged_row(
        tensor.layout,
        starts(tensor),
        [&](std::int64_t offset, std::int64_t count, std::int64_t at) {
          store(
              tensor.layout.type,
              memory,
              offset,
              tensor.layout.strides.back(),
              count,
              values.data() + at);
        });
  }
}

template class Run<float>;
template class Run<double>;

Program::Program(const std::vector<std::shared_ptr<const State>>& operations) {
  Builder builder(*this);
  for (const auto& operation : operations) {
    add_operation(builder, *operation);
  }
  for (const auto& [uid, tensor] : tensors_) {
    in_double_ = in_double_ || tensor.layout.type == CUDNN_DATA_DOUBLE;
  }
  sort();
}

void Program::sort() {
  std::set<std::int64_t> pending; // what some operation is still to make
  for (const Node& node : nodes_) {
    for (const std::int64_t uid : node.outputs) {
      if (uid >= 0) {
        require_valid(
            pending.insert(uid).second, "two operations make one tensor");
      }
    }
  }
  std::vector<Node> sorted;
  while (!nodes_.empty()) {
    const auto next =
        std::find_if(nodes_.begin(), nodes_.end(), [&](const Node& node) {
          return std::none_of(
              node.inputs.begin(), node.inputs.end(), [&](std::int64_t uid) {
                return pending.count(uid) != 0;
              });
        });
    require_valid(next != nodes_.end(), "the operations form a circle");
    for (const std::int64_t uid : next->outputs) {
      pending.erase(uid);
    }
    sorted.push_back(std::move(*next));
    nodes_.erase(next);
  }
  nodes_ = std::move(sorted);
}

void Program::run(const Pointers& pointers) const {
  if (in_double_) {
    Run<double> run(*this, pointers);
    for (const Node& node : nodes_) {
      node.in_double(run);
    }
    run.finish();
  } else {
    Run<float> run(*this, pointers);
    for (const Node& node : nodes_) {
      node.in_single(run);
    }
    run.finish();
  }
}

std::vector<const Tensor*> Program::real_tensors() const {
  std::vector<const Tensor*> result;
  for (const auto& [uid, tensor] : tensors_) {
    if (!tensor.is_virtual) {
      result.push_back(&tensor);
    }
  }
  return result;
}

bool Program::is_output(std::int64_t uid) const {
  return std::any_of(nodes_.begin(), nodes_.end(), [uid](const Node& node) {
    return std::find(node.outputs.begin(), node.outputs.end(), uid) !=
        node.outputs.end();
  });
}

std::int64_t Builder::tensor(
    const State& operation,
    cudnnBackendAttributeName_t name) {
  return add_tensor(operation.child(name, CUDNN_BACKEND_TENSOR_DESCRIPTOR));
}

std::vector<std::int64_t> Builder::tensors(
    const State& operation,
    cudnnBackendAttributeName_t name) {
  std::vector<std::int64_t> result;
  const Value* value = operation.find(name);
  require_valid(value != nullptr, "a descriptor that is needed is not set");
  for (const auto& state : value->children) {
    require(
        state->kind == CUDNN_BACKEND_TENSOR_DESCRIPTOR,
        CUDNN_STATUS_BAD_PARAM_DESCRIPTOR_TYPE,
        "a descriptor is no tensor's");
    result.push_back(add_tensor(*state));
  }
  return result;
}

std::int64_t Builder::temporary(const Dims& dims) {
  // Programs count from 0 on.
  std::int64_t uid = std::numeric_limits<std::int64_t>::max();
  while (knows(uid)) {
    --uid;
  }
  Tensor tensor;
  tensor.uid = uid;
  tensor.layout.dims = dims;
  tensor.layout.strides = packed_strides(dims);
  tensor.is_virtual = true;
  if (program_.in_double_) {
    tensor.layout.type = CUDNN_DATA_DOUBLE;
  }
  program_.tensors_.emplace(uid, tensor);
  return uid;
}

std::int64_t Builder::add_tensor(const State& state) {
  const Tensor tensor = tensor_of(state);
  require_supported(
      bits_of(tensor.layout.type) != 0,
      "a tensor's data type is not supported");
  require_supported(
      state.get<std::int64_t>(CUDNN_ATTR_TENSOR_VECTOR_COUNT, 1) == 1,
      "tensors of vectors are not supported");
  require_supported(
      state.get<int>(CUDNN_ATTR_TENSOR_REORDERING_MODE) ==
          CUDNN_TENSOR_REORDERING_NONE,
      "tensors in another order are not supported");
  require_valid(tensor.uid >= 0, "a tensor's unique id is negative");
  const auto [known, is_new] = program_.tensors_.emplace(tensor.uid, tensor);
  const Layout& first = known->second.layout;
  require_valid(
      is_new ||
          (first.type == tensor.layout.type &&
           first.dims == tensor.layout.dims &&
           first.strides == tensor.layout.strides &&
           known->second.is_virtual == tensor.is_virtual),
      "two different tensors have one unique id");
  if (tensor.ragged >= 0) {
    const std::int64_t offsets =
        this->tensor(state, CUDNN_ATTR_TENSOR_RAGGED_OFFSET_DESC);
    require_valid(
        !tensor.layout.dims.empty() &&
            count_of(dims(offsets)) == tensor.layout.dims[0] + 1,
        "a ragged tensor has one offset more than batches");
  }
  return tensor.uid;
}

void Builder::computes_in(cudnnDataType_t type) {
  require_supported(
      bits_of(type) != 0, "a data type that is computed in is not supported");
  program_.in_double_ = program_.in_double_ || type == CUDNN_DATA_DOUBLE ||
      type == CUDNN_DATA_INT32 || type == CUDNN_DATA_INT64;
}

} // namespace accelerator::dnn
