// What tests of kernels that launch kernels share: PTX that calls the functions
// of the device runtime, as nvcc writes it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "cudasim/engine/testing/kernel_test.h"

namespace cudasim::engine::testing {

using Words = std::vector<std::uint32_t>;

inline constexpr const char* kDeclarations = R"(
.extern .func (.param .b64 r) __accelGetParameterBuffer(
  .param .b64 a, .param .b64 b, .param .b64 l);
.extern .func (.param .b64 r) __accelGetParameterBufferV2(
  .param .b64 f, .param .align 4 .b8 g[12], .param .align 4 .b8 b[12],
  .param .b32 s, .param .b64 l);
.extern .func (.param .b32 r) __cudaCDP2LaunchDevice(
  .param .b64 f, .param .b64 p, .param .align 4 .b8 g[12],
  .param .align 4 .b8 b[12], .param .b32 s, .param .b64 t);
.extern .func (.param .b32 r) __cudaCDP2LaunchDeviceV2(
  .param .b64 b, .param .b64 s);
.extern .func (.param .b32 r) __cudaCDP2GetLastError();
.extern .func (.param .b32 r) __cudaCDP2PeekAtLastError();
.extern .func (.param .b32 r) __accelSetLastError(.param .b32 e);
.extern .func (.param .b32 r) __cudaCDP2StreamCreateWithFlags(
  .param .b64 p, .param .b32 f);
.extern .func (.param .b32 r) __cudaCDP2StreamDestroy(.param .b64 s);
.extern .func (.param .b32 r) __cudaCDP2StreamWaitEvent(
  .param .b64 s, .param .b64 e, .param .b32 f);
.extern .func (.param .b32 r) __cudaCDP2EventCreateWithFlags(
  .param .b64 p, .param .b32 f);
.extern .func (.param .b32 r) __cudaCDP2EventRecord(
  .param .b64 e, .param .b64 s);
.extern .func (.param .b32 r) __cudaCDP2EventDestroy(.param .b64 e);
.extern .func (.param .b32 r) __cudaCDP2MemcpyAsync(
  .param .b64 t, .param .b64 f, .param .b64 c, .param .b32 k, .param .b64 s);
.extern .func (.param .b32 r) __cudaCDP2Memcpy2DAsync(
  .param .b64 t, .param .b64 tp, .param .b64 f, .param .b64 fp,
  .param .b64 w, .param .b64 h, .param .b32 k, .param .b64 s);
.extern .func (.param .b32 r) __cudaCDP2MemsetAsync(
  .param .b64 t, .param .b32 v, .param .b64 c, .param .b64 s);
.extern .func (.param .b32 r) __cudaCDP2Memset2DAsync(
  .param .b64 t, .param .b64 p, .param .b32 v, .param .b64 w, .param .b64 h,
  .param .b64 s);
.extern .func (.param .b32 r) __cudaCDP2Malloc(.param .b64 p, .param .b64 b);
.extern .func (.param .b32 r) __cudaCDP2Free(.param .b64 p);
.extern .func (.param .b32 r) __cudaCDP2FuncGetAttributes(
  .param .b64 p, .param .b64 f);
)";

/// A child that puts a digit behind those of a number: what ran, in its order.
/// It has a parameter of another size first.
inline constexpr const char* kAppend = R"(
.visible .entry append(.param .u8 digit, .param .u64 number) {
  .reg .b64 %p; .reg .b32 %r<3>;
  ld.param.u64 %p, [number]; ld.param.u8 %r0, [digit];
  ld.global.u32 %r1, [%p];
  mad.lo.u32 %r1, %r1, 10, %r0;
  st.global.u32 [%p], %r1;
  ret;
})";

/// What is passed to a function: its type, and a register or a number.
struct Passed {
  const char* type;
  std::string value;
};

inline std::string name_of(const std::string& what, std::size_t number) {
  return what + std::to_string(number);
}

/// A call whose result is put into the register %status, of 32 bits, or
/// %buffer, of 64. Three numbers in one value are a dim3.
inline std::string call(
    const std::string& function,
    const std::vector<Passed>& passed,
    const std::string& result = "%status") {
  const char* const type = result == "%status" ? "b32" : "b64";
  std::string text = "{ .param ." + std::string(type) + " back;\n";
  std::string names;
  for (std::size_t i = 0; i < passed.size(); ++i) {
    const std::string name = name_of("passed", i);
    names += (i == 0 ? "" : ", ") + name;
    if (std::string(passed[i].type) != "dim3") {
      text += ".param ." + std::string(passed[i].type) + " " + name +
          "; st.param." + passed[i].type + " [" + name + "], " +
          passed[i].value + ";\n";
      continue;
    }
    text += ".param .align 4 .b8 " + name + "[12];\n";
    std::string rest = passed[i].value;
    for (int k = 0; k < 3; ++k) {
      const std::size_t comma = std::min(rest.find(','), rest.size());
      text += "st.param.b32 [" + name + "+" + std::to_string(4 * k) + "], " +
          rest.substr(0, comma) + ";\n";
      rest.erase(0, comma + 1);
    }
  }
  return text + "call.uni (back), " + function + ", (" + names +
      ");\nld.param." + type + " " + result + ", [back]; }\n";
}

/// How a kernel is launched.
struct Child {
  std::string kernel;
  std::string grid = "1,1,1";
  std::string block = "1,1,1";
  std::string shared = "0";
  std::string stream = "0";
  std::string limit = "2048";
};

/// What nvcc makes of kernel<<<grid, block, shared, stream>>>(…).
/// @param parameters their offsets in the buffer with what is stored there.
inline std::string launch(
    const Child& child,
    const std::vector<std::pair<int, Passed>>& parameters) {
  static int count = 0;
  const std::string label = name_of("NOT_LAUNCHED", ++count);
  std::string text = "mov.u64 %kernel, " + child.kernel + ";\n" +
      call("__accelGetParameterBufferV2",
           {{"b64", "%kernel"},
            {"dim3", child.grid},
            {"dim3", child.block},
            {"b32", child.shared},
            {"b64", child.limit}},
           "%buffer") +
      "setp.eq.u64 %none, %buffer, 0;\n@%none bra " + label + ";\n";
  for (const auto& [offset, parameter] : parameters) {
    text += "st." + std::string(parameter.type) + " [%buffer+" +
        std::to_string(offset) + "], " + parameter.value + ";\n";
  }
  return text +
      call("__cudaCDP2LaunchDeviceV2",
           {{"b64", "%buffer"}, {"b64", child.stream}}) +
      label + ":\n";
}

/// Appends a digit to the number at a register's address.
inline std::string append(
    const std::string& digit,
    const std::string& stream = "0",
    const std::string& number = "%out") {
  Child child{"append"};
  child.stream = stream;
  return "mov.u32 %digit, " + digit + ";\n" +
      launch(child, {{0, {"u8", "%digit"}}, {8, {"u64", number}}});
}

inline std::string error(const std::string& to, bool peek = false) {
  return call(
             peek ? "__cudaCDP2PeekAtLastError" : "__cudaCDP2GetLastError",
             {}) +
      "st.global.u32 [" + to + "], %status;\n";
}

/// What the first thread of `kernel` does alone.
inline std::string by_first(const std::string& code) {
  return "setp.ne.u32 %p0, %t, 0;\n@%p0 bra END;\n" + code + "END:\n";
}

inline constexpr const char* kRegisters =
    ".reg .b64 %kernel, %buffer, %stream, %event, %place;\n"
    ".reg .b32 %status, %digit;\n.reg .pred %none;\n"
    ".local .align 8 .b8 place[64];\n"
    "mov.u64 %place, place;\ncvta.local.u64 %place, %place;\n";

/// A kernel with one parameter, the address in %out.
inline std::string entry(const std::string& name, const std::string& code) {
  return ".visible .entry " + name + "(.param .u64 out) {\n.reg .b64 %out;\n" +
      kRegisters + "ld.param.u64 %out, [out];\n" + code + "ret; }\n";
}

/// A test of kernels that launch kernels.
class LaunchingTest : public KernelTest {
 protected:
  /// @param before of the kernels that can be launched.
  /// @returns the words that the threads of `kernel` have, and its children
  /// write.
  Words words(
      const std::string& code,
      const Shape& shape = {{1, 1, 1}, {1, 1, 1}},
      const std::string& before = kAppend) {
    return words_of(kRegisters + code, shape, kDeclarations + before);
  }
};

} // namespace cudasim::engine::testing
