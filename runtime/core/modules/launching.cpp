#include "runtime/core/modules/launching.h"

#include <cstdint>
#include <map>
#include <mutex>
#include <set>

#include "runtime/core/machine/device.h"
#include "runtime/core/machine/machine.h"
#include "runtime/core/modules/module.h"
#include "runtime/core/status/status_texts.h"

namespace accelerator::runtime {
namespace {

constexpr const char* kLimits = "__accel_limits";
constexpr int kLimitCount = 8;
constexpr int kMostAttributes = 256;
constexpr std::int64_t kUnknown = INT32_MIN; // of an attribute
constexpr int kMostStatus = 1000;

constexpr const char* kHead = R"(.version 6.0
.target sm_50
.address_size 64

.extern .func (.param .b64 result) __accelGetParameterBuffer(
  .param .b64 alignment, .param .b64 bytes, .param .b64 outstanding);
.extern .func (.param .b64 result) __accelGetParameterBufferV2(
  .param .b64 kernel, .param .align 4 .b8 grid[12],
  .param .align 4 .b8 block[12], .param .b32 shared, .param .b64 outstanding);
.extern .func (.param .b32 result) __accelSetLastError(.param .b32 status);
)";

constexpr const char* kFunctions = R"(
.weak .func (.param .b64 result) __cudaCDP2GetParameterBuffer(
  .param .b64 alignment, .param .b64 bytes)
{
  .reg .b64 %rd<4>;
  ld.param.u64 %rd0, [alignment];
  ld.param.u64 %rd1, [bytes];
  ld.global.u64 %rd2, [__accel_limits+32];
  {
  .param .b64 a; .param .b64 b; .param .b64 o; .param .b64 r;
  st.param.b64 [a], %rd0;
  st.param.b64 [b], %rd1;
  st.param.b64 [o], %rd2;
  call.uni (r), __accelGetParameterBuffer, (a, b, o);
  ld.param.b64 %rd3, [r];
  }
  st.param.b64 [result], %rd3;
  ret;
}

.weak .func (.param .b64 result) __cudaCDP2GetParameterBufferV2(
  .param .b64 kernel, .param .align 4 .b8 grid[12],
  .param .align 4 .b8 block[12], .param .b32 shared)
{
  .reg .b32 %r<7>;
  .reg .b64 %rd<3>;
  ld.param.u64 %rd0, [kernel];
  ld.param.u32 %r0, [grid];
  ld.param.u32 %r1, [grid+4];
  ld.param.u32 %r2, [grid+8];
  ld.param.u32 %r3, [block];
  ld.param.u32 %r4, [block+4];
  ld.param.u32 %r5, [block+8];
  ld.param.u32 %r6, [shared];
  ld.global.u64 %rd1, [__accel_limits+32];
  {
  .param .b64 k; .param .align 4 .b8 g[12]; .param .align 4 .b8 b[12];
  .param .b32 s; .param .b64 o; .param .b64 r;
  st.param.b64 [k], %rd0;
  st.param.b32 [g], %r0;
  st.param.b32 [g+4], %r1;
  st.param.b32 [g+8], %r2;
  st.param.b32 [b], %r3;
  st.param.b32 [b+4], %r4;
  st.param.b32 [b+8], %r5;
  st.param.b32 [s], %r6;
  st.param.b64 [o], %rd1;
  call.uni (r), __accelGetParameterBufferV2, (k, g, b, s, o);
  ld.param.b64 %rd2, [r];
  }
  st.param.b64 [result], %rd2;
  ret;
}

.func (.param .b32 result) __accel_fail(.param .b32 status)
{
  .reg .b32 %r<1>;
  ld.param.u32 %r0, [status];
  {
  .param .b32 s; .param .b32 r;
  st.param.b32 [s], %r0;
  call.uni (r), __accelSetLastError, (s);
  ld.param.b32 %r0, [r];
  }
  st.param.b32 [result], %r0;
  ret;
}
)";

// A function with the status that it answers: that of %status, which `body`
// sets; it is cudaSuccess before.
std::string function(
    const std::string& name,
    const std::string& parameters,
    const std::string& body) {
  return ".weak .func (.param .b32 result) __cudaCDP2" + name + "(" +
      parameters +
      ")\n{\n  .reg .pred %p<4>;\n  .reg .b32 %status, %r<8>;\n"
      "  .reg .b64 %rd<4>;\n  mov.u32 %status, 0;\n" +
      body +
      "  setp.eq.u32 %p0, %status, 0;\n  @%p0 bra DONE;\n"
      "  {\n  .param .b32 s; .param .b32 r;\n  st.param.b32 [s], %status;\n"
      "  call.uni (r), __accel_fail, (s);\n  ld.param.b32 %status, [r];\n  }\n"
      "DONE:\n  st.param.b32 [result], %status;\n  ret;\n}\n";
}

// Stores %r0 where %rd0 says, which may be null.
std::string stored() {
  return "  setp.eq.u64 %p1, %rd0, 0;\n"
         "  @%p1 mov.u32 %status, 1;\n" // cudaErrorInvalidValue
         "  @!%p1 st.u32 [%rd0], %r0;\n";
}

std::string figures(const Device& device) {
  const std::string count = std::to_string(machine().device_count());
  const std::string own = std::to_string(device.ordinal());
  std::string values;
  for (int i = 0; i < kMostAttributes; ++i) {
    int value = 0;
    const bool known = attribute_value(device.properties(), i, &value);
    values += (i == 0 ? "" : ", ") + std::to_string(known ? value : kUnknown);
  }
  std::string limits;
  for (int i = 0; i < kLimitCount; ++i) {
    limits += (i == 0 ? "" : ", ") +
        std::to_string(device.limit(static_cast<cudaLimit>(i)));
  }
  return ".visible .global .align 8 .u64 " + std::string(kLimits) + "[" +
      std::to_string(kLimitCount) + "] = {" + limits +
      "};\n.global .align 4 .s32 __accel_attributes[" +
      std::to_string(kMostAttributes) + "] = {" + values + "};\n" +
      function(
             "GetDeviceCount",
             ".param .b64 count",
             "  ld.param.u64 %rd0, [count];\n  mov.u32 %r0, " + count + ";\n" +
                 stored()) +
      function(
             "GetDevice",
             ".param .b64 device",
             "  ld.param.u64 %rd0, [device];\n  mov.u32 %r0, " + own + ";\n" +
                 stored()) +
      function(
             "DeviceGetCacheConfig",
             ".param .b64 config",
             "  ld.param.u64 %rd0, [config];\n  mov.u32 %r0, 0;\n" + stored()) +
      function(
             "DeviceGetLimit",
             ".param .b64 value, .param .b32 limit",
             "  ld.param.u64 %rd0, [value];\n  ld.param.u32 %r0, [limit];\n"
             "  setp.eq.u64 %p1, %rd0, 0;\n  @%p1 mov.u32 %status, 1;\n"
             "  @%p1 bra END;\n  setp.ge.u32 %p1, %r0, " +
                 std::to_string(kLimitCount) + ";\n  @%p1 mov.u32 %status, " +
                 std::to_string(cudaErrorUnsupportedLimit) +
                 ";\n  @%p1 bra END;\n  mov.u64 %rd1, " + kLimits +
                 ";\n  mad.wide.u32 %rd1, %r0, 8, %rd1;\n"
                 "  ld.global.u64 %rd2, [%rd1];\n  st.u64 [%rd0], %rd2;\n"
                 "END:\n") +
      function(
             "DeviceGetAttribute",
             ".param .b64 value, .param .b32 attribute, .param .b32 device",
             "  ld.param.u64 %rd0, [value];\n"
             "  ld.param.u32 %r1, [attribute];\n"
             "  ld.param.u32 %r2, [device];\n"
             "  setp.ge.u32 %p1, %r2, " +
                 count + ";\n  @%p1 mov.u32 %status, " +
                 std::to_string(cudaErrorInvalidDevice) +
                 ";\n  @%p1 bra END;\n  setp.ne.u32 %p1, %r2, " + own +
                 ";\n  @%p1 mov.u32 %status, " +
                 std::to_string(cudaErrorNotSupported) +
                 ";\n  @%p1 bra END;\n  mov.u32 %status, 1;\n"
                 "  setp.ge.u32 %p1, %r1, " +
                 std::to_string(kMostAttributes) +
                 ";\n  @%p1 bra END;\n  mov.u64 %rd1, __accel_attributes;\n"
                 "  mad.wide.u32 %rd1, %r1, 4, %rd1;\n"
                 "  ld.global.s32 %r0, [%rd1];\n"
                 "  setp.eq.s32 %p1, %r0, " +
                 std::to_string(kUnknown) +
                 ";\n  @%p1 bra END;\n  mov.u32 %status, 0;\n" + stored() +
                 "END:\n");
}

// A variable with the characters of a text, and a NUL.
std::string text_variable(const std::string& name, const std::string& text) {
  std::string bytes;
  for (const char c : text) {
    bytes += std::to_string(static_cast<unsigned char>(c)) + ", ";
  }
  return ".global .align 1 .b8 " + name + "[" +
      std::to_string(text.size() + 1) + "] = {" + bytes + "0};\n";
}

// A function that answers a text of a status.
std::string text_function(
    const std::string& name,
    const char* StatusText::* member) {
  const std::string table = "__accel_" + name;
  std::string variables =
      text_variable(table + "_unknown", "unrecognized error code");
  std::string addresses;
  for (int code = 0; code < kMostStatus; ++code) {
    const StatusText* const text = status_text(code);
    const bool known = text != nullptr && text->*member != nullptr;
    const std::string variable =
        table + (known ? "_" + std::to_string(code) : "_unknown");
    if (known) {
      variables += text_variable(variable, text->*member);
    }
    addresses += (code == 0 ? "generic(" : ", generic(") + variable + ")";
  }
  return variables + ".global .align 8 .u64 " + table + "[" +
      std::to_string(kMostStatus) + "] = {" + addresses +
      "};\n.weak .func (.param .b64 result) __cudaCDP2" + name +
      "(.param .b32 status)\n{\n  .reg .pred %p0;\n  .reg .b32 %r0;\n"
      "  .reg .b64 %rd<2>;\n  ld.param.u32 %r0, [status];\n"
      "  mov.u64 %rd0, " +
      table +
      "_unknown;\n  cvta.global.u64 %rd0, %rd0;\n"
      "  setp.ge.u32 %p0, %r0, " +
      std::to_string(kMostStatus) + ";\n  @%p0 bra DONE;\n  mov.u64 %rd1, " +
      table +
      ";\n  mad.wide.u32 %rd1, %r0, 8, %rd1;\n"
      "  ld.global.u64 %rd0, [%rd1];\n"
      "DONE:\n  st.param.b64 [result], %rd0;\n  ret;\n}\n";
}

// Where modules have their limits, by device.
struct Tables {
  std::mutex mutex;
  std::map<int, std::set<std::uint64_t>> of;
};

Tables& tables() {
  static auto* all = new Tables; // modules unload late
  return *all;
}

} // namespace

bool mentions_launching(std::string_view ptx) {
  return ptx.find("__cudaCDP2") != std::string_view::npos;
}

std::string launching_functions(Device& device, std::string_view ptx) {
  std::string text = kHead + figures(device) + kFunctions;
  if (ptx.find("__cudaCDP2GetErrorString") != std::string_view::npos) {
    text += text_function("GetErrorString", &StatusText::message);
  }
  if (ptx.find("__cudaCDP2GetErrorName") != std::string_view::npos) {
    text += text_function("GetErrorName", &StatusText::runtime_name);
  }
  return text;
}

void note_limits(const Device& device, const LoadedModule& module) {
  const auto found = module.variables.find(kLimits);
  if (found != module.variables.end()) {
    const std::lock_guard lock(tables().mutex);
    tables().of[device.ordinal()].insert(found->second.address);
  }
}

void forget_limits(int device, const LoadedModule& module) {
  const auto found = module.variables.find(kLimits);
  if (found != module.variables.end()) {
    const std::lock_guard lock(tables().mutex);
    tables().of[device].erase(found->second.address);
  }
}

std::vector<void*> limit_addresses(int device, cudaLimit limit) {
  std::vector<void*> addresses;
  const std::lock_guard lock(tables().mutex);
  for (const std::uint64_t table : tables().of[device]) {
    addresses.push_back(
        reinterpret_cast<void*>(table + 8 * static_cast<std::uint64_t>(limit)));
  }
  return addresses;
}

} // namespace accelerator::runtime
