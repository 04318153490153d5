// Nodes of graphs that the program adds one by one: what they do, and what is
// told and changed of them.
#include <numeric>
#include <utility>

#include "runtime/api/driver/testing/graph_nodes.h"

// The forms of CUDA 11, whose names the header gives to those of CUDA 12.
#undef cuGraphAddKernelNode
#undef cuGraphExecKernelNodeSetParams
#undef cuGraphKernelNodeGetParams
#undef cuGraphKernelNodeSetParams
extern "C" {
CUresult cuGraphAddKernelNode(
    CUgraphNode*,
    CUgraph,
    const CUgraphNode*,
    size_t,
    const CUDA_KERNEL_NODE_PARAMS_v1*);
CUresult cuGraphKernelNodeGetParams(CUgraphNode, CUDA_KERNEL_NODE_PARAMS_v1*);
CUresult cuGraphKernelNodeSetParams(
    CUgraphNode,
    const CUDA_KERNEL_NODE_PARAMS_v1*);
CUresult cuGraphExecKernelNodeSetParams(
    CUgraphExec,
    CUgraphNode,
    const CUDA_KERNEL_NODE_PARAMS_v1*);
}

namespace accelerator::driver::testing {
namespace {

TEST_F(GraphNodes, RunOneBehindTheOther) {
  const Array<int> array(4), other(4);
  int called = 0;
  CUgraphNode fill = nullptr, store = nullptr, copy = nullptr, host = nullptr;
  const auto three = fill_of(array.address(), 3, 4);
  ASSERT_EQ(
      cuGraphAddMemsetNode(&fill, graph, nullptr, 0, &three, context),
      CUDA_SUCCESS);
  CUdeviceptr place = array.address(1);
  unsigned value = 7;
  void* arguments[] = {&place, &value};
  CUDA_KERNEL_NODE_PARAMS launch_of{};
  launch_of.func = kernel("store");
  launch_of.gridDimX = launch_of.gridDimY = launch_of.gridDimZ = 1;
  launch_of.blockDimX = launch_of.blockDimY = launch_of.blockDimZ = 1;
  launch_of.kernelParams = arguments;
  ASSERT_EQ(
      cuGraphAddKernelNode_v2(&store, graph, &fill, 1, &launch_of),
      CUDA_SUCCESS);
  const auto whole = copy_of(other.address(), array.address(), 16);
  ASSERT_EQ(
      cuGraphAddMemcpyNode(&copy, graph, &store, 1, &whole, context),
      CUDA_SUCCESS);
  const CUDA_HOST_NODE_PARAMS counting{count_up, &called};
  ASSERT_EQ(
      cuGraphAddHostNode(&host, graph, &copy, 1, &counting), CUDA_SUCCESS);
  value = 8; // was read when the node was made
  launch();
  EXPECT_EQ(other.values(), (Ints{3, 7, 3, 3}));
  EXPECT_EQ(called, 1);

  // What is told of them.
  CUDA_MEMSET_NODE_PARAMS found_fill{};
  ASSERT_EQ(cuGraphMemsetNodeGetParams(fill, &found_fill), CUDA_SUCCESS);
  EXPECT_EQ(found_fill.dst, array.address());
  EXPECT_EQ(found_fill.value, 3u);
  EXPECT_EQ(found_fill.elementSize, 4u);
  EXPECT_EQ(found_fill.width, 4u);
  CUDA_KERNEL_NODE_PARAMS found{};
  ASSERT_EQ(cuGraphKernelNodeGetParams_v2(store, &found), CUDA_SUCCESS);
  EXPECT_EQ(found.func, launch_of.func);
  EXPECT_EQ(found.ctx, context);
  EXPECT_EQ(found.gridDimY, 1u);
  EXPECT_EQ(*static_cast<CUdeviceptr*>(found.kernelParams[0]), place);
  EXPECT_EQ(*static_cast<unsigned*>(found.kernelParams[1]), 7u);
  CUDA_MEMCPY3D found_copy{};
  ASSERT_EQ(cuGraphMemcpyNodeGetParams(copy, &found_copy), CUDA_SUCCESS);
  EXPECT_EQ(found_copy.srcDevice, array.address());
  EXPECT_EQ(found_copy.dstDevice, other.address());
  EXPECT_EQ(found_copy.WidthInBytes, 16u);
  CUDA_HOST_NODE_PARAMS found_host{};
  ASSERT_EQ(cuGraphHostNodeGetParams(host, &found_host), CUDA_SUCCESS);
  EXPECT_EQ(found_host.userData, &called);
  EXPECT_EQ(
      cuGraphHostNodeGetParams(fill, &found_host), CUDA_ERROR_INVALID_VALUE);
  for (const auto& [node, type] :
       {std::pair{fill, CU_GRAPH_NODE_TYPE_MEMSET},
        std::pair{store, CU_GRAPH_NODE_TYPE_KERNEL},
        std::pair{copy, CU_GRAPH_NODE_TYPE_MEMCPY},
        std::pair{host, CU_GRAPH_NODE_TYPE_HOST}}) {
    CUgraphNodeType found_type{};
    EXPECT_EQ(cuGraphNodeGetType(node, &found_type), CUDA_SUCCESS);
    EXPECT_EQ(found_type, type);
  }

  // Changed in the instance, which the graph does not notice.
  const auto five = fill_of(array.address(), 5, 4);
  EXPECT_EQ(
      cuGraphExecMemsetNodeSetParams(exec, fill, &five, context), CUDA_SUCCESS);
  value = 9;
  EXPECT_EQ(
      cuGraphExecKernelNodeSetParams_v2(exec, store, &launch_of), CUDA_SUCCESS);
  const auto half = copy_of(other.address(), array.address(), 8);
  EXPECT_EQ(
      cuGraphExecMemcpyNodeSetParams(exec, copy, &half, context), CUDA_SUCCESS);
  int others = 0;
  const CUDA_HOST_NODE_PARAMS counting_others{count_up, &others};
  EXPECT_EQ(
      cuGraphExecHostNodeSetParams(exec, host, &counting_others), CUDA_SUCCESS);
  launch_again();
  EXPECT_EQ(other.values(), (Ints{5, 9, 3, 3}));
  EXPECT_EQ(called, 1);
  EXPECT_EQ(others, 1);
  // A kernel node that is disabled does nothing.
  unsigned enabled = 0;
  EXPECT_EQ(cuGraphNodeSetEnabled(exec, store, 0), CUDA_SUCCESS);
  EXPECT_EQ(cuGraphNodeGetEnabled(exec, fill, &enabled), CUDA_SUCCESS);
  EXPECT_EQ(enabled, 1u);
  launch_again();
  EXPECT_EQ(other.values(), (Ints{5, 5, 3, 3}));
  end();

  // Changed in the graph.
  EXPECT_EQ(cuGraphMemsetNodeSetParams(fill, &five), CUDA_SUCCESS);
  value = 1;
  EXPECT_EQ(cuGraphKernelNodeSetParams_v2(store, &launch_of), CUDA_SUCCESS);
  EXPECT_EQ(cuGraphMemcpyNodeSetParams(copy, &whole), CUDA_SUCCESS);
  EXPECT_EQ(cuGraphHostNodeSetParams(host, &counting_others), CUDA_SUCCESS);
  launch();
  EXPECT_EQ(other.values(), (Ints{5, 1, 5, 5}));
  EXPECT_EQ(others, 3);
  cuuint64_t flags = 1;
  EXPECT_EQ(cuGraphExecGetFlags(exec, &flags), CUDA_SUCCESS);
  EXPECT_EQ(flags, 0u);
  end();
}

TEST_F(GraphNodes, TakeKernelsAsCuda11GivesThem) {
  const Array<int> array(1);
  CUdeviceptr place = array.address();
  unsigned value = 7;
  void* arguments[] = {&place, &value};
  CUDA_KERNEL_NODE_PARAMS_v1 parameters{
      kernel("store"), 1, 1, 1, 1, 1, 1, 0, arguments, nullptr};
  CUgraphNode node = nullptr;
  ASSERT_EQ(
      cuGraphAddKernelNode(&node, graph, nullptr, 0, &parameters),
      CUDA_SUCCESS);
  launch();
  EXPECT_EQ(array.values(), Ints{7});
  value = 8;
  EXPECT_EQ(
      cuGraphExecKernelNodeSetParams(exec, node, &parameters), CUDA_SUCCESS);
  launch_again();
  EXPECT_EQ(array.values(), Ints{8});
  end();
  value = 9;
  EXPECT_EQ(cuGraphKernelNodeSetParams(node, &parameters), CUDA_SUCCESS);
  launch();
  EXPECT_EQ(array.values(), Ints{9});
  end();
  // Nothing is written behind the older form.
  struct {
    CUDA_KERNEL_NODE_PARAMS_v1 told;
    long long behind = 77;
  } place_for;
  EXPECT_EQ(cuGraphKernelNodeGetParams(node, &place_for.told), CUDA_SUCCESS);
  EXPECT_EQ(place_for.told.func, parameters.func);
  EXPECT_EQ(place_for.behind, 77);
}

TEST_F(GraphNodes, TakeACUkernelAndAttributes) {
  const Array<int> array(1);
  CUlibrary library = nullptr;
  CUDA_KERNEL_NODE_PARAMS parameters{};
  ASSERT_EQ(
      cuLibraryLoadData(
          &library, kKernels, nullptr, nullptr, 0, nullptr, nullptr, 0),
      CUDA_SUCCESS);
  ASSERT_EQ(
      cuLibraryGetKernel(&parameters.kern, library, "count"), CUDA_SUCCESS);
  CUdeviceptr place = array.address();
  void* arguments[] = {&place};
  parameters.gridDimX = parameters.gridDimY = parameters.gridDimZ = 1;
  parameters.blockDimX = 5;
  parameters.blockDimY = parameters.blockDimZ = 1;
  parameters.kernelParams = arguments;
  parameters.ctx = context;
  CUgraphNode node = nullptr, same = nullptr;
  ASSERT_EQ(
      cuGraphAddKernelNode_v2(&node, graph, nullptr, 0, &parameters),
      CUDA_SUCCESS);
  ASSERT_EQ(
      cuGraphAddKernelNode_v2(&same, graph, &node, 1, &parameters),
      CUDA_SUCCESS);
  launch();
  EXPECT_EQ(array.values(), Ints{10});
  end();
  CUkernelNodeAttrValue value{};
  value.cooperative = 1;
  EXPECT_EQ(
      cuGraphKernelNodeSetAttribute(
          node, CU_KERNEL_NODE_ATTRIBUTE_COOPERATIVE, &value),
      CUDA_SUCCESS);
  EXPECT_EQ(cuGraphKernelNodeCopyAttributes(same, node), CUDA_SUCCESS);
  value.cooperative = 0;
  EXPECT_EQ(
      cuGraphKernelNodeGetAttribute(
          same, CU_KERNEL_NODE_ATTRIBUTE_COOPERATIVE, &value),
      CUDA_SUCCESS);
  EXPECT_EQ(value.cooperative, 1);
  parameters.blockDimX = 100'000;
  EXPECT_EQ(
      cuGraphAddKernelNode_v2(&node, graph, nullptr, 0, &parameters),
      CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuLibraryUnload(library), CUDA_SUCCESS);
}

TEST_F(GraphNodes, CopyBoxesBetweenHostAndDevice) {
  constexpr std::size_t kWidth = 3, kHeight = 2, kDepth = 2;
  Ints from(4 * 3 * 2);
  std::iota(from.begin(), from.end(), 1);
  const Array<int> array(kWidth * kHeight * kDepth);
  CUDA_MEMCPY3D copy{};
  copy.srcMemoryType = CU_MEMORYTYPE_HOST;
  copy.srcHost = from.data();
  copy.srcXInBytes = 4;
  copy.srcY = 1;
  copy.srcPitch = 16;
  copy.srcHeight = 3;
  copy.dstMemoryType = CU_MEMORYTYPE_UNIFIED;
  copy.dstDevice = array.address();
  copy.dstPitch = kWidth * 4;
  copy.dstHeight = kHeight;
  copy.WidthInBytes = kWidth * 4;
  copy.Height = kHeight;
  copy.Depth = kDepth;
  CUgraphNode node = nullptr;
  ASSERT_EQ(
      cuGraphAddMemcpyNode(&node, graph, nullptr, 0, &copy, context),
      CUDA_SUCCESS);
  launch();
  end();
  Ints expected;
  for (std::size_t z = 0; z < kDepth; ++z) {
    for (std::size_t y = 0; y < kHeight; ++y) {
      for (std::size_t x = 0; x < kWidth; ++x) {
        expected.push_back(from[(z * 3 + y + 1) * 4 + x + 1]);
      }
    }
  }
  EXPECT_EQ(array.values(), expected);
  copy.srcMemoryType = CU_MEMORYTYPE_ARRAY;
  EXPECT_EQ(cuGraphMemcpyNodeSetParams(node, &copy), CUDA_ERROR_INVALID_HANDLE);
  copy.srcMemoryType = CUmemorytype{};
  EXPECT_EQ(cuGraphMemcpyNodeSetParams(node, &copy), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(GraphNodes, RunInTheirContext) {
  CUcontext second = nullptr;
  ASSERT_EQ(cuDevicePrimaryCtxRetain(&second, 1), CUDA_SUCCESS);
  ASSERT_EQ(cuCtxSetCurrent(second), CUDA_SUCCESS);
  {
    const Array<int> there(2);
    ASSERT_EQ(cuCtxSetCurrent(context), CUDA_SUCCESS);
    CUgraphNode node = nullptr;
    const auto fill = fill_of(there.address(), 6, 2);
    ASSERT_EQ(
        cuGraphAddMemsetNode(&node, graph, nullptr, 0, &fill, second),
        CUDA_SUCCESS);
    launch();
    EXPECT_EQ(there.values(), (Ints{6, 6}));
    // It is one of that context for good.
    EXPECT_EQ(
        cuGraphExecMemsetNodeSetParams(exec, node, &fill, context),
        CUDA_ERROR_INVALID_VALUE);
    end();
    ASSERT_EQ(cuCtxSetCurrent(second), CUDA_SUCCESS);
  }
  // Without one, where none is current.
  const auto fill = fill_of(0, 6, 0);
  CUgraphNode node = nullptr;
  ASSERT_EQ(cuCtxSetCurrent(nullptr), CUDA_SUCCESS);
  EXPECT_EQ(
      cuGraphAddMemsetNode(&node, graph, nullptr, 0, &fill, nullptr),
      CUDA_ERROR_INVALID_CONTEXT);
  EXPECT_EQ(cuGraphAddEmptyNode(&node, graph, nullptr, 0), CUDA_SUCCESS);
  EXPECT_EQ(cuDevicePrimaryCtxRelease(1), CUDA_SUCCESS);
}

TEST_F(GraphNodes, WaitForAndRecordEvents) {
  CUevent event = nullptr, other = nullptr, found = nullptr;
  CUgraphNode wait = nullptr, record = nullptr, host = nullptr;
  int called = 0;
  ASSERT_EQ(cuEventCreate(&event, CU_EVENT_DEFAULT), CUDA_SUCCESS);
  ASSERT_EQ(cuEventCreate(&other, CU_EVENT_DEFAULT), CUDA_SUCCESS);
  ASSERT_EQ(
      cuGraphAddEventWaitNode(&wait, graph, nullptr, 0, event), CUDA_SUCCESS);
  const CUDA_HOST_NODE_PARAMS counting{count_up, &called};
  ASSERT_EQ(
      cuGraphAddHostNode(&host, graph, &wait, 1, &counting), CUDA_SUCCESS);
  ASSERT_EQ(
      cuGraphAddEventRecordNode(&record, graph, &host, 1, event), CUDA_SUCCESS);
  EXPECT_EQ(cuGraphEventRecordNodeSetEvent(record, other), CUDA_SUCCESS);
  EXPECT_EQ(cuGraphEventRecordNodeGetEvent(record, &found), CUDA_SUCCESS);
  EXPECT_EQ(found, other);
  EXPECT_EQ(cuGraphEventWaitNodeGetEvent(wait, &found), CUDA_SUCCESS);
  EXPECT_EQ(found, event);
  EXPECT_EQ(
      cuGraphEventWaitNodeGetEvent(record, &found), CUDA_ERROR_INVALID_VALUE);
  ASSERT_EQ(cuGraphInstantiateWithFlags(&exec, graph, 0), CUDA_SUCCESS);
  {
    const Stream beside;
    Gate gate(beside);
    ASSERT_EQ(cuEventRecord(event, beside), CUDA_SUCCESS);
    ASSERT_EQ(cuGraphLaunch(exec, stream), CUDA_SUCCESS);
    EXPECT_EQ(cuStreamQuery(stream), CUDA_ERROR_NOT_READY);
    EXPECT_EQ(called, 0);
    gate.open();
    ASSERT_EQ(cuEventSynchronize(other), CUDA_SUCCESS);
    EXPECT_EQ(called, 1);
  }
  EXPECT_EQ(cuGraphExecEventWaitNodeSetEvent(exec, wait, other), CUDA_SUCCESS);
  EXPECT_EQ(
      cuGraphExecEventRecordNodeSetEvent(exec, record, event), CUDA_SUCCESS);
  launch_again();
  EXPECT_EQ(called, 2);
  EXPECT_EQ(cuGraphEventWaitNodeSetEvent(wait, other), CUDA_SUCCESS);
  end();
  EXPECT_EQ(cuEventDestroy(event), CUDA_SUCCESS);
  EXPECT_EQ(cuEventDestroy(other), CUDA_SUCCESS);
}

TEST_F(GraphNodes, AllocateAndFree) {
  const Array<int> result(1);
  CUDA_MEM_ALLOC_NODE_PARAMS allocation{};
  allocation.poolProps.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
  allocation.poolProps.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
  allocation.bytesize = 4;
  CUgraphNode made = nullptr, fill = nullptr, copy = nullptr, freed = nullptr;
  ASSERT_EQ(
      cuGraphAddMemAllocNode(&made, graph, nullptr, 0, &allocation),
      CUDA_SUCCESS);
  ASSERT_NE(allocation.dptr, 0u);
  const auto value = fill_of(allocation.dptr, 42, 1);
  ASSERT_EQ(
      cuGraphAddMemsetNode(&fill, graph, &made, 1, &value, context),
      CUDA_SUCCESS);
  const auto out = copy_of(result.address(), allocation.dptr, 4);
  ASSERT_EQ(
      cuGraphAddMemcpyNode(&copy, graph, &fill, 1, &out, context),
      CUDA_SUCCESS);
  ASSERT_EQ(
      cuGraphAddMemFreeNode(&freed, graph, &copy, 1, allocation.dptr),
      CUDA_SUCCESS);
  CUDA_MEM_ALLOC_NODE_PARAMS found{};
  EXPECT_EQ(cuGraphMemAllocNodeGetParams(made, &found), CUDA_SUCCESS);
  EXPECT_EQ(found.dptr, allocation.dptr);
  EXPECT_EQ(found.bytesize, 4u);
  CUdeviceptr address = 0;
  EXPECT_EQ(cuGraphMemFreeNodeGetParams(freed, &address), CUDA_SUCCESS);
  EXPECT_EQ(address, allocation.dptr);
  // Such a graph keeps what it has.
  EXPECT_EQ(cuGraphDestroyNode(copy), CUDA_ERROR_NOT_SUPPORTED);
  EXPECT_EQ(
      cuGraphRemoveDependencies(graph, &copy, &freed, 1),
      CUDA_ERROR_NOT_SUPPORTED);
  const auto used_now = [] {
    cuuint64_t bytes = 99;
    EXPECT_EQ(
        cuDeviceGetGraphMemAttribute(
            0, CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT, &bytes),
        CUDA_SUCCESS);
    return bytes;
  };
  EXPECT_EQ(cuDeviceGraphMemTrim(0), CUDA_SUCCESS);
  EXPECT_EQ(used_now(), 0u);
  launch();
  EXPECT_EQ(result.values(), Ints{42});
  EXPECT_EQ(used_now(), 4u);
  EXPECT_EQ(cuDeviceGraphMemTrim(0), CUDA_SUCCESS);
  EXPECT_EQ(used_now(), 0u);
  EXPECT_EQ(cuDeviceGraphMemTrim(99), CUDA_ERROR_INVALID_DEVICE);
  cuuint64_t used = 0;
  EXPECT_EQ(
      cuDeviceSetGraphMemAttribute(0, CU_GRAPH_MEM_ATTR_USED_MEM_HIGH, &used),
      CUDA_SUCCESS);
  end();
  allocation.poolProps.location.type = CU_MEM_LOCATION_TYPE_INVALID;
  EXPECT_EQ(
      cuGraphAddMemAllocNode(&made, graph, nullptr, 0, &allocation),
      CUDA_ERROR_INVALID_VALUE);
}

} // namespace
} // namespace accelerator::driver::testing
