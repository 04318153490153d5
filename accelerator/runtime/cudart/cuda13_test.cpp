// What CUDA 13 has another form of than CUDA 12, and what only it has: compiled
// with its headers and linked with its functions.
#include <cstring>
#include <string>
#include <vector>

#include "accelerator/runtime/cudart/testing/kernels.h"
#include "accelerator/runtime/cudart/testing/support.h"

static_assert(CUDART_VERSION >= 13000, "the headers are another CUDA's");

extern "C" {
// What code for <<<…>>> calls (crt/device_functions.h).
cudaError_t __cudaGetKernel(cudaKernel_t*, const void*);
cudaError_t __cudaLaunchKernel(
    cudaKernel_t,
    dim3,
    dim3,
    void**,
    size_t,
    cudaStream_t);
}

namespace accelerator::cudart::testing {
namespace {

using Cuda13 = Runtime;

constexpr char kPtx[] = R"(
.version 7.0
.target sm_80
.address_size 64
.visible .global .align 4 .u32 factor = 3;
.visible .entry scale(.param .u64 to) {
  .reg .b64 %rd<3>;
  .reg .b32 %r<4>;
  ld.param.u64 %rd1, [to];
  ld.global.u32 %r1, [%rd1];
  ld.global.u32 %r2, [factor];
  mul.lo.s32 %r3, %r1, %r2;
  st.global.u32 [%rd1], %r3;
  ret;
}
)";

cudaGraphNode_t empty_node(cudaGraph_t graph) {
  cudaGraphNode_t node = nullptr;
  EXPECT_OK(cudaGraphAddEmptyNode(&node, graph, nullptr, 0));
  return node;
}

TEST_F(Cuda13, SaysItsVersions) {
  int version = 0;
  ASSERT_OK(cudaRuntimeGetVersion(&version));
  EXPECT_EQ(version, CUDART_VERSION);
  ASSERT_OK(cudaDriverGetVersion(&version));
  EXPECT_GE(version, CUDART_VERSION);
}

TEST_F(Cuda13, PropertiesStayInTheirStructure) {
  struct {
    cudaDeviceProp properties;
    unsigned char behind[64];
  } place;
  std::memset(&place, 0x5a, sizeof(place));
  ASSERT_OK(cudaGetDeviceProperties(&place.properties, 0));
  for (const unsigned char byte : place.behind) {
    ASSERT_EQ(byte, 0x5a);
  }
  int value = 0;
  ASSERT_OK(cudaDeviceGetAttribute(&value, cudaDevAttrWarpSize, 0));
  EXPECT_EQ(place.properties.warpSize, value);
  ASSERT_OK(cudaDeviceGetAttribute(
      &value, cudaDevAttrMaxSharedMemoryPerBlockOptin, 0));
  EXPECT_EQ(
      place.properties.sharedMemPerBlockOptin, static_cast<std::size_t>(value));
  // Which CUDA 13 tells as an attribute alone.
  EXPECT_OK(cudaDeviceGetAttribute(&value, cudaDevAttrClockRate, 0));
  EXPECT_OK(cudaDeviceGetAttribute(&value, cudaDevAttrComputeMode, 0));
}

TEST_F(Cuda13, PointersHaveAttributesAndZerosBehind) {
  OnDevice values(std::vector<int>(4, 1));
  cudaPointerAttributes attributes;
  std::memset(&attributes, 0x5a, sizeof(attributes));
  ASSERT_OK(cudaPointerGetAttributes(&attributes, values.data()));
  EXPECT_EQ(attributes.type, cudaMemoryTypeDevice);
  EXPECT_EQ(attributes.devicePointer, values.data());
  for (const long reserved : attributes.reserved) {
    EXPECT_EQ(reserved, 0);
  }
}

TEST_F(Cuda13, EdgesHaveData) {
  cudaGraph_t graph = nullptr;
  ASSERT_OK(cudaGraphCreate(&graph, 0));
  const cudaGraphNode_t first = empty_node(graph);
  const cudaGraphNode_t second = empty_node(graph);
  const cudaGraphEdgeData ordinary{};
  ASSERT_OK(cudaGraphAddDependencies(graph, &first, &second, &ordinary, 1));
  cudaGraphEdgeData data;
  std::memset(&data, 0x5a, sizeof(data));
  cudaGraphNode_t from = nullptr;
  cudaGraphNode_t to = nullptr;
  std::size_t count = 1;
  ASSERT_OK(cudaGraphGetEdges(graph, &from, &to, &data, &count));
  EXPECT_EQ(count, 1u);
  EXPECT_EQ(from, first);
  EXPECT_EQ(to, second);
  EXPECT_EQ(std::memcmp(&data, &ordinary, sizeof(data)), 0);
  cudaGraphNode_t neighbour = nullptr;
  count = 1;
  ASSERT_OK(cudaGraphNodeGetDependencies(second, &neighbour, &data, &count));
  EXPECT_EQ(neighbour, first);
  count = 1;
  ASSERT_OK(cudaGraphNodeGetDependentNodes(first, &neighbour, nullptr, &count));
  EXPECT_EQ(neighbour, second);
  ASSERT_OK(cudaGraphRemoveDependencies(graph, &first, &second, nullptr, 1));
  ASSERT_OK(cudaGraphGetEdges(graph, nullptr, nullptr, nullptr, &count));
  EXPECT_EQ(count, 0u);
  // Kernels that overlap are no part of what runs here.
  cudaGraphEdgeData programmatic{};
  programmatic.type = cudaGraphDependencyTypeProgrammatic;
  EXPECT_EQ(
      cudaGraphAddDependencies(graph, &first, &second, &programmatic, 1),
      cudaErrorNotSupported);
  ASSERT_OK(cudaGraphGetEdges(graph, nullptr, nullptr, nullptr, &count));
  EXPECT_EQ(count, 0u);
  EXPECT_OK(cudaGraphDestroy(graph));
}

TEST_F(Cuda13, CaptureIsToldWithEdges) {
  cudaStream_t stream = nullptr;
  ASSERT_OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  OnDevice values(std::vector<int>(4, 1));
  ASSERT_OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
  ASSERT_OK(cudaMemsetAsync(values.data(), 0, values.bytes(), stream));
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  unsigned long long id = 0;
  cudaGraph_t graph = nullptr;
  const cudaGraphNode_t* nodes = nullptr;
  std::size_t count = 0;
  ASSERT_OK(cudaStreamGetCaptureInfo(
      stream, &status, &id, &graph, &nodes, nullptr, &count));
  EXPECT_EQ(status, cudaStreamCaptureStatusActive);
  ASSERT_EQ(count, 1u);
  cudaGraphNode_t node = nodes[0];
  cudaGraphNode_t extra = empty_node(graph);
  EXPECT_OK(cudaStreamUpdateCaptureDependencies(
      stream, &extra, nullptr, 1, cudaStreamAddCaptureDependencies));
  ASSERT_OK(cudaStreamGetCaptureInfo(
      stream, &status, &id, &graph, &nodes, nullptr, &count));
  EXPECT_EQ(count, 2u);
  EXPECT_OK(cudaStreamUpdateCaptureDependencies(
      stream, &node, nullptr, 1, cudaStreamSetCaptureDependencies));
  EXPECT_OK(cudaStreamEndCapture(stream, &graph));
  EXPECT_OK(cudaGraphDestroy(graph));
  EXPECT_OK(cudaStreamDestroy(stream));
}

TEST_F(Cuda13, MemoryIsAdvisedByLocation) {
  void* memory = nullptr;
  ASSERT_OK(cudaMallocManaged(&memory, 64));
  const cudaMemLocation device{cudaMemLocationTypeDevice, {0}};
  EXPECT_OK(
      cudaMemAdvise(memory, 64, cudaMemAdviseSetPreferredLocation, device));
  EXPECT_OK(cudaMemPrefetchAsync(memory, 64, device, 0, nullptr));
  const cudaMemLocation none{cudaMemLocationTypeDevice, {99}};
  EXPECT_EQ(
      cudaMemPrefetchAsync(memory, 64, none, 0, nullptr),
      cudaErrorInvalidDevice);
  EXPECT_OK(cudaFree(memory));
}

TEST_F(Cuda13, LibrariesHaveKernelsAndVariables) {
  cudaLibrary_t library = nullptr;
  ASSERT_OK(cudaLibraryLoadData(
      &library, kPtx, nullptr, nullptr, 0, nullptr, nullptr, 0));
  unsigned count = 0;
  ASSERT_OK(cudaLibraryGetKernelCount(&count, library));
  EXPECT_EQ(count, 1u);
  cudaKernel_t kernel = nullptr;
  ASSERT_OK(cudaLibraryGetKernel(&kernel, library, "scale"));
  EXPECT_EQ(
      cudaLibraryGetKernel(&kernel, library, "other"), cudaErrorSymbolNotFound);
  void* factor = nullptr;
  std::size_t bytes = 0;
  ASSERT_OK(cudaLibraryGetGlobal(&factor, &bytes, library, "factor"));
  EXPECT_EQ(bytes, sizeof(int));
  const int five = 5;
  ASSERT_OK(cudaMemcpy(factor, &five, sizeof(five), cudaMemcpyHostToDevice));
  EXPECT_OK(cudaKernelSetAttributeForDevice(
      kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, 1024, 0));
  OnDevice values(std::vector<int>{7});
  int* data = values.data();
  void* arguments[] = {&data};
  ASSERT_OK(cudaLaunchKernel(kernel, dim3(1), dim3(1), arguments, 0, nullptr));
  EXPECT_EQ(values.get(), std::vector<int>{35});
  EXPECT_OK(cudaLibraryUnload(library));
  EXPECT_NE(
      cudaLaunchKernel(kernel, dim3(1), dim3(1), arguments, 0, nullptr),
      cudaSuccess);
  EXPECT_NE(cudaLibraryUnload(library), cudaSuccess);
}

TEST_F(Cuda13, AKernelIsAskedForAndLaunched) {
  cudaKernel_t kernel = nullptr;
  ASSERT_OK(__cudaGetKernel(&kernel, symbol(add)));
  OnDevice values(std::vector<int>(4, 1));
  int* data = values.data();
  int amount = 5;
  int count = 4;
  void* arguments[] = {&data, &amount, &count};
  ASSERT_OK(
      __cudaLaunchKernel(kernel, dim3(1), dim3(4), arguments, 0, nullptr));
  EXPECT_EQ(values.get(), std::vector<int>(4, 6));
  EXPECT_EQ(__cudaGetKernel(&kernel, &count), cudaErrorInvalidDeviceFunction);
  EXPECT_EQ(
      __cudaLaunchKernel(nullptr, dim3(1), dim3(4), arguments, 0, nullptr),
      cudaErrorInvalidDeviceFunction);
}

} // namespace
} // namespace accelerator::cudart::testing
