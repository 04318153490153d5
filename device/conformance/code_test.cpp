// Code: modules of PTX with their kernels and variables, launches, faults of
// kernels.
#include <atomic>
#include <chrono>
#include <cstring>
#include <set>
#include <thread>

#include "device/conformance/support.h"

namespace accelerator::conformance {
namespace {

constexpr char kPtx[] = R"(
.version 7.0
.target sm_80
.address_size 64
.visible .global .align 4 .u32 counter = 5;
.visible .const .align 4 .b32 scale[2] = {3, 4};

// to[i] = value + small + pair[8..11] * scale[0] + i
.visible .entry add(
  .param .u64 to,
  .param .u8 small,
  .param .u32 value,
  .param .align 8 .b8 pair[16])
{
  .reg .b64 %rd<5>;
  .reg .b32 %r<8>;
  ld.param.u64 %rd1, [to];
  cvta.to.global.u64 %rd2, %rd1;
  ld.param.u8 %r1, [small];
  ld.param.u32 %r2, [value];
  ld.param.u32 %r3, [pair+8];
  ld.const.u32 %r4, [scale];
  mad.lo.u32 %r5, %r3, %r4, %r2;
  add.u32 %r5, %r5, %r1;
  mov.u32 %r6, %tid.x;
  add.u32 %r5, %r5, %r6;
  mul.wide.u32 %rd3, %r6, 4;
  add.u64 %rd4, %rd2, %rd3;
  st.global.u32 [%rd4], %r5;
  ret;
}

.visible .entry count()
{
  .reg .b64 %rd<2>;
  mov.u64 %rd1, counter;
  red.global.add.u32 [%rd1], 1;
  ret;
}

.visible .entry stop()
{
  trap;
}
)";

// As the kernel `add` lays them out.
struct Parameters {
  uint64_t to;
  uint8_t small;
  uint32_t value;
  uint64_t pair[2];
};

#define NEEDS_PTX(device)                                                 \
  NEEDS(device, ACCEL_CAP_CODE);                                          \
  if ((library().devices()[device].code_formats & ACCEL_CODE_PTX) == 0 || \
      library().devices()[device].major < 8)                              \
  GTEST_SKIP() << "device " << (device) << " runs no PTX for 8.0"

/// kPtx on a device.
class Module {
 public:
  explicit Module(int32_t device) {
    accel_image image = {};
    image.struct_size = sizeof image;
    image.format = ACCEL_CODE_PTX;
    image.code = kPtx;
    image.bytes = sizeof kPtx - 1;
    image.source_name = "a test";
    image.check_all = 1;
    check(api(), api().module_load(device, &image, &module_));
  }
  ~Module() {
    unload();
  }
  Module(const Module&) = delete;
  Module& operator=(const Module&) = delete;

  operator accel_module() const {
    return module_;
  }
  accel_kernel kernel(const char* name) const {
    accel_kernel found = nullptr;
    EXPECT_OK(api().module_kernel(module_, name, &found));
    return found;
  }
  accel_variable variable(const char* name) const {
    accel_variable found = {};
    found.struct_size = sizeof found;
    EXPECT_OK(api().module_variable(module_, name, &found));
    return found;
  }
  void unload() {
    if (module_) {
      EXPECT_OK(api().module_unload(module_));
    }
    module_ = nullptr;
  }

 private:
  accel_module module_ = nullptr;
};

accel_launch launch_of(
    accel_kernel kernel,
    uint32_t threads,
    const void* parameters = nullptr) {
  accel_launch launch = {};
  launch.struct_size = sizeof launch;
  launch.kernel = kernel;
  launch.grid[0] = launch.grid[1] = launch.grid[2] = 1;
  launch.block[0] = threads;
  launch.block[1] = launch.block[2] = 1;
  launch.parameters = parameters;
  return launch;
}

Parameters parameters_for(const Memory& to, uint8_t small, uint32_t value) {
  Parameters parameters = {};
  parameters.to = reinterpret_cast<uint64_t>(to.get());
  parameters.small = small;
  parameters.value = value;
  parameters.pair[1] = 7;
  return parameters;
}

/// What `add` makes of these.
std::vector<unsigned char> sums(
    uint32_t threads,
    uint8_t small,
    uint32_t value) {
  std::vector<uint32_t> all;
  for (uint32_t i = 0; i < threads; ++i)
    all.push_back(value + small + 7 * 3 + i);
  std::vector<unsigned char> result(threads * sizeof(uint32_t));
  std::memcpy(result.data(), all.data(), result.size());
  return result;
}

using Code = Device;

TEST_F(Code, HasContents) {
  NEEDS_PTX(0);
  Module module(0);
  std::set<std::string> kernels, variables;
  const char* name = nullptr;
  for (uint32_t i = 0; i < 3; ++i) {
    ASSERT_OK(api().module_kernel_name_at(module, i, &name));
    kernels.insert(name);
  }
  EXPECT_EQ(kernels, (std::set<std::string>{"add", "count", "stop"}));
  EXPECT_STATUS(ACCEL_NOT_FOUND, api().module_kernel_name_at(module, 3, &name));
  accel_variable variable = {};
  variable.struct_size = sizeof variable;
  for (uint32_t i = 0; i < 2; ++i) {
    ASSERT_OK(api().module_variable_at(module, i, &variable));
    variables.insert(variable.name);
    EXPECT_EQ(module.variable(variable.name).address, variable.address);
  }
  EXPECT_EQ(variables, (std::set<std::string>{"counter", "scale"}));
  EXPECT_STATUS(
      ACCEL_NOT_FOUND, api().module_variable_at(module, 2, &variable));
  EXPECT_EQ(module.variable("counter").bytes, 4u);
  EXPECT_EQ(module.variable("counter").constant, 0);
  EXPECT_EQ(module.variable("scale").bytes, 8u);
  EXPECT_EQ(module.variable("scale").constant, 1);
  accel_kernel kernel = nullptr;
  EXPECT_STATUS(
      ACCEL_NOT_FOUND, api().module_kernel(module, "absent", &kernel));
  expect_text({"absent"});
  EXPECT_EQ(kernel, nullptr);
  EXPECT_STATUS(
      ACCEL_NOT_FOUND, api().module_variable(module, "absent", &variable));
  expect_text({"absent"});
}

TEST_F(Code, SaysHowKernelsAreCalled) {
  NEEDS_PTX(0);
  Module module(0);
  accel_kernel_properties found = {};
  found.struct_size = sizeof found;
  ASSERT_OK(api().kernel_properties(module.kernel("add"), &found));
  ASSERT_EQ(found.parameter_count, 4u);
  const accel_parameter wanted[] = {{0, 8}, {8, 1}, {12, 4}, {16, 16}};
  for (int i = 0; i < 4; ++i) {
    EXPECT_EQ(found.parameters[i].offset, wanted[i].offset) << i;
    EXPECT_EQ(found.parameters[i].size, wanted[i].size) << i;
  }
  EXPECT_EQ(found.parameter_bytes, sizeof(Parameters));
  EXPECT_GE(found.max_threads, 32u);
  EXPECT_EQ(found.static_shared_bytes, 0u);
  ASSERT_OK(api().kernel_properties(module.kernel("count"), &found));
  EXPECT_EQ(found.parameter_count, 0u);
  EXPECT_EQ(found.parameter_bytes, 0u);
}

// Parameters are read before the launch returns.
TEST_F(Code, RunsKernelsInStreams) {
  NEEDS_PTX(0);
  Module module(0);
  Memory first(api(), 0, 64 * 4), second(api(), 0, 64 * 4);
  Gate gate;
  gate.close(stream);
  Parameters parameters = parameters_for(first, 200, 1000);
  accel_launch launch = launch_of(module.kernel("add"), 64, &parameters);
  ASSERT_OK(api().launch(stream, &launch));
  parameters = parameters_for(second, 1, 5);
  ASSERT_OK(api().launch(stream, &launch));
  std::memset(&parameters, 0xff, sizeof parameters);
  EXPECT_STATUS(ACCEL_NOT_READY, api().stream_query(stream));
  gate.open();
  EXPECT_EQ(read(stream, first), sums(64, 200, 1000));
  EXPECT_EQ(read(stream, second), sums(64, 1, 5));
}

TEST_F(Code, RunsOnEachDevice) {
  for (int32_t device = 0; device < devices(); ++device) {
    NEEDS_PTX(device);
    Module module(device);
    Stream one(api(), device);
    Memory memory(api(), device, 32 * 4);
    const Parameters parameters = parameters_for(memory, 2, 3);
    const accel_launch launch =
        launch_of(module.kernel("add"), 32, &parameters);
    ASSERT_OK(api().launch(one, &launch));
    EXPECT_EQ(read(one, memory), sums(32, 2, 3));
  }
}

TEST_F(Code, HasVariablesThatAreCopied) {
  NEEDS_PTX(0);
  Module module(0), other(0);
  const accel_variable counter = module.variable("counter");
  uint32_t value = 0;
  const auto wait_for_value = [&] {
    const accel_copy copy = row(&value, ACCEL_HOST, counter.address, 0, 4);
    EXPECT_OK(api().copy(stream, &copy));
    EXPECT_OK(api().stream_synchronize(stream));
    return value;
  };
  EXPECT_EQ(wait_for_value(), 5u);
  const accel_launch launch = launch_of(module.kernel("count"), 32);
  ASSERT_OK(api().launch(stream, &launch));
  EXPECT_EQ(wait_for_value(), 37u);
  value = 100;
  const accel_copy copy = row(counter.address, 0, &value, ACCEL_HOST, 4);
  ASSERT_OK(api().copy(stream, &copy));
  ASSERT_OK(api().launch(stream, &launch));
  EXPECT_EQ(wait_for_value(), 132u);
  EXPECT_NE(other.variable("counter").address, counter.address);
}

// Launches that are in streams are still done, also when other modules come.
TEST_F(Code, IsUnloadedWhileItIsLaunched) {
  NEEDS_PTX(0);
  Memory memory(api(), 0, 64 * 4);
  Gate gate;
  {
    Module module(0);
    gate.close(stream);
    const Parameters parameters = parameters_for(memory, 9, 40);
    const accel_launch launch =
        launch_of(module.kernel("add"), 64, &parameters);
    ASSERT_OK(api().launch(stream, &launch));
  }
  // Loading may wait for the launch.
  std::thread others([] {
    for (int i = 0; i < 5; ++i)
      Module another(0);
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  gate.open();
  others.join();
  EXPECT_EQ(read(stream, memory), sums(64, 9, 40));
  EXPECT_OK(api().device_synchronize(0));
  EXPECT_OK(api().device_status(0));
}

TEST_F(Code, UsesMemoryThatIsShared) {
  NEEDS(0, ACCEL_CAP_PEER);
  NEEDS_DEVICES(2);
  NEEDS_PTX(0);
  int32_t possible = 0;
  ASSERT_OK(api().peer_possible(0, 1, &possible));
  if (!possible)
    GTEST_SKIP() << "device 0 cannot use memory of device 1";
  Module module(0);
  Stream other(api(), 1);
  const accel_kernel kernel = module.kernel("add");
  for (bool whole : {true, false}) {
    Memory memory(api(), 1, 64 * 4);
    const auto enable = [&](int32_t enabled) {
      return whole ? api().peer_enable(0, 1, enabled)
                   : api().memory_share(memory.get(), 0, enabled);
    };
    ASSERT_OK(enable(1));
    const Parameters parameters = parameters_for(memory, 1, 2);
    const accel_launch launch = launch_of(kernel, 64, &parameters);
    ASSERT_OK(api().launch(stream, &launch));
    ASSERT_OK(api().stream_synchronize(stream));
    EXPECT_EQ(read(other, memory), sums(64, 1, 2));
    ASSERT_OK(enable(0));
  }
}

TEST(CodeHeap, HasALimit) {
  IN_PROCESS_WITH("");
  NEEDS(0, ACCEL_CAP_CODE);
  uint64_t bytes = 0;
  ASSERT_OK(api().heap_limit(0, &bytes));
  EXPECT_GT(bytes, 0u);
  ASSERT_OK(api().set_heap_limit(0, 2 * bytes));
  uint64_t after = 0;
  ASSERT_OK(api().heap_limit(0, &after));
  EXPECT_GE(after, 2 * bytes);
}

void add_one(void* data) {
  ++*static_cast<std::atomic<int>*>(data);
}

// A kernel that stops itself is a fault of the device, which stays.
TEST(CodeFault, Stays) {
  IN_PROCESS_WITH("");
  NEEDS_PTX(0);
  std::atomic<int> called = 0;
  accel_status fault = ACCEL_OK;
  {
    Module module(0);
    Stream stream(api(), 0), other(api(), 0);
    Event event(api(), 0);
    Memory memory(api(), 0, 1000);
    const accel_launch launch = launch_of(module.kernel("stop"), 1);
    ASSERT_OK(api().event_record(event, stream));
    ASSERT_OK(api().launch(stream, &launch));
    // Whether the fault is known yet is open, callbacks are called either way.
    ASSERT_OK(api().stream_callback(stream, add_one, &called));
    fault = api().stream_synchronize(stream);
    ASSERT_TRUE(ACCEL_IS_FAULT(fault)) << name_of(fault);
    expect_text({"stream_synchronize", "device 0"});
    for (int i = 0; i < 2; ++i) {
      EXPECT_STATUS(fault, api().device_status(0));
      EXPECT_STATUS(fault, api().stream_query(other));
      EXPECT_STATUS(fault, api().stream_synchronize(other));
      EXPECT_STATUS(fault, api().device_synchronize(0));
    }
    void* address = nullptr;
    EXPECT_STATUS(fault, api().memory_allocate(0, 100, 0, &address));
    expect_text({"memory_allocate", "device 0"});
    ASSERT_OK(api().stream_callback(other, add_one, &called));
    Stream late(api(), 0);
    ASSERT_OK(api().stream_callback(late, add_one, &called));
    for (int i = 0; i < 30000 && called < 3; ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    EXPECT_EQ(called, 3);
    for (int32_t device = 1; device < devices(); ++device) {
      Stream well(api(), device);
      EXPECT_OK(api().device_status(device));
      if (api().event_record(event, stream) == ACCEL_OK) {
        EXPECT_OK(api().stream_wait_event(well, event));
      }
      ASSERT_OK(api().stream_callback(well, add_one, &called));
      EXPECT_OK(api().stream_synchronize(well));
    }
    // What frees still works: module, streams, event, memory.
  }
  const accel_status reset = api().device_reset(0);
  if (reset == ACCEL_DEVICE_LOST) {
    expect_text({"device_reset", "device 0"});
    return; // For good.
  }
  ASSERT_EQ(reset, ACCEL_OK);
  Stream stream(api(), 0);
  Memory memory(api(), 0, 1000);
  write(stream, memory, bytes(1000));
  EXPECT_EQ(read(stream, memory), bytes(1000));
}

} // namespace
} // namespace accelerator::conformance
