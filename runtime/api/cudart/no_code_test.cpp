// Launches of kernels that have no code for the device: on two fake devices,
// which run none, and on two simulated ones (TORCH_CUDA_DEVICES, in
// BUILD.bazel). In a process of its own: devices are reset.
#include <cuda.h>

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "runtime/api/cudart/testing/kernels.h"
#include "runtime/api/cudart/testing/program.h"
#include "runtime/api/cudart/testing/support.h"
#include "runtime/code/fatbin/testing/fat_binary.h"

namespace accelerator::cudart::testing {
namespace {

constexpr int kFake = 0;
constexpr int kOtherFake = 1;
constexpr int kSim = 2;
constexpr int kOtherSim = 3;
constexpr int kDevices = 4;
constexpr auto kNoCode = cudaErrorNoKernelImageForDevice;

/// What a launch has to do, in any way of launching.
struct Launch {
  const void* kernel;
  void** arguments;
  cudaStream_t stream;
};

cudaError_t by_execution_configuration(const Launch& launch) {
  return cudaLaunchKernel(
      launch.kernel, 1, 4, launch.arguments, 0, launch.stream);
}

cudaError_t by_configuration(const Launch& launch) {
  cudaLaunchConfig_t configuration{};
  configuration.gridDim = 1;
  configuration.blockDim = 4;
  configuration.stream = launch.stream;
  return cudaLaunchKernelExC(&configuration, launch.kernel, launch.arguments);
}

cudaError_t cooperatively(const Launch& launch) {
  return cudaLaunchCooperativeKernel(
      launch.kernel, 1, 4, launch.arguments, 0, launch.stream);
}

// A handle that was made on a device which runs the code.
CUfunction handle_of(const void* kernel) {
  int device = -1;
  EXPECT_OK(cudaGetDevice(&device));
  EXPECT_OK(cudaSetDevice(kOtherSim));
  cudaFunction_t handle = nullptr;
  EXPECT_OK(cudaGetFuncBySymbol(&handle, kernel));
  EXPECT_OK(cudaSetDevice(device));
  return reinterpret_cast<CUfunction>(handle);
}

cudaError_t status_of(CUresult result) {
  return static_cast<cudaError_t>(result); // these have the same numbers
}

cudaError_t by_the_drivers_handle(const Launch& launch) {
  return status_of(cuLaunchKernel(
      handle_of(launch.kernel),
      1,
      1,
      1,
      4,
      1,
      1,
      0,
      launch.stream,
      launch.arguments,
      nullptr));
}

cudaError_t by_the_drivers_configuration(const Launch& launch) {
  CUlaunchConfig configuration{};
  configuration.gridDimX = configuration.gridDimY = configuration.gridDimZ = 1;
  configuration.blockDimX = 4;
  configuration.blockDimY = configuration.blockDimZ = 1;
  configuration.hStream = launch.stream;
  return status_of(cuLaunchKernelEx(
      &configuration, handle_of(launch.kernel), launch.arguments, nullptr));
}

cudaError_t cooperatively_by_the_driver(const Launch& launch) {
  return status_of(cuLaunchCooperativeKernel(
      handle_of(launch.kernel),
      1,
      1,
      1,
      4,
      1,
      1,
      0,
      launch.stream,
      launch.arguments));
}

cudaError_t by_the_runtimes_handle(const Launch& launch) {
  return cudaLaunchKernel(
      reinterpret_cast<const void*>(handle_of(launch.kernel)),
      1,
      4,
      launch.arguments,
      0,
      launch.stream);
}

cudaError_t in_a_capture(const Launch& launch) {
  EXPECT_OK(
      cudaStreamBeginCapture(launch.stream, cudaStreamCaptureModeThreadLocal));
  return by_execution_configuration(launch);
}

struct Way {
  const char* name;
  cudaError_t (*launch)(const Launch&);
};

constexpr Way kWays[] = {
    {"ByExecutionConfiguration", by_execution_configuration},
    {"ByConfiguration", by_configuration},
    {"Cooperatively", cooperatively},
    {"ByTheRuntimesHandle", by_the_runtimes_handle},
    {"ByTheDriversHandle", by_the_drivers_handle},
    {"ByTheDriversConfiguration", by_the_drivers_configuration},
    {"CooperativelyByTheDriver", cooperatively_by_the_driver},
    {"InACapture", in_a_capture},
};

/// What a program may go on with.
struct Objects {
  int* memory;
  cudaStream_t stream;
  cudaEvent_t event;
  cudaGraphExec_t exec;
};

using Call = std::pair<const char*, std::function<cudaError_t(Objects&)>>;

// Calls that cannot succeed on a device at fault.
std::vector<Call> calls() {
  static int host[4] = {};
  static void* memory = nullptr;
  const auto driver = [](auto call) {
    return [call](Objects& with) { return status_of(call(with)); };
  };
  const auto address = [](const Objects& with) {
    return reinterpret_cast<CUdeviceptr>(with.memory);
  };
  return {
      {"cudaDeviceSynchronize",
       [](Objects&) { return cudaDeviceSynchronize(); }},
      {"cudaStreamSynchronize",
       [](Objects& with) { return cudaStreamSynchronize(with.stream); }},
      {"cudaStreamSynchronize of the default stream",
       [](Objects&) { return cudaStreamSynchronize(nullptr); }},
      {"cudaStreamQuery",
       [](Objects& with) { return cudaStreamQuery(with.stream); }},
      {"cudaEventRecord",
       [](Objects& with) { return cudaEventRecord(with.event, with.stream); }},
      {"cudaEventQuery",
       [](Objects& with) { return cudaEventQuery(with.event); }},
      {"cudaEventSynchronize",
       [](Objects& with) { return cudaEventSynchronize(with.event); }},
      {"cudaStreamWaitEvent",
       [](Objects& with) {
         return cudaStreamWaitEvent(with.stream, with.event, 0);
       }},
      {"cudaMemcpy to the host",
       [](Objects& with) {
         return cudaMemcpy(host, with.memory, 16, cudaMemcpyDeviceToHost);
       }},
      {"cudaMemcpy to the device",
       [](Objects& with) {
         return cudaMemcpy(with.memory, host, 16, cudaMemcpyHostToDevice);
       }},
      {"cudaMemcpyAsync",
       [](Objects& with) {
         return cudaMemcpyAsync(
             host, with.memory, 16, cudaMemcpyDefault, with.stream);
       }},
      {"cudaMemset",
       [](Objects& with) { return cudaMemset(with.memory, 0, 16); }},
      {"cudaMalloc", [](Objects&) { return cudaMalloc(&memory, 16); }},
      {"cudaMallocAsync",
       [](Objects& with) { return cudaMallocAsync(&memory, 16, with.stream); }},
      {"cudaMallocManaged",
       [](Objects&) {
         return cudaMallocManaged(&memory, 16, cudaMemAttachGlobal);
       }},
      {"cudaMallocHost", [](Objects&) { return cudaMallocHost(&memory, 16); }},
      {"cudaFree", [](Objects& with) { return cudaFree(with.memory); }},
      {"cudaMemGetInfo",
       [](Objects&) {
         std::size_t free = 0, total = 0;
         return cudaMemGetInfo(&free, &total);
       }},
      {"cudaLaunchHostFunc",
       [](Objects& with) {
         static int count = 0;
         return cudaLaunchHostFunc(with.stream, count_up, &count);
       }},
      {"cudaStreamCreate",
       [](Objects&) {
         cudaStream_t stream = nullptr;
         return cudaStreamCreate(&stream);
       }},
      {"cudaEventCreate",
       [](Objects&) {
         cudaEvent_t event = nullptr;
         return cudaEventCreate(&event);
       }},
      {"cudaGraphLaunch",
       [](Objects& with) { return cudaGraphLaunch(with.exec, with.stream); }},
      {"cudaStreamEndCapture",
       [](Objects& with) {
         cudaGraph_t graph = nullptr;
         return cudaStreamEndCapture(with.stream, &graph);
       }},
      {"cudaPeekAtLastError", [](Objects&) { return cudaPeekAtLastError(); }},
      {"cudaGetLastError", [](Objects&) { return cudaGetLastError(); }},
      {"cuCtxSynchronize", driver([](Objects&) { return cuCtxSynchronize(); })},
      {"cuStreamSynchronize",
       driver([](Objects& with) { return cuStreamSynchronize(with.stream); })},
      {"cuEventQuery",
       driver([](Objects& with) { return cuEventQuery(with.event); })},
      {"cuMemAlloc", driver([](Objects&) {
         CUdeviceptr more = 0;
         return cuMemAlloc(&more, 16);
       })},
      {"cuMemcpyDtoH", driver([address](Objects& with) {
         return cuMemcpyDtoH(host, address(with), 16);
       })},
      {"cuMemcpyHtoD", driver([address](Objects& with) {
         return cuMemcpyHtoD(address(with), host, 16);
       })},
  };
}

class NoCode : public ::testing::Test {
 protected:
  void TearDown() override {
    for (int device = kDevices; device-- > 0;) {
      EXPECT_OK(cudaSetDevice(device));
      EXPECT_OK(cudaDeviceReset());
    }
  }

  Objects make_objects() {
    Objects objects{};
    EXPECT_OK(cudaMalloc(reinterpret_cast<void**>(&objects.memory), 16));
    EXPECT_OK(
        cudaStreamCreateWithFlags(&objects.stream, cudaStreamNonBlocking));
    EXPECT_OK(cudaEventCreate(&objects.event));
    EXPECT_OK(cudaEventRecord(objects.event, objects.stream));
    EXPECT_OK(cudaEventSynchronize(objects.event));
    cudaGraph_t graph = nullptr;
    EXPECT_OK(cudaGraphCreate(&graph, 0));
    EXPECT_OK(cudaGraphInstantiate(&objects.exec, graph, 0));
    return objects;
  }

  cudaError_t launch(const Way& way, const void* kernel, Objects& objects) {
    int amount = 1, count = 4;
    void* arguments[] = {&objects.memory, &amount, &count};
    return way.launch({kernel, arguments, objects.stream});
  }
};

class NoCodeOfAnyKind : public NoCode,
                        public ::testing::WithParamInterface<Way> {};

TEST_P(NoCodeOfAnyKind, PutsTheDeviceAtFaultUntilItIsReset) {
  for (const int device : {kFake, kOtherFake}) {
    ASSERT_OK(cudaSetDevice(device));
    Objects objects = make_objects();
    ASSERT_EQ(launch(GetParam(), symbol(add), objects), kNoCode);
    for (int round = 0; round < 2; ++round) {
      for (const auto& [name, call] : calls()) {
        EXPECT_EQ(call(objects), kNoCode) << name;
      }
    }
    ASSERT_OK(cudaDeviceReset());
    EXPECT_OK(cudaGetLastError());
    EXPECT_OK(cudaStreamSynchronize(objects.stream));
    cudaStreamCaptureStatus captured = cudaStreamCaptureStatusActive;
    EXPECT_OK(cudaStreamIsCapturing(objects.stream, &captured));
    EXPECT_EQ(captured, cudaStreamCaptureStatusNone);
    OnDevice values({1, 2, 3});
    EXPECT_EQ(values.get(), (std::vector<int>{1, 2, 3}));
  }
}

TEST_P(NoCodeOfAnyKind, IsNoFaultOfOtherDevices) {
  ASSERT_OK(cudaSetDevice(kFake));
  Objects objects = make_objects();
  ASSERT_EQ(launch(GetParam(), symbol(add), objects), kNoCode);
  for (const int device : {kOtherFake, kSim, kOtherSim}) {
    ASSERT_OK(cudaSetDevice(device));
    OnDevice values({1, 2, 3});
    EXPECT_EQ(values.get(), (std::vector<int>{1, 2, 3}));
    EXPECT_OK(cudaDeviceSynchronize());
  }
  launch_add(nullptr, 0, 0);
  EXPECT_OK(cudaDeviceSynchronize());
  ASSERT_OK(cudaSetDevice(kFake));
  EXPECT_EQ(cudaDeviceSynchronize(), kNoCode);
}

TEST_P(NoCodeOfAnyKind, IsAFaultOfADeviceThatRunsOtherCode) {
  // Of a kernel that has machine code alone, no handle can be had.
  const std::string name = GetParam().name;
  if (name.find("Driver") != name.npos || name.find("Handle") != name.npos) {
    return;
  }
  const std::string binary = fatbin::testing::fat_binary(2, "code");
  const Program program(binary);
  ASSERT_OK(cudaSetDevice(kSim));
  Objects objects = make_objects();
  ASSERT_EQ(launch(GetParam(), program.kernel(), objects), kNoCode);
  for (const auto& [called, call] : calls()) {
    EXPECT_EQ(call(objects), kNoCode) << called;
  }
  ASSERT_OK(cudaDeviceReset());
  OnDevice values(std::vector<int>(4, 1));
  launch_add(values.data(), 1, 4);
  EXPECT_EQ(values.get(), std::vector<int>(4, 2));
}

INSTANTIATE_TEST_SUITE_P(
    Ways,
    NoCodeOfAnyKind,
    ::testing::ValuesIn(kWays),
    [](const auto& way) { return std::string(way.param.name); });

// A kernel node has been checked on its device: what is given to it later is,
// too, and the node stays as it was.
TEST_F(NoCode, IsNotGivenToANode) {
  ASSERT_OK(cudaSetDevice(kSim));
  OnDevice values(4);
  int* data = values.data();
  int amount = 1, number = 4;
  void* arguments[] = {&data, &amount, &number};
  cudaKernelNodeParams parameters{};
  parameters.func = const_cast<void*>(symbol(add));
  parameters.gridDim = 1;
  parameters.blockDim = 4;
  parameters.kernelParams = arguments;
  cudaGraph_t graph = nullptr;
  cudaGraphNode_t node = nullptr;
  ASSERT_OK(cudaGraphCreate(&graph, 0));
  ASSERT_OK(cudaGraphAddKernelNode(&node, graph, nullptr, 0, &parameters));
  const std::string binary = fatbin::testing::fat_binary(2, "code");
  const Program program(binary);
  parameters.func = const_cast<void*>(program.kernel());
  EXPECT_EQ(cudaGraphKernelNodeSetParams(node, &parameters), kNoCode);
  cudaGraphExec_t exec = nullptr;
  ASSERT_OK(cudaGraphInstantiate(&exec, graph, 0));
  EXPECT_EQ(cudaGraphExecKernelNodeSetParams(exec, node, &parameters), kNoCode);
  EXPECT_EQ(cudaGetLastError(), kNoCode);
  ASSERT_OK(cudaSetDevice(kFake));
  EXPECT_EQ(cudaGraphKernelNodeSetParams(node, &parameters), kNoCode);
  EXPECT_EQ(cudaGetLastError(), kNoCode);
  ASSERT_OK(cudaSetDevice(kSim));
  ASSERT_OK(cudaGraphLaunch(exec, nullptr));
  EXPECT_EQ(values.get(), std::vector<int>(4, 1));
  EXPECT_OK(cudaGraphExecDestroy(exec));
  EXPECT_OK(cudaGraphDestroy(graph));
}

// Programs ask before they launch.
TEST_F(NoCode, IsNoFaultWhereAProgramOnlyAsks) {
  const std::string binary = fatbin::testing::fat_binary(2, "code");
  const Program program(binary);
  for (const auto& [device, kernel] :
       {std::pair{kFake, symbol(add)}, std::pair{kSim, program.kernel()}}) {
    ASSERT_OK(cudaSetDevice(device));
    make_objects();
    cudaFuncAttributes attributes{};
    cudaFunction_t handle = nullptr;
    int blocks = 0;
    std::size_t bytes = 0;
    CUmodule module = nullptr;
    EXPECT_EQ(cudaFuncGetAttributes(&attributes, kernel), kNoCode);
    EXPECT_EQ(
        cudaFuncSetAttribute(
            kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, 1024),
        kNoCode);
    EXPECT_EQ(cudaGetFuncBySymbol(&handle, kernel), kNoCode);
    EXPECT_EQ(cudaFuncGetParamInfo(kernel, 0, &bytes, &bytes), kNoCode);
    EXPECT_EQ(
        cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, 32, 0),
        kNoCode);
    EXPECT_EQ(
        cudaOccupancyAvailableDynamicSMemPerBlock(&bytes, kernel, 1, 32),
        kNoCode);
    EXPECT_EQ(
        cuModuleLoadData(&module, binary.data()), CUDA_ERROR_NO_BINARY_FOR_GPU);
    cudaGraph_t graph = nullptr;
    cudaGraphNode_t node = nullptr;
    cudaKernelNodeParams parameters{};
    parameters.func = const_cast<void*>(kernel);
    parameters.gridDim = parameters.blockDim = 1;
    ASSERT_OK(cudaGraphCreate(&graph, 0));
    EXPECT_EQ(
        cudaGraphAddKernelNode(&node, graph, nullptr, 0, &parameters), kNoCode);
    ASSERT_OK(cudaGraphDestroy(graph));
    EXPECT_EQ(cudaGetLastError(), kNoCode);
    EXPECT_OK(cudaGetLastError());
    EXPECT_OK(cudaDeviceSynchronize());
    OnDevice values({1, 2, 3});
    EXPECT_EQ(values.get(), (std::vector<int>{1, 2, 3}));
  }
}

TEST_F(NoCode, IsToldWithWhatIsFoundAndWhatIsNeeded) {
  const std::string machine_code = fatbin::testing::fat_binary(2, "code", 86);
  const Program program(machine_code);
  struct Case {
    int device;
    const void* kernel;
    std::vector<const char*> told;
  };
  const std::vector<Case> cases = {
      {kFake,
       symbol(add),
       {"add", "device 0", "Fake device", "PTX for compute_80", "needed"}},
      {kOtherFake,
       program.kernel(),
       {"store", "device 1", "machine code for sm_86", "needed"}},
      {kSim,
       program.kernel(),
       {"store",
        "device 2",
        "machine code for sm_86",
        "compile with nvcc -gencode arch=compute_80"}},
  };
  for (const Case& one : cases) {
    ASSERT_OK(cudaSetDevice(one.device));
    Objects objects = make_objects();
    ::testing::internal::CaptureStderr();
    EXPECT_EQ(launch(kWays[0], one.kernel, objects), kNoCode);
    EXPECT_EQ(launch(kWays[0], one.kernel, objects), kNoCode);
    EXPECT_EQ(cudaDeviceSynchronize(), kNoCode);
    const std::string said = ::testing::internal::GetCapturedStderr();
    for (const char* part : one.told) {
      EXPECT_NE(said.find(part), std::string::npos) << said;
    }
    EXPECT_EQ(said.find("launch of"), said.rfind("launch of")) << said;
  }
}

// Refused for another reason, with code.
TEST_F(NoCode, IsNotWhatAWrongConfigurationIs) {
  ASSERT_OK(cudaSetDevice(kSim));
  EXPECT_EQ(
      cudaLaunchKernel(symbol(add), 0, 1, nullptr, 0, nullptr),
      cudaErrorInvalidConfiguration);
  int unknown = 0;
  EXPECT_EQ(
      cudaLaunchKernel(&unknown, 1, 1, nullptr, 0, nullptr),
      cudaErrorInvalidDeviceFunction);
  cudaGetLastError();
  EXPECT_OK(cudaDeviceSynchronize());
}

} // namespace
} // namespace accelerator::cudart::testing
