// An operation graph as it is computed: operations one after the other, on
// arrays.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "runtime/libraries/dnn/graph/descriptor.h"

namespace accelerator::dnn {

/// Memory of tensors, by unique id.
using Pointers = std::unordered_map<std::int64_t, void*>;

/// One computation of a program in numbers of type T.
template <typename T>
class Run {
 public:
  Run(const Program& program, const Pointers& pointers)
      : program_(program), pointers_(pointers) {}

  /// A tensor's values: from memory, or what an operation made before.
  const Array<T>& in(std::int64_t uid);
  /// The same, or null where the id is that of no tensor.
  const Array<T>* optional(std::int64_t uid) {
    return uid < 0 ? nullptr : &in(uid);
  }
  /// The first element.
  double number(std::int64_t uid) {
    return static_cast<double>(in(uid)[0]);
  }
  /// The first element of a tensor of integers, exactly.
  std::int64_t integer(std::int64_t uid) const;
  /// One of zeros.
  Array<T> array(const Dims& dims) const {
    return Array<T>(dims);
  }
  /// What an operation made. A negative id: nobody wants it.
  void out(std::int64_t uid, Array<T> values);
  /// What is in an output's memory before.
  Array<T> before(std::int64_t uid) const;
  /// Writes to memory what has been made.
  void finish();

 private:
  /// Where a ragged tensor's batches begin, in elements.
  std::vector<std::int64_t> starts(const Tensor& tensor) const;

  const Program& program_;
  const Pointers& pointers_;
  std::unordered_map<std::int64_t, Array<T>> values_;
  std::vector<std::int64_t> made_;
};

/// An operation.
struct Node {
  std::vector<std::int64_t> inputs;
  std::vector<std::int64_t> outputs;
  std::function<void(Run<float>&)> in_single;
  std::function<void(Run<double>&)> in_double;
};

class Program {
 public:
  /// @param operations finalized descriptors of operations.
  /// @throws Refusal: an operation or a combination is not supported.
  explicit Program(const std::vector<std::shared_ptr<const State>>& operations);

  /// Computes it.
  void run(const Pointers& pointers) const;

  /// Those that have memory.
  std::vector<const Tensor*> real_tensors() const;
  bool is_output(std::int64_t uid) const;
  const Tensor& tensor(std::int64_t uid) const {
    return tensors_.at(uid);
  }

 private:
  friend class Builder;

  /// Puts operations behind those whose results they need.
  void sort();

  std::unordered_map<std::int64_t, Tensor> tensors_;
  std::vector<Node> nodes_;
  bool in_double_ = false;
};

/// Makes a program of descriptors.
class Builder {
 public:
  explicit Builder(Program& program) : program_(program) {}

  /// The id of a tensor that an operation has to have.
  std::int64_t tensor(const State& operation, cudnnBackendAttributeName_t name);
  /// The same; -1 where it is not set.
  std::int64_t optional(
      const State& operation,
      cudnnBackendAttributeName_t name) {
    return operation.has(name) ? tensor(operation, name) : -1;
  }
  /// The ids of several tensors.
  std::vector<std::int64_t> tensors(
      const State& operation,
      cudnnBackendAttributeName_t name);
  /// The id of a tensor without memory that no descriptor is of.
  std::int64_t temporary(const Dims& dims);
  bool knows(std::int64_t uid) const {
    return program_.tensors_.count(uid) != 0;
  }
  const Layout& layout(std::int64_t uid) const {
    return program_.tensors_.at(uid).layout;
  }
  const Dims& dims(std::int64_t uid) const {
    return layout(uid).dims;
  }
  /// What is computed in.
  void computes_in(cudnnDataType_t type);
  /// @param work is called with a Run of float or double. Negative ids are
  /// passed over.
  template <typename Work>
  void add(
      std::vector<std::int64_t> inputs,
      std::vector<std::int64_t> outputs,
      Work work) {
    program_.nodes_.push_back(
        Node{std::move(inputs), std::move(outputs), work, work});
  }

 private:
  std::int64_t add_tensor(const State& state);

  Program& program_;
};

} // namespace accelerator::dnn
