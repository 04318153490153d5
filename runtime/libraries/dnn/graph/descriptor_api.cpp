// Descriptors of the graph API.
#include <algorithm>

#include "runtime/libraries/dnn/graph/attributes.h"
#include "runtime/libraries/dnn/graph/descriptor.h"

namespace accelerator::dnn {
namespace {

constexpr auto kDescriptor = CUDNN_TYPE_BACKEND_DESCRIPTOR;

State& state_of(cudnnBackendDescriptor_t descriptor) {
  require(
      descriptor != nullptr,
      CUDNN_STATUS_BAD_PARAM_NULL_POINTER,
      "the descriptor is null");
  return *static_cast<Descriptor*>(descriptor)->state;
}

const Attribute& attribute_of(
    const State& state,
    cudnnBackendAttributeName_t name,
    cudnnBackendAttributeType_t type) {
  const Attribute* attribute = find_attribute(state.kind, name);
  require_valid(attribute != nullptr, "the descriptor has no such attribute");
  require(
      type == attribute->type || type == attribute->other,
      CUDNN_STATUS_BAD_PARAM_ATTRIBUTE_TYPE,
      "the attribute is of another type");
  return *attribute;
}

void set(
    State& state,
    cudnnBackendAttributeName_t name,
    cudnnBackendAttributeType_t type,
    std::int64_t count,
    const void* elements) {
  require_valid(!state.finalized, "the descriptor is finalized");
  const Attribute& attribute = attribute_of(state, name, type);
  require_valid(
      attribute.need != Need::kReadOnly, "the attribute is read only");
  require_valid(
      count >= 0 && count <= attribute.most &&
          (count > 0 || attribute.most > CUDNN_DIM_MAX),
      "the attribute has another number of elements");
  require(
      elements != nullptr || count == 0,
      CUDNN_STATUS_BAD_PARAM_NULL_POINTER,
      "the elements are null");
  Value value;
  value.type = type;
  value.count = count;
  if (type == kDescriptor) {
    const auto* children =
        static_cast<const cudnnBackendDescriptor_t*>(elements);
    for (std::int64_t i = 0; i < count; ++i) {
      require(
          children[i] != nullptr,
          CUDNN_STATUS_BAD_PARAM_NULL_POINTER,
          "a descriptor among the elements is null");
      const auto& child = static_cast<Descriptor*>(children[i])->state;
      require(
          child->finalized,
          CUDNN_STATUS_BAD_PARAM_NOT_FINALIZED,
          "a descriptor among the elements is not finalized");
      value.children.push_back(child);
    }
  } else if (name == CUDNN_ATTR_TENSOR_CONSTANT_VALUE) {
    // Where the value is, which may be gone after the call. Its type has to be
    // known before.
    const auto* bytes = *static_cast<const unsigned char* const*>(elements);
    require_pointers(bytes);
    value.type = CUDNN_TYPE_CHAR;
    value.bytes.assign(bytes, bytes + tensor_of(state).layout.bytes());
  } else {
    const auto* bytes = static_cast<const unsigned char*>(elements);
    value.bytes.assign(bytes, bytes + count * size_of(type));
  }
  state.values[name] = std::move(value);
}

/// A number in the type that is asked for.
Value converted(const Value& value, cudnnBackendAttributeType_t type) {
  if (value.type == type || value.bytes.empty()) {
    return value;
  }
  if (type == CUDNN_TYPE_FLOAT && value.type == CUDNN_TYPE_DOUBLE) {
    double number = 0;
    std::memcpy(&number, value.bytes.data(), sizeof(number));
    return value_of<float>(type, {static_cast<float>(number)});
  }
  if (type == CUDNN_TYPE_DOUBLE && value.type == CUDNN_TYPE_FLOAT) {
    float number = 0;
    std::memcpy(&number, value.bytes.data(), sizeof(number));
    return value_of<double>(type, {number});
  }
  throw Refusal(
      CUDNN_STATUS_BAD_PARAM_ATTRIBUTE_TYPE,
      "the attribute is of another type");
}

void get(
    const std::shared_ptr<State>& state,
    cudnnBackendAttributeName_t name,
    cudnnBackendAttributeType_t type,
    std::int64_t most,
    std::int64_t* count,
    void* elements) {
  require(
      state->finalized,
      CUDNN_STATUS_NOT_INITIALIZED,
      "the descriptor is not finalized");
  attribute_of(*state, name, type);
  require_valid(most >= 0, "the number of elements is negative");
  std::optional<Value> value = computed_value(state, name);
  if (const Value* is_set = state->find(name); is_set != nullptr) {
    value = converted(*is_set, type);
  }
  require_supported(
      value.has_value(), "the attribute is not set and has no default");
  const std::int64_t some =
      elements == nullptr ? value->count : std::min(most, value->count);
  if (count != nullptr) {
    *count = some;
  }
  if (elements == nullptr) {
    return;
  }
  if (type != kDescriptor) {
    std::memcpy(
        elements,
        value->bytes.data(),
        static_cast<std::size_t>(some) * size_of(type));
    return;
  }
  const auto* places = static_cast<const cudnnBackendDescriptor_t*>(elements);
  for (std::int64_t i = 0; i < some; ++i) {
    require_valid(
        places[i] != nullptr, "a descriptor among the elements is null");
    auto& place = static_cast<Descriptor*>(places[i])->state;
    const auto& child = value->children[static_cast<std::size_t>(i)];
    require(
        place->kind == child->kind,
        CUDNN_STATUS_BAD_PARAM_DESCRIPTOR_TYPE,
        "a descriptor among the elements is of another kind");
    // It is finalized, and nothing changes it any more.
    place = std::const_pointer_cast<State>(child);
  }
}

} // namespace
} // namespace accelerator::dnn

using namespace accelerator::dnn;

extern "C" {

cudnnStatus_t cudnnBackendCreateDescriptor(
    cudnnBackendDescriptorType_t kind,
    cudnnBackendDescriptor_t* descriptor) {
  return guarded(__func__, [&] {
    require_pointers(descriptor);
    require(
        !attributes_of(kind).empty(),
        kind >= CUDNN_BACKEND_POINTWISE_DESCRIPTOR &&
                kind <= CUDNN_BACKEND_OPERATION_ROPE_BWD_DESCRIPTOR
            ? CUDNN_STATUS_NOT_SUPPORTED
            : CUDNN_STATUS_INTERNAL_ERROR_HOST_ALLOCATION_FAILED,
        "descriptors of this kind are not supported by this CUDA runtime");
    auto made = std::make_unique<Descriptor>();
    made->state = std::make_shared<State>();
    made->state->kind = kind;
    *descriptor = made.release();
  });
}

cudnnStatus_t cudnnBackendDestroyDescriptor(
    cudnnBackendDescriptor_t descriptor) {
  return guarded(__func__, [&] {
    require_pointers(descriptor);
    delete static_cast<Descriptor*>(descriptor);
  });
}

cudnnStatus_t cudnnBackendInitialize(cudnnBackendDescriptor_t descriptor) {
  return guarded(__func__, [&] {
    const auto kind = state_of(descriptor).kind;
    auto& state = static_cast<Descriptor*>(descriptor)->state;
    state = std::make_shared<State>();
    state->kind = kind;
  });
}

cudnnStatus_t cudnnBackendFinalize(cudnnBackendDescriptor_t descriptor) {
  return guarded(__func__, [&] {
    State& state = state_of(descriptor);
    require_valid(!state.finalized, "the descriptor is finalized");
    finalize(state);
  });
}

cudnnStatus_t cudnnBackendSetAttribute(
    cudnnBackendDescriptor_t descriptor,
    cudnnBackendAttributeName_t name,
    cudnnBackendAttributeType_t type,
    std::int64_t count,
    const void* elements) {
  return guarded(__func__, [&] {
    set(state_of(descriptor), name, type, count, elements);
  });
}

cudnnStatus_t cudnnBackendGetAttribute(
    const cudnnBackendDescriptor_t descriptor,
    cudnnBackendAttributeName_t name,
    cudnnBackendAttributeType_t type,
    std::int64_t most,
    std::int64_t* count,
    void* elements) {
  return guarded(__func__, [&] {
    state_of(descriptor);
    get(static_cast<Descriptor*>(descriptor)->state,
        name,
        type,
        most,
        count,
        elements);
  });
}

} // extern "C"
