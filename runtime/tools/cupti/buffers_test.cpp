// The buffers: all sizes, flushing at any time, threads, and what is given
// back.
#include <chrono>
#include <thread>

#include "runtime/api/cudart/testing/kernels.h"
#include "runtime/api/cudart/testing/support.h"
#include "runtime/tools/cupti/testing/trace.h"

namespace accelerator::cupti::testing {
namespace {

using namespace accelerator::cudart::testing;

class Buffers : public Runtime {
 protected:
  void launch(int times = 1) {
    for (int i = 0; i < times; ++i) {
      launch_add(values.data(), 1, 4);
    }
  }
  std::size_t dropped() {
    std::size_t count = 0;
    EXPECT_CUPTI(cuptiActivityGetNumDroppedRecords(nullptr, 0, &count));
    return count;
  }

  OnDevice values{std::size_t{4}};
};

TEST_F(Buffers, OfAnySizeHoldAllRecords) {
  constexpr std::size_t kBytes = sizeof(CUpti_ActivityKernel9);
  for (const std::size_t size :
       {kBytes, kBytes + 8, 2 * kBytes - 8, 3 * kBytes, std::size_t{4096}}) {
    Trace trace({CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL}, size);
    launch(20);
    EXPECT_EQ(trace.records().kernels.size(), 20u) << size;
    EXPECT_EQ(dropped(), 0u);
  }
}

TEST_F(Buffers, HoldNoMoreRecordsThanAllowed) {
  Trace trace({CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL}, 64 << 10, 3);
  launch(10);
  EXPECT_EQ(trace.records().kernels.size(), 10u);
  EXPECT_EQ(Lender::instance().buffers_taken_back, 4u);
}

TEST_F(Buffers, ThatAreTooSmallDropRecords) {
  Trace trace(
      {CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL},
      sizeof(CUpti_ActivityKernel9) - 8);
  launch(5);
  EXPECT_EQ(trace.records().kernels.size(), 0u);
  EXPECT_EQ(dropped(), 5u);
  EXPECT_EQ(dropped(), 0u); // told once
}

TEST_F(Buffers, ThatAreNotLentDropRecords) {
  Trace trace({CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL});
  {
    const std::lock_guard lock(Lender::instance().mutex);
    Lender::instance().refuse = true;
  }
  launch(3);
  EXPECT_EQ(trace.records().count(), 0u);
  EXPECT_EQ(dropped(), 3u);
}

TEST_F(Buffers, CanBeFlushedWhileWorkRuns) {
  Trace trace(
      {CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, CUPTI_ACTIVITY_KIND_RUNTIME},
      1024);
  std::atomic<bool> done{false};
  std::thread flusher([&] {
    while (!done) {
      EXPECT_CUPTI(cuptiActivityFlushAll(0));
      EXPECT_CUPTI(cuptiActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED));
    }
  });
  launch(300);
  ASSERT_OK(cudaDeviceSynchronize());
  done = true;
  flusher.join();
  const Records records = trace.records();
  EXPECT_EQ(records.kernels.size(), 300u);
  EXPECT_EQ(calls_of(records.calls, "cudaLaunchKernel").size(), 300u);
}

TEST_F(Buffers, AreFlushedByTheClock) {
  Trace trace({CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL});
  ASSERT_CUPTI(cuptiActivityFlushPeriod(1));
  launch();
  ASSERT_OK(cudaDeviceSynchronize());
  const auto deadline =
      std::chrono::steady_clock::now() + std::chrono::seconds(30);
  std::size_t seen = 0;
  while (seen == 0 && std::chrono::steady_clock::now() < deadline) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    const std::lock_guard lock(Lender::instance().mutex);
    seen = Lender::instance().records.kernels.size();
  }
  ASSERT_CUPTI(cuptiActivityFlushPeriod(0));
  EXPECT_EQ(seen, 1u);
}

TEST_F(Buffers, AllComeBackFromAHundredTraces) {
  for (int i = 0; i < 100; ++i) {
    Trace trace(
        {CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL,
         CUPTI_ACTIVITY_KIND_RUNTIME,
         CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION});
    launch();
    const Records records = trace.records(); // which looks for lost buffers
    ASSERT_EQ(records.kernels.size(), 1u) << i;
    ASSERT_EQ(calls_of(records.calls, "cudaLaunchKernel").size(), 1u) << i;
  }
}

TEST_F(Buffers, HoldTheRecordsOfAllThreads) {
  constexpr int kThreads = 8;
  constexpr int kLaunches = 50;
  Trace trace(
      {CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL,
       CUPTI_ACTIVITY_KIND_RUNTIME,
       CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION},
      2048);
  std::vector<std::thread> threads;
  for (int number = 0; number < kThreads; ++number) {
    threads.emplace_back([&, number] {
      ASSERT_CUPTI(cuptiActivityPushExternalCorrelationId(
          CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0,
          static_cast<std::uint64_t>(number)));
      int* data = values.data();
      int amount = 0;
      int count = 0;
      void* arguments[] = {&data, &amount, &count};
      OwnStream stream;
      for (int i = 0; i < kLaunches; ++i) {
        EXPECT_OK(cudaLaunchKernel(
            symbol(add),
            dim3(static_cast<unsigned>(number) + 1),
            1,
            arguments,
            0,
            stream));
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  const Records records = trace.records();
  std::map<std::uint32_t, std::uint64_t> ids;
  for (const CUpti_ActivityExternalCorrelation& record : records.external) {
    ids[record.correlationId] = record.externalId;
  }
  std::map<int, int> kernels;
  for (const CUpti_ActivityKernel9& kernel : records.kernels) {
    ++kernels[kernel.gridX];
    ASSERT_EQ(ids.count(kernel.correlationId), 1u);
    EXPECT_EQ(
        ids[kernel.correlationId],
        static_cast<std::uint64_t>(kernel.gridX - 1));
  }
  for (int number = 0; number < kThreads; ++number) {
    EXPECT_EQ(kernels[number + 1], kLaunches);
  }
  std::set<std::uint32_t> thread_ids;
  for (const CUpti_ActivityAPI& call :
       calls_of(records.calls, "cudaLaunchKernel")) {
    thread_ids.insert(call.threadId);
  }
  EXPECT_EQ(thread_ids.size(), static_cast<std::size_t>(kThreads));
}

TEST_F(Buffers, AreNotLeftBehindByFinalize) {
  Trace trace({CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL});
  launch();
  ASSERT_OK(cudaDeviceSynchronize());
  ASSERT_CUPTI(cuptiFinalize());
  {
    const std::lock_guard lock(Lender::instance().mutex);
    EXPECT_TRUE(Lender::instance().lent.empty());
    EXPECT_EQ(Lender::instance().records.kernels.size(), 1u);
  }
  launch(); // nobody watches any more
  EXPECT_EQ(trace.records().kernels.size(), 1u);
}

TEST_F(Buffers, AreReadToTheirEndOnly) {
  alignas(8) std::uint8_t buffer[2 * sizeof(CUpti_ActivityAPI)] = {};
  auto* first = reinterpret_cast<CUpti_ActivityAPI*>(buffer);
  first[0].kind = CUPTI_ACTIVITY_KIND_RUNTIME;
  first[1].kind = CUPTI_ACTIVITY_KIND_RUNTIME;
  const auto next = [&](std::size_t bytes, CUpti_Activity** record) {
    return cuptiActivityGetNextRecord(buffer, bytes, record);
  };
  CUpti_Activity* record = nullptr;
  EXPECT_EQ(next(0, &record), CUPTI_ERROR_MAX_LIMIT_REACHED);
  EXPECT_EQ(next(sizeof(*first) - 8, &record), CUPTI_ERROR_INVALID_KIND);
  ASSERT_CUPTI(next(sizeof(*first), &record));
  EXPECT_EQ(record, reinterpret_cast<CUpti_Activity*>(first));
  EXPECT_EQ(next(sizeof(*first), &record), CUPTI_ERROR_MAX_LIMIT_REACHED);
  ASSERT_CUPTI(next(sizeof(buffer), &record));
  EXPECT_EQ(record, reinterpret_cast<CUpti_Activity*>(first + 1));
  EXPECT_EQ(next(sizeof(buffer), &record), CUPTI_ERROR_MAX_LIMIT_REACHED);
  EXPECT_EQ(next(sizeof(buffer), nullptr), CUPTI_ERROR_INVALID_PARAMETER);
  record = nullptr;
  first[0].kind = CUPTI_ACTIVITY_KIND_INVALID;
  EXPECT_EQ(next(sizeof(buffer), &record), CUPTI_ERROR_INVALID_KIND);
}

} // namespace
} // namespace accelerator::cupti::testing
