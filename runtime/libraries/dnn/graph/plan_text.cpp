#include "runtime/libraries/dnn/graph/plan_text.h"

#include <cstring>

namespace accelerator::dnn {
namespace {

// JSON, in which the descriptors are one string: numbers of eight bytes and
// what they count, in hexadecimal.
constexpr char kBegin[] = R"({"format":"torch_cuda cuDNN plan 1","data":")";
constexpr char kEnd[] = R"("})";
constexpr char kDigits[] = "0123456789abcdef";

/// What depends on the process is left out.
bool is_kept(const Value& value) {
  return value.type != CUDNN_TYPE_HANDLE && value.type != CUDNN_TYPE_VOID_PTR;
}

void write(std::string& text, const void* bytes, std::size_t count) {
  const auto* from = static_cast<const unsigned char*>(bytes);
  for (std::size_t i = 0; i < count; ++i) {
    text += kDigits[from[i] / 16];
    text += kDigits[from[i] % 16];
  }
}

void write(std::string& text, std::int64_t number) {
  write(text, &number, sizeof(number));
}

void write(std::string& text, const State& state) {
  std::int64_t kept = 0;
  for (const auto& [name, value] : state.values) {
    kept += is_kept(value);
  }
  write(text, state.kind);
  write(text, kept);
  for (const auto& [name, value] : state.values) {
    if (!is_kept(value)) {
      continue;
    }
    write(text, name);
    write(text, value.type);
    write(text, value.count);
    write(text, static_cast<std::int64_t>(value.bytes.size()));
    write(text, value.bytes.data(), value.bytes.size());
    write(text, static_cast<std::int64_t>(value.children.size()));
    for (const auto& child : value.children) {
      write(text, *child);
    }
  }
}

/// Reads what write() wrote.
class Reader {
 public:
  explicit Reader(const std::string& text) : text_(text) {}

  std::shared_ptr<const State> state() {
    auto state = std::make_shared<State>();
    state->kind = static_cast<cudnnBackendDescriptorType_t>(number());
    const std::int64_t attributes = number();
    for (std::int64_t i = 0; i < attributes; ++i) {
      const auto name = static_cast<cudnnBackendAttributeName_t>(number());
      Value& value = state->values[name];
      value.type = static_cast<cudnnBackendAttributeType_t>(number());
      value.count = number();
      value.bytes.resize(size());
      read(value.bytes.data(), value.bytes.size());
      const std::size_t children = size();
      for (std::size_t j = 0; j < children; ++j) {
        value.children.push_back(this->state());
      }
    }
    finalize(*state);
    return state;
  }

 private:
  [[noreturn]] static void fail() {
    throw Refusal(
        CUDNN_STATUS_SERIALIZATION_VERSION_MISMATCH, "the plan is damaged");
  }
  void read(void* bytes, std::size_t count) {
    if (count > (text_.size() - at_) / 2) {
      fail();
    }
    auto* to = static_cast<unsigned char*>(bytes);
    for (std::size_t i = 0; i < count; ++i) {
      to[i] = static_cast<unsigned char>(digit() * 16);
      to[i] = static_cast<unsigned char>(to[i] + digit());
    }
  }
  int digit() {
    const char* found = std::strchr(kDigits, text_[at_++]);
    if (found == nullptr || *found == '\0') {
      fail();
    }
    return static_cast<int>(found - kDigits);
  }
  std::int64_t number() {
    std::int64_t value = 0;
    read(&value, sizeof(value));
    return value;
  }
  /// Of what follows.
  std::size_t size() {
    const std::int64_t value = number();
    if (value < 0 || static_cast<std::size_t>(value) > text_.size() - at_) {
      fail();
    }
    return static_cast<std::size_t>(value);
  }

  const std::string& text_;
  std::size_t at_ = 0;
};

} // namespace

std::string write_plan(const State& configuration) {
  std::string data;
  write(data, configuration);
  return kBegin + data + kEnd;
}

std::shared_ptr<const State> read_plan(const std::string& text) {
  const std::size_t begin = std::strlen(kBegin);
  const std::size_t end = text.rfind(kEnd);
  require(
      text.compare(0, begin, kBegin) == 0 && end != std::string::npos &&
          end >= begin,
      CUDNN_STATUS_SERIALIZATION_VERSION_MISMATCH,
      "the plan was written by another library");
  const std::string data = text.substr(begin, end - begin);
  std::shared_ptr<const State> configuration = Reader(data).state();
  require(
      configuration->kind == CUDNN_BACKEND_ENGINECFG_DESCRIPTOR,
      CUDNN_STATUS_SERIALIZATION_VERSION_MISMATCH,
      "the plan was written by another library");
  return configuration;
}

std::string write_device() {
  return R"({"format":"torch_cuda cuDNN device 1"})";
}

} // namespace accelerator::dnn
