// Definitions, and integers in the place of what is moved.
#include "router/operators/kernels/more_types.h"

#include "router/aliasing/arguments.h"
#include "router/operators/calls/boxed_call.h"
#include "router/operators/dispatch/registration.h"
#include "router/operators/kernels/out.h"

#include <ATen/core/Tensor.h>
#include <ATen/ops/bincount.h>
#include <ATen/ops/full.h>
#include <c10/core/ScalarType.h>
#include <c10/util/Exception.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace torch_cuda::operators {
namespace {

using at::Tensor;
using c10::IValue;
using c10::ScalarType;
using torch::jit::Stack;

// Of integers without rounding: the CPU's kernel divides before it multiplies.
Tensor histc_of_integers(
    const Tensor& self,
    int64_t bins,
    const c10::Scalar& min,
    const c10::Scalar& max) {
  TORCH_CHECK(bins > 0, "histc: bins must be > 0, found ", bins);
  const auto numbers = self.reshape({-1}).to(c10::kLong);
  auto low = min.to<int64_t>();
  auto high = max.to<int64_t>();
  if (low == high && numbers.numel() > 0) {
    low = numbers.min().item<int64_t>();
    high = numbers.max().item<int64_t>();
  }
  if (low == high) {
    --low;
    ++high;
  }
  TORCH_CHECK(low < high, "histc: max must be larger than min");
  const auto range = static_cast<double>(high) - static_cast<double>(low);
  TORCH_CHECK_NOT_IMPLEMENTED(
      range * static_cast<double>(bins) <
          static_cast<double>(std::numeric_limits<int64_t>::max()) / 2,
      "aten::histc: ",
      bins,
      " bins of integers from ",
      low,
      " to ",
      high,
      " are more than 64 bits can tell apart; convert them to float64");
  const auto inside =
      numbers.masked_select(numbers.ge(low).logical_and_(numbers.le(high)));
  const auto bin =
      inside.sub(low).mul_(bins).floor_divide_(high - low).clamp_max_(bins - 1);
  return at::bincount(bin, {}, bins).to(self.scalar_type());
}

void histc(Stack* stack) {
  const auto arguments = torch::jit::pop(*stack, 4);
  torch::jit::push(
      *stack,
      histc_of_integers(
          arguments[0].toTensor(),
          arguments[1].toInt(),
          arguments[2].toScalar(),
          arguments[3].toScalar()));
}

void histc_out(Stack* stack) {
  auto out = torch::jit::pop(*stack).toTensor();
  histc(stack);
  auto& result = stack->back();
  result = resize_and_copy(out, result.toTensor());
}

// A complex number is none where one of its parts is none.
Tensor nansum(const std::vector<IValue>& arguments) {
  const auto self = arguments[0].toTensor();
  const auto dims = arguments[1].isNone() ? std::vector<int64_t>()
                                          : arguments[1].toIntVector();
  return self.masked_fill(self.isnan(), 0)
      .sum(dims, arguments[2].toBool(), arguments[3].toOptional<ScalarType>());
}

void nansum(Stack* stack) {
  const auto arguments = torch::jit::pop(*stack, 4);
  torch::jit::push(*stack, nansum(arguments));
}

void nansum_out(Stack* stack) {
  auto out = torch::jit::pop(*stack).toTensor();
  nansum(stack);
  auto& result = stack->back();
  result = resize_and_copy(out, result.toTensor());
}

// How many there are.
void trace(Stack* stack) {
  const auto self = torch::jit::pop(*stack).toTensor();
  TORCH_CHECK(
      self.dim() == 2,
      "trace: expected a matrix, but got tensor with dim ",
      self.dim());
  torch::jit::push(*stack, self.diagonal().sum());
}

void abs_out(Stack* stack) {
  auto out = torch::jit::pop(*stack).toTensor();
  const auto self = torch::jit::pop(*stack).toTensor();
  torch::jit::push(*stack, resize_and_copy(out, self));
}

bool is_integral(ScalarType type) {
  return c10::isIntegralType(type, /*includeBool=*/false);
}

bool is_complex(ScalarType type) {
  return c10::isComplexType(type);
}

bool is_bool(ScalarType type) {
  return type == c10::kBool;
}

struct Definition {
  std::string_view name;
  bool (*serves)(ScalarType);
  HostKernel function;
};

constexpr Definition kDefinitions[] = {
    {"aten::histc", &is_integral, &histc},
    {"aten::histc.out", &is_integral, &histc_out},
    {"aten::nansum", &is_complex, &nansum},
    {"aten::nansum.out", &is_complex, &nansum_out},
    {"aten::trace", &is_bool, &trace},
    {"aten::abs.out", &is_bool, &abs_out},
};

// What moves numbers, and puts one number into places.
constexpr std::string_view kMoves[] = {
    "aten::gather",
    "aten::scatter.src",
    "aten::scatter_.src",
    "aten::scatter.value",
    "aten::scatter_.value",
    "aten::index.Tensor",
    "aten::index_copy",
    "aten::index_copy_",
    "aten::index_fill_.int_Scalar",
    "aten::masked_fill_.Scalar",
    "aten::masked_scatter_",
    "aten::put_",
    "aten::take",
    "aten::tril",
    "aten::tril_",
    "aten::triu",
    "aten::triu_",
};

const Definition* definition_of(const c10::OperatorName& name) {
  const auto full = c10::toString(name);
  const auto* found = std::find_if(
      std::begin(kDefinitions), std::end(kDefinitions), [&](const auto& one) {
        return one.name == full;
      });
  return found == std::end(kDefinitions) ? nullptr : found;
}

bool moves(const c10::OperatorName& name) {
  const auto full = c10::toString(name);
  return std::find(std::begin(kMoves), std::end(kMoves), full) !=
      std::end(kMoves);
}

class Defined final : public c10::OperatorKernel {
 public:
  Defined(
      const c10::OperatorHandle& op,
      c10::DispatchKey target,
      const Definition& definition)
      : call_(op, target),
        definition_(definition),
        arguments_(op.schema().arguments().size()) {}

  void operator()(
      const c10::OperatorHandle& op,
      c10::DispatchKeySet /*keys*/,
      Stack* stack) {
    const auto& self = torch::jit::peek(*stack, 0, arguments_);
    if (definition_.serves(self.toTensor().scalar_type())) {
      definition_.function(stack);
    } else {
      call_(op, stack);
    }
  }

 private:
  HostCall call_;
  const Definition& definition_;
  size_t arguments_;
};

// The integers of the same size, for the types that the CPU does not move.
std::optional<ScalarType> integers_for(ScalarType type) {
  return c10::isFloat8Type(type) ? std::optional(c10::kByte) : std::nullopt;
}

class Moving final : public c10::OperatorKernel {
 public:
  Moving(const c10::OperatorHandle& op, c10::DispatchKey target)
      : call_(op, target) {
    const auto& schema = op.schema();
    for (size_t i = 0; i < schema.arguments().size(); ++i) {
      if (schema.arguments()[i].name() == "value") {
        value_ = i;
      }
      // put_ adds them up.
      if (schema.arguments()[i].name() == "accumulate") {
        accumulate_ = i;
      }
    }
    in_place_ = aliasing::is_written(schema, schema.arguments()[0]);
    arguments_ = schema.arguments().size();
  }

  void operator()(
      const c10::OperatorHandle& op,
      c10::DispatchKeySet /*keys*/,
      Stack* stack) {
    const auto at = [&](size_t i) -> IValue& {
      return torch::jit::peek(*stack, i, arguments_);
    };
    const auto self = at(0).toTensor();
    const auto integers = integers_for(self.scalar_type());
    if (!integers || (accumulate_ && at(*accumulate_).toBool())) {
      call_(op, stack);
      return;
    }
    if (value_) {
      const auto value = at(*value_).toScalar();
      const auto encoded = at::full(
          c10::IntArrayRef(), value, c10::TensorOptions(self.scalar_type()));
      at(*value_) = encoded.view(*integers).item();
    }
    for (size_t i = 0; i < arguments_; ++i) {
      at(i) = aliasing::map_tensors(at(i), [&](const Tensor& tensor) {
        return tensor.defined() && tensor.scalar_type() == self.scalar_type()
            ? tensor.view(*integers)
            : tensor;
      });
    }
    call_(op, stack);
    auto& result = stack->back();
    result = in_place_ ? self : result.toTensor().view(self.scalar_type());
  }

 private:
  HostCall call_;
  std::optional<size_t> value_;
  std::optional<size_t> accumulate_;
  size_t arguments_ = 0;
  bool in_place_ = false;
};

} // namespace

bool has_more_types(const c10::OperatorName& name) {
  return definition_of(name) != nullptr || moves(name);
}

c10::KernelFunction more_types_kernel(
    const c10::OperatorHandle& op,
    c10::DispatchKey target) {
  if (const auto* definition = definition_of(op.operator_name())) {
    return boxed(std::make_unique<Defined>(op, target, *definition));
  }
  return boxed(std::make_unique<Moving>(op, target));
}

} // namespace torch_cuda::operators
