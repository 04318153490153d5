// Clusters of one block: ranks, addresses, and the barrier.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "cudasim/engine/code/lowering_error.h"
#include "cudasim/engine/testing/coverage_record.h"
#include "cudasim/engine/testing/instruction_harness.h"
#include "cudasim/engine/testing/test_device.h"

namespace cudasim::engine::testing {
namespace {

using U32 = std::uint32_t;
using U64 = std::uint64_t;

template <typename T>
bool is_same(T is, T right) {
  return is == right;
}

TEST(Cluster, RanksAreAByteOfAnAddressInSharedMemory) {
  // testing/folding asks NVIDIA's ptxas the same.
  const auto mapped = [](auto a, U32 rank) {
    using T = decltype(a);
    return static_cast<T>((a & ~T{0xff000000}) | T{rank % 256} << 24);
  };
  check<U32, U32, U32>("mapa.shared::cluster.u32", mapped);
  check<U64, U64, U32>("mapa.shared::cluster.u64", mapped);
  check<U32, U32>(
      "getctarank.shared::cluster.u32", [](U32 a) { return a >> 24; });
  check<U32, U64>("getctarank.shared::cluster.u64", [](U64 a) {
    return static_cast<U32>(a >> 24 & 0xff);
  });
}

TEST(Cluster, GenericAddressesHaveRankZero) {
  // Another rank has no place that can be accessed. With a way to accept
  // results nothing is recorded for ptxas, whose addresses are others.
  const auto mapped = [](auto a, U32 rank) {
    using T = decltype(a);
    return rank % 256 == 0 ? a : static_cast<T>(~T{15});
  };
  check<U32, U32, U32>("mapa.u32", mapped, "", is_same<U32>);
  check<U64, U64, U32>("mapa.u64", mapped, "", is_same<U64>);
  check<U32, U32>(
      "getctarank.u32", [](U32) { return U32{0}; }, "", is_same<U32>);
  check<U32, U64>(
      "getctarank.u64", [](U64) { return U32{0}; }, "", is_same<U32>);
}

TEST(Cluster, ItsSharedMemoryIsTheBlocks) {
  TestDevice device;
  auto* out = device.zeros<U32>(3);
  device.load(R"(.visible .entry kernel(.param .u64 out) {
    .shared .align 4 .b32 words[4];
    .reg .b64 %out, %generic; .reg .b32 %a, %x, %rank; .reg .pred %p;
    ld.param.u64 %out, [out];
    mov.u32 %rank, %cluster_ctarank;
    mapa.shared::cluster.u32 %a, words, %rank;
    st.shared::cluster.u32 [%a+4], 7;
    atom.shared::cluster.add.u32 %x, [%a+4], 5;
    red.shared::cluster.add.u32 [%a+4], 1;
    ld.shared.u32 %x, [words+4];
    st.global.u32 [%out], %x;
    cvta.shared.u64 %generic, words;
    mapa.u64 %generic, %generic, 0;
    ld.shared::cluster.u32 %x, [%a+4];
    st.u32 [%generic+8], %x;
    ld.shared::cta.u32 %x, [words+8];
    st.global.u32 [%out+4], %x;
    isspacep.shared::cluster %p, %generic;
    selp.u32 %x, 1, 0, %p;
    st.global.u32 [%out+8], %x;
    ret; })");
  Shape shape;
  shape.block.x = 1;
  const Outcome outcome = device.run("kernel", shape, out);
  ASSERT_EQ(outcome.fault, FaultKind::kNone) << outcome.report;
  EXPECT_EQ(out[0], 13u);
  EXPECT_EQ(out[1], 13u);
  EXPECT_EQ(out[2], 1u);
}

TEST(Cluster, ABlockOfAnotherRankIsNotThere) {
  TestDevice device;
  auto* out = device.zeros<U32>(1);
  device.load(R"(.visible .entry kernel(.param .u64 out) {
    .shared .align 4 .b32 word;
    .reg .b32 %a;
    mapa.shared::cluster.u32 %a, word, 1;
    st.shared::cluster.u32 [%a], 7;
    ret; })");
  EXPECT_EQ(
      device.run("kernel", Shape{}, out).fault, FaultKind::kIllegalAddress);
}

TEST(Cluster, AKernelForSeveralBlocksIsRefused) {
  const auto run = [](const std::string& bounds) {
    TestDevice device;
    auto* out = device.zeros<U32>(1);
    device.load(
        ".visible .entry kernel(.param .u64 out)\n.explicitcluster\n" + bounds +
        R"(
{
    .reg .b64 %out; .reg .b32 %x;
    ld.param.u64 %out, [out];
    mov.u32 %x, %cluster_nctarank;
    st.global.u32 [%out], %x;
    ret; })");
    EXPECT_EQ(device.run("kernel", Shape{}, out).fault, FaultKind::kNone);
    return *out;
  };
  EXPECT_EQ(run(".reqnctapercluster 1, 1, 1"), 1u);
  try {
    run(".reqnctapercluster 1, 2, 1");
    FAIL();
  } catch (const LoweringError& error) {
    EXPECT_NE(
        std::string(error.what()).find("clusters of 1 x 2 x 1 blocks"),
        std::string::npos)
        << error.what();
  }
}

TEST(Cluster, NoOtherIsCancelled) {
  const std::string begin = "clusterlaunchcontrol.";
  for (const std::string space : {".shared::cta", ""}) {
    const std::string request = begin + "try_cancel.async" + space +
        ".mbarrier::complete_tx::bytes.b128";
    const std::string query = begin + "query_cancel.";
    TestDevice device;
    auto* out = device.zeros<U32>(6);
    device.load(
        R"(.visible .entry kernel(.param .u64 out) {
    .shared .align 16 .b8 response[16];
    .shared .align 8 .b64 done;
    .reg .b64 %out, %state, %low, %high, %response, %done; .reg .b128 %handle;
    .reg .b32 %x, %y, %z, %w; .reg .pred %p;
    ld.param.u64 %out, [out];
    mov.u64 %response, response;
    mov.u64 %done, done;
    st.shared.v2.b64 [response], {-1, -1};
    mbarrier.init.shared.b64 [done], 1;
    mbarrier.arrive.expect_tx.shared.b64 %state, [done], 16;
    )" +
        std::string(
            space.empty() ? "cvta.shared.u64 %response, %response;\n"
                            "cvta.shared.u64 %done, %done;\n"
                          : "") +
        request + R"( [%response], [%done];
    mbarrier.test_wait.shared.b64 %p, [done], %state;
    selp.u32 %x, 1, 0, %p;
    st.global.u32 [%out], %x;
    ld.shared.v2.b64 {%low, %high}, [response];
    mov.b128 %handle, {%low, %high};
    )" + query +
        R"(is_canceled.pred.b128 %p, %handle;
    selp.u32 %x, 1, 2, %p;
    st.global.u32 [%out+4], %x;
    )" + query +
        R"(get_first_ctaid.v4.b32.b128 {%x, %y, %z, %w}, %handle;
    )" + query +
        R"(get_first_ctaid::x.b32.b128 %x, %handle;
    )" + query +
        R"(get_first_ctaid::y.b32.b128 %y, %handle;
    )" + query +
        R"(get_first_ctaid::z.b32.b128 %z, %handle;
    ret; })");
    Shape shape;
    shape.block.x = 1;
    const Outcome outcome = device.run("kernel", shape, out);
    ASSERT_EQ(outcome.fault, FaultKind::kNone) << outcome.report;
    EXPECT_EQ(out[0], 1u);
    EXPECT_EQ(out[1], 2u);
    record_checked(request);
    for (const char* asked :
         {"is_canceled.pred.b128",
          "get_first_ctaid.v4.b32.b128",
          "get_first_ctaid::x.b32.b128",
          "get_first_ctaid::y.b32.b128",
          "get_first_ctaid::z.b32.b128"}) {
      record_checked(query + asked);
    }
  }
}

TEST(Cluster, ItsThreadsWaitForEachOther) {
  const char* const kFences[] = {
      "fence.proxy.async.global",
      "fence.proxy.async.shared::cluster",
      "fence.proxy.async::generic.acquire.sync_restrict::shared::cluster."
      "cluster",
      "fence.proxy.async::generic.release.sync_restrict::shared::cta.cluster",
      "fence.acquire.sync_restrict::shared::cluster.cluster",
      "fence.release.sync_restrict::shared::cta.cluster"};
  std::string fences;
  for (const std::string fence : kFences) {
    fences += fence + ";\n";
  }
  for (const std::string aligned : {"", ".aligned"}) {
    for (const std::string arrive : {"", ".release", ".relaxed"}) {
      for (const std::string wait : {"", ".acquire"}) {
        TestDevice device;
        auto* out = device.zeros<U32>(96);
        const std::string barrier = "barrier.cluster.arrive" + arrive +
            aligned + ";\nbarrier.cluster.wait" + wait + aligned + ";\n";
        // Each thread reads what one of another warp has written.
        device.load(
            R"(.visible .entry kernel(.param .u64 out) {
    .shared .align 4 .b32 words[96];
    .reg .b64 %out, %at; .reg .b32 %t, %a, %x;
    ld.param.u64 %out, [out];
    mov.u32 %t, %tid.x;
    mov.u32 %a, words;
    mad.lo.u32 %a, %t, 4, %a;
    st.shared.u32 [%a], %t;
)" + barrier +
            R"(
    add.u32 %x, %t, 40;
    rem.u32 %x, %x, 96;
    mov.u32 %a, words;
    mad.lo.u32 %a, %x, 4, %a;
    ld.shared.u32 %x, [%a];
)" + fences +
            barrier + R"(
    st.shared.u32 [%a], %x;
    mad.wide.u32 %at, %t, 4, %out;
    st.global.u32 [%at], %x;
    ret; })");
        Shape shape;
        shape.block.x = 96;
        const Outcome outcome = device.run("kernel", shape, out);
        ASSERT_EQ(outcome.fault, FaultKind::kNone) << outcome.report;
        for (U32 i = 0; i < 96; ++i) {
          EXPECT_EQ(out[i], (i + 40) % 96) << i;
        }
        record_checked("barrier.cluster.arrive" + arrive + aligned);
        record_checked("barrier.cluster.wait" + wait + aligned);
      }
    }
  }
  for (const char* const fence : kFences) {
    record_checked(fence);
  }
}

} // namespace
} // namespace cudasim::engine::testing
