// Which attributes each kind of backend descriptor has.
// Source: cuDNN graph API, cudnnBackendDescriptorType_t.
#pragma once

#include <cudnn.h>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace accelerator::dnn {

/// Whether an attribute has to be set before its descriptor is finalized.
enum class Need { kOptional, kRequired, kReadOnly };

struct Attribute {
  cudnnBackendAttributeName_t name;
  cudnnBackendAttributeType_t type;
  std::int64_t most; // elements
  Need need;
  /// Another type that is taken; the same where there is none.
  cudnnBackendAttributeType_t other;
};

/// Those of a kind; none for a kind that this library does not have.
const std::vector<Attribute>& attributes_of(cudnnBackendDescriptorType_t kind);

/// Null for a name that the kind does not have.
const Attribute* find_attribute(
    cudnnBackendDescriptorType_t kind,
    cudnnBackendAttributeName_t name);

/// Bytes of an attribute's element; 0 for an unknown type.
std::size_t size_of(cudnnBackendAttributeType_t type);

} // namespace accelerator::dnn
