// Subscribers: who is called when, with what, and what is refused; choosing
// the functions of which there are records. As Kineto does it.
#include <cuda.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "runtime/api/cudart/testing/support.h"
#include "runtime/api/driver/testing/context.h"
#include "runtime/tools/cupti/testing/trace.h"
#include "tools/cc/eventually.h"

// CUDA 12.4's headers do not declare them.
extern "C" CUptiResult cuptiActivityEnableRuntimeApi(CUpti_CallbackId, uint8_t);
extern "C" CUptiResult cuptiActivityEnableDriverApi(CUpti_CallbackId, uint8_t);

namespace accelerator::cupti::testing {
namespace {

using namespace accelerator::cudart::testing;

constexpr CUpti_CallbackId kMalloc = CUPTI_RUNTIME_TRACE_CBID_cudaMalloc_v3020;
constexpr CUpti_CallbackId kFree = CUPTI_RUNTIME_TRACE_CBID_cudaFree_v3020;
constexpr CUpti_CallbackId kGetDevice =
    CUPTI_RUNTIME_TRACE_CBID_cudaGetDevice_v3020;

/// What a callback was told.
struct Told {
  CUpti_CallbackDomain domain;
  CUpti_CallbackId id;
  std::string function;
  bool exit;
  int result; // -1 at the begin
  std::uint32_t correlation;
  std::uint64_t note; // as it was found
  CUcontext context;
  std::uint32_t context_id;
};

/// Subscribes for as long as it lives.
class Subscription {
 public:
  Subscription() {
    EXPECT_CUPTI(cuptiSubscribe(&handle_, tell, this));
  }
  ~Subscription() {
    if (handle_ != nullptr) {
      EXPECT_CUPTI(cuptiUnsubscribe(handle_));
    }
  }
  Subscription(const Subscription&) = delete;
  Subscription& operator=(const Subscription&) = delete;

  CUpti_SubscriberHandle handle() const {
    return handle_;
  }
  /// It was ended by another way.
  void forget() {
    handle_ = nullptr;
  }

  std::vector<Told> told;
  std::function<void(const CUpti_CallbackData&)> then;

 private:
  static void tell(
      void* self,
      CUpti_CallbackDomain domain,
      CUpti_CallbackId id,
      const void* data) {
    auto* subscription = static_cast<Subscription*>(self);
    const auto& call = *static_cast<const CUpti_CallbackData*>(data);
    const bool exit = call.callbackSite == CUPTI_API_EXIT;
    subscription->told.push_back(
        {domain,
         id,
         call.functionName,
         exit,
         exit ? *static_cast<const int*>(call.functionReturnValue) : -1,
         call.correlationId,
         *call.correlationData,
         call.context,
         call.contextUid});
    if (subscription->then) {
      subscription->then(call);
    }
  }

  CUpti_SubscriberHandle handle_ = nullptr;
};

class Subscribers : public Runtime {};

void allocate_and_free() {
  void* memory = nullptr;
  ASSERT_OK(cudaMalloc(&memory, 64));
  ASSERT_OK(cudaFree(memory));
}

TEST_F(Subscribers, HearOfBeginAndReturnOfWhatTheyEnabled) {
  Subscription subscription;
  allocate_and_free();
  EXPECT_TRUE(subscription.told.empty()); // nothing is enabled yet
  ASSERT_CUPTI(cuptiEnableCallback(
      1, subscription.handle(), CUPTI_CB_DOMAIN_RUNTIME_API, kMalloc));
  subscription.then = [](const CUpti_CallbackData& call) {
    *call.correlationData += 7;
  };
  Trace trace({CUPTI_ACTIVITY_KIND_RUNTIME});
  allocate_and_free();
  const Records records = trace.records();
  const auto calls = calls_of(records.calls, "cudaMalloc");
  ASSERT_EQ(calls.size(), 1u);
  ASSERT_EQ(subscription.told.size(), 2u);
  CUcontext context = nullptr;
  ASSERT_EQ(cuCtxGetCurrent(&context), CUDA_SUCCESS);
  for (const Told& told : subscription.told) {
    EXPECT_EQ(told.domain, CUPTI_CB_DOMAIN_RUNTIME_API);
    EXPECT_EQ(told.id, kMalloc);
    EXPECT_EQ(told.function, "cudaMalloc");
    EXPECT_EQ(told.correlation, calls[0].correlationId);
    EXPECT_EQ(told.context, context);
    std::uint32_t context_id = 0;
    EXPECT_CUPTI(cuptiGetContextId(told.context, &context_id));
    EXPECT_EQ(told.context_id, context_id);
  }
  EXPECT_FALSE(subscription.told[0].exit);
  EXPECT_EQ(subscription.told[0].note, 0u);
  EXPECT_TRUE(subscription.told[1].exit);
  EXPECT_EQ(subscription.told[1].result, cudaSuccess);
  EXPECT_EQ(subscription.told[1].note, 7u);
}

TEST_F(Subscribers, HearOfFailures) {
  Subscription subscription;
  ASSERT_CUPTI(
      cuptiEnableDomain(1, subscription.handle(), CUPTI_CB_DOMAIN_RUNTIME_API));
  void* memory = nullptr;
  EXPECT_EQ(cudaHostAlloc(&memory, 16, 0x1234), cudaErrorInvalidValue);
  ASSERT_EQ(subscription.told.size(), 2u);
  EXPECT_EQ(subscription.told[1].function, "cudaHostAlloc");
  EXPECT_EQ(subscription.told[1].result, cudaErrorInvalidValue);
}

TEST_F(Subscribers, HearOfTheDriverByItsNames) {
  Subscription subscription;
  ASSERT_CUPTI(
      cuptiEnableDomain(1, subscription.handle(), CUPTI_CB_DOMAIN_DRIVER_API));
  allocate_and_free(); // of the runtime
  CUdeviceptr memory = 0;
  ASSERT_EQ(cuMemAlloc(&memory, 64), CUDA_SUCCESS);
  ASSERT_EQ(cuMemFree(memory), CUDA_SUCCESS);
  std::vector<std::string> functions;
  for (const Told& told : subscription.told) {
    EXPECT_EQ(told.domain, CUPTI_CB_DOMAIN_DRIVER_API);
    functions.push_back(told.function);
  }
  EXPECT_EQ(
      functions,
      (std::vector<std::string>{
          "cuMemAlloc_v2", "cuMemAlloc_v2", "cuMemFree_v2", "cuMemFree_v2"}));
}

TEST_F(Subscribers, HearNoMoreOfWhatTheyDisable) {
  Subscription subscription;
  const auto set = [&](bool enable, CUpti_CallbackId id) {
    EXPECT_CUPTI(cuptiEnableCallback(
        enable ? 1 : 0,
        subscription.handle(),
        CUPTI_CB_DOMAIN_RUNTIME_API,
        id));
  };
  const auto enabled = [&](CUpti_CallbackId id) {
    std::uint32_t is = 2;
    EXPECT_CUPTI(cuptiGetCallbackState(
        &is, subscription.handle(), CUPTI_CB_DOMAIN_RUNTIME_API, id));
    return is;
  };
  set(true, kMalloc);
  set(true, kFree);
  set(false, kMalloc);
  EXPECT_EQ(enabled(kMalloc), 0u);
  EXPECT_EQ(enabled(kFree), 1u);
  allocate_and_free();
  ASSERT_EQ(subscription.told.size(), 2u);
  EXPECT_EQ(subscription.told[0].id, kFree);
  ASSERT_CUPTI(
      cuptiEnableDomain(0, subscription.handle(), CUPTI_CB_DOMAIN_RUNTIME_API));
  allocate_and_free();
  EXPECT_EQ(subscription.told.size(), 2u);
}

TEST_F(Subscribers, AreNotCalledForTheirOwnCalls) {
  Subscription subscription;
  ASSERT_CUPTI(
      cuptiEnableDomain(1, subscription.handle(), CUPTI_CB_DOMAIN_RUNTIME_API));
  subscription.then = [](const CUpti_CallbackData&) {
    int device = -1;
    EXPECT_OK(cudaGetDevice(&device));
    EXPECT_EQ(device, 0);
  };
  allocate_and_free();
  EXPECT_EQ(subscription.told.size(), 4u);
}

TEST_F(Subscribers, AreLeftAloneOnceTheyHaveLeft) {
  std::atomic<bool> begun{false};
  std::atomic<bool> ended{false};
  Subscription subscription;
  ASSERT_CUPTI(cuptiEnableCallback(
      1, subscription.handle(), CUPTI_CB_DOMAIN_RUNTIME_API, kMalloc));
  subscription.then = [&](const CUpti_CallbackData&) {
    begun = true;
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    ended = true;
  };
  std::thread caller(allocate_and_free);
  EXPECT_TRUE(tools::eventually([&] { return begun.load(); }));
  ASSERT_CUPTI(cuptiUnsubscribe(subscription.handle()));
  subscription.forget();
  EXPECT_TRUE(ended);
  caller.join();
  EXPECT_EQ(subscription.told.size(), 1u); // of the begin alone
}

TEST_F(Subscribers, AreOneAtATime) {
  Subscription first;
  CUpti_SubscriberHandle second = nullptr;
  const auto ignore =
      [](void*, CUpti_CallbackDomain, CUpti_CallbackId, const void*) {};
  EXPECT_EQ(
      cuptiSubscribe(&second, ignore, nullptr),
      CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED);
  EXPECT_EQ(second, nullptr);
  EXPECT_EQ(cuptiUnsubscribe(nullptr), CUPTI_ERROR_INVALID_PARAMETER);
  const CUpti_SubscriberHandle old = first.handle();
  ASSERT_CUPTI(cuptiUnsubscribe(old));
  first.forget();
  EXPECT_EQ(cuptiUnsubscribe(old), CUPTI_ERROR_INVALID_PARAMETER);
  Subscription next;
  EXPECT_NE(next.handle(), old);
  EXPECT_EQ(
      cuptiEnableDomain(1, old, CUPTI_CB_DOMAIN_RUNTIME_API),
      CUPTI_ERROR_INVALID_PARAMETER);
}

TEST_F(Subscribers, AreRefusedOtherDomains) {
  Subscription subscription;
  for (const CUpti_CallbackDomain domain :
       {CUPTI_CB_DOMAIN_RESOURCE,
        CUPTI_CB_DOMAIN_SYNCHRONIZE,
        CUPTI_CB_DOMAIN_NVTX}) {
    EXPECT_EQ(
        cuptiEnableDomain(1, subscription.handle(), domain),
        CUPTI_ERROR_NOT_SUPPORTED);
    EXPECT_EQ(
        cuptiEnableCallback(1, subscription.handle(), domain, 3),
        CUPTI_ERROR_NOT_SUPPORTED);
    EXPECT_CUPTI(cuptiEnableDomain(0, subscription.handle(), domain));
  }
  EXPECT_EQ(
      cuptiEnableDomain(1, subscription.handle(), CUPTI_CB_DOMAIN_INVALID),
      CUPTI_ERROR_INVALID_PARAMETER);
  EXPECT_EQ(
      cuptiEnableCallback(
          1, subscription.handle(), CUPTI_CB_DOMAIN_RUNTIME_API, 1999),
      CUPTI_ERROR_INVALID_PARAMETER);
}

// Kineto of PyTorch 2.12 profiles only where it can.
TEST_F(Subscribers, MayAskForContexts) {
  constexpr auto kDomain = CUPTI_CB_DOMAIN_RESOURCE;
  for (const CUpti_CallbackId event :
       {CUPTI_CBID_RESOURCE_CONTEXT_CREATED,
        CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING}) {
    Subscription subscription;
    const CUpti_SubscriberHandle handle = subscription.handle();
    std::uint32_t is = 1;
    EXPECT_CUPTI(cuptiGetCallbackState(&is, handle, kDomain, event));
    EXPECT_EQ(is, 0u);
    EXPECT_CUPTI(cuptiEnableCallback(1, handle, kDomain, event));
    EXPECT_CUPTI(cuptiGetCallbackState(&is, handle, kDomain, event));
    EXPECT_EQ(is, 1u);
    allocate_and_free();
    EXPECT_TRUE(subscription.told.empty());
  }
}

// What Kineto does with TEARDOWN_CUPTI=1: it ends everything when a call of
// whatever thread returns, and begins again with the next trace.
TEST_F(Subscribers, MayEndTheTraceWhenACallReturns) {
  for (int round = 0; round < 2; ++round) {
    Trace trace({CUPTI_ACTIVITY_KIND_RUNTIME});
    Subscription subscription;
    for (const auto domain :
         {CUPTI_CB_DOMAIN_RUNTIME_API, CUPTI_CB_DOMAIN_DRIVER_API}) {
      ASSERT_CUPTI(cuptiEnableDomain(1, subscription.handle(), domain));
    }
    subscription.then = [&](const CUpti_CallbackData& call) {
      if (call.callbackSite == CUPTI_API_EXIT) {
        EXPECT_CUPTI(cuptiUnsubscribe(subscription.handle()));
        EXPECT_CUPTI(cuptiFinalize());
        subscription.forget();
      }
    };
    std::thread(allocate_and_free).join();
    EXPECT_EQ(subscription.told.size(), 2u);
    const Records records = trace.records();
    EXPECT_EQ(calls_of(records.calls, "cudaMalloc").size(), 1u);
    EXPECT_TRUE(calls_of(records.calls, "cudaFree").empty());
  }
}

TEST_F(Subscribers, ChooseTheFunctionsOfWhichThereAreRecords) {
  int device = 0;
  {
    Trace trace({CUPTI_ACTIVITY_KIND_RUNTIME});
    ASSERT_CUPTI(cuptiActivityEnableRuntimeApi(kGetDevice, 0));
    ASSERT_OK(cudaGetDevice(&device));
    allocate_and_free();
    const Records records = trace.records();
    EXPECT_TRUE(calls_of(records.calls, "cudaGetDevice").empty());
    EXPECT_EQ(calls_of(records.calls, "cudaMalloc").size(), 1u);
  }
  { // without the kind
    Trace trace({});
    ASSERT_CUPTI(cuptiActivityEnableRuntimeApi(kMalloc, 1));
    ASSERT_CUPTI(
        cuptiActivityEnableDriverApi(CUPTI_DRIVER_TRACE_CBID_cuMemAlloc_v2, 1));
    allocate_and_free();
    CUdeviceptr memory = 0;
    ASSERT_EQ(cuMemAlloc(&memory, 64), CUDA_SUCCESS);
    ASSERT_EQ(cuMemFree(memory), CUDA_SUCCESS);
    const Records records = trace.records();
    ASSERT_EQ(records.calls.size(), 1u);
    EXPECT_EQ(name_of(records.calls[0]), "cudaMalloc");
    ASSERT_EQ(records.driver_calls.size(), 1u);
    EXPECT_EQ(name_of(records.driver_calls[0]), "cuMemAlloc_v2");
    ASSERT_CUPTI(
        cuptiActivityEnableDriverApi(CUPTI_DRIVER_TRACE_CBID_cuMemAlloc_v2, 0));
  }
  { // the kind says it anew
    Trace trace({CUPTI_ACTIVITY_KIND_RUNTIME});
    ASSERT_OK(cudaGetDevice(&device));
    EXPECT_EQ(calls_of(trace.records().calls, "cudaGetDevice").size(), 1u);
  }
  EXPECT_EQ(
      cuptiActivityEnableRuntimeApi(1999, 1), CUPTI_ERROR_INVALID_PARAMETER);
  EXPECT_EQ(
      cuptiActivityEnableDriverApi(1999, 1), CUPTI_ERROR_INVALID_PARAMETER);
}

#if CUPTI_API_VERSION >= 130000
TEST_F(Subscribers, OfTheSecondFormSayTheirStructuresSize) {
  const auto ignore =
      [](void*, CUpti_CallbackDomain, CUpti_CallbackId, const void*) {};
  CUpti_SubscriberHandle handle = nullptr;
  CUpti_SubscriberParams parameters{};
  EXPECT_EQ(
      cuptiSubscribe_v2(&handle, ignore, nullptr, &parameters),
      CUPTI_ERROR_INVALID_PARAMETER);
  parameters.structSize = CUpti_SubscriberParams_STRUCT_SIZE;
  parameters.allowMultipleSubscribers = 1;
  EXPECT_EQ(
      cuptiSubscribe_v2(&handle, ignore, nullptr, &parameters),
      CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED);
  parameters.allowMultipleSubscribers = 0;
  ASSERT_CUPTI(cuptiSubscribe_v2(&handle, ignore, nullptr, &parameters));
  EXPECT_CUPTI(cuptiUnsubscribe(handle));
  ASSERT_CUPTI(cuptiSubscribe_v2(&handle, ignore, nullptr, nullptr));
  EXPECT_CUPTI(cuptiUnsubscribe(handle));
}
#endif

} // namespace
} // namespace accelerator::cupti::testing
