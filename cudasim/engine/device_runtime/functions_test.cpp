// What kernels that launch kernels call besides: copies and fills, streams and
// events, memory, what is known of a kernel. The right answers are those of the
// CUDA programming guide and of NVIDIA's libcudadevrt 13.5.
#include "cudasim/engine/device_runtime/testing/launching.h"

namespace cudasim::engine::testing {
namespace {

using U32 = std::uint32_t;

/// Writes the status of the last call to a word of the kernel's.
std::string note(int word) {
  return "st.global.u32 [%out+" + std::to_string(4 * word) + "], %status;\n";
}

std::string copy(
    const std::string& to,
    const std::string& from,
    const std::string& bytes,
    const std::string& direction = "3",
    const std::string& stream = "0") {
  return call(
      "__cudaCDP2MemcpyAsync",
      {{"b64", to},
       {"b64", from},
       {"b64", bytes},
       {"b32", direction},
       {"b64", stream}});
}

constexpr Shape kOne{{1, 1, 1}, {1, 1, 1}};

Shape words_for(unsigned count) {
  return {{1, 1, 1}, {count, 1, 1}};
}

class DeviceFunctions : public LaunchingTest {};

TEST_F(DeviceFunctions, CopiesAndFillsAreInTheOrderOfTheStream) {
  // The first word becomes 1; it is copied to the second, then 12, then filled.
  const std::string fill = call(
      "__cudaCDP2MemsetAsync",
      {{"b64", "%out"}, {"b32", "0x1ab"}, {"b64", "3"}, {"b64", "0"}});
  EXPECT_EQ(
      words(
          by_first(
              "add.u64 %place, %out, 4;\n" + append("1") +
              copy("%place", "%out", "4") + append("2") + fill),
          words_for(2)),
      (Words{0xababab, 1}));
}

TEST_F(DeviceFunctions, CopiesAndFillsHaveRows) {
  // 3 rows of 2 words: filled at every third word from the first, copied to
  // every second from the twelfth.
  const std::string fill = call(
      "__cudaCDP2Memset2DAsync",
      {{"b64", "%out"},
       {"b64", "12"},
       {"b32", "1"},
       {"b64", "8"},
       {"b64", "3"},
       {"b64", "0"}});
  const std::string rows = call(
      "__cudaCDP2Memcpy2DAsync",
      {{"b64", "%place"},
       {"b64", "8"},
       {"b64", "%out"},
       {"b64", "12"},
       {"b64", "8"},
       {"b64", "3"},
       {"b32", "4"},
       {"b64", "0"}});
  const U32 f = 0x01010101;
  EXPECT_EQ(
      words(
          by_first("add.u64 %place, %out, 48;\n" + fill + rows), words_for(18)),
      (Words{f, f, 0, f, f, 0, f, f, 0, 0, 0, 0, f, f, f, f, f, f}));
}

TEST_F(DeviceFunctions, CopiesNeedMemoryOfTheDevice) {
  EXPECT_EQ(
      words(
          by_first(
              copy("%out", "%place", "4") + note(0) + // local memory
              copy("%out", "0", "4") + note(1) +
              copy("%out", "%out", "4", "1") + note(2) + // from the host
              copy("0", "0", "0") + note(3) +
              copy("%out", "%out", "4", "4", "99") + note(4)),
          words_for(5)),
      // cudaErrorInvalidValue, …InvalidMemcpyDirection, …InvalidResourceHandle
      (Words{1, 1, 21, 0, 400}));
}

TEST_F(DeviceFunctions, CopiesOutOfBoundsAreAFault) {
  const auto report = [&](const std::string& code) {
    return report_of(
        FaultKind::kIllegalAddress, kRegisters + code, kOne, kDeclarations);
  };
  const std::string read =
      report("add.u64 %place, %out, 2;\n" + copy("%out", "%place", "4"));
  EXPECT_NE(read.find("Invalid read of size 4 bytes"), read.npos) << read;
  EXPECT_NE(read.find("in cudaMemcpyAsync of a kernel"), read.npos) << read;
  EXPECT_NE(
      read.find("launched by thread (0,0,0) in block (0,0,0) of kernel"),
      read.npos)
      << read;
  const std::string written = report(call(
      "__cudaCDP2MemsetAsync",
      {{"b64", "%out"}, {"b32", "0"}, {"b64", "5"}, {"b64", "0"}}));
  EXPECT_NE(written.find("Invalid write of size 5"), written.npos) << written;
}

TEST_F(DeviceFunctions, StreamsAndEventsOrderWork) {
  const auto stream = [](const std::string& flags) {
    return call(
        "__cudaCDP2StreamCreateWithFlags", {{"b64", "%place"}, {"b32", flags}});
  };
  const auto event = [](const std::string& flags) {
    return call(
        "__cudaCDP2EventCreateWithFlags", {{"b64", "%place"}, {"b32", flags}});
  };
  const auto record = [](const std::string& of, const std::string& in) {
    return call("__cudaCDP2EventRecord", {{"b64", of}, {"b64", in}});
  };
  const auto wait = [](const std::string& in, const std::string& for_) {
    return call(
        "__cudaCDP2StreamWaitEvent",
        {{"b64", in}, {"b64", for_}, {"b32", "0"}});
  };
  EXPECT_EQ(
      words(
          by_first(
              stream("1") + note(1) + "ld.local.u64 %stream, [place];\n" +
              event("2") + note(2) + "ld.local.u64 %event, [place];\n" +
              append("1", "%stream") + record("%event", "%stream") + note(3) +
              wait("0", "%event") + note(4) + append("2") +
              // cudaStreamDefault, an event with times: not in kernels
              stream("0") + note(5) + event("0") + note(6) +
              record("%event", "4") + note(7) + wait("3", "%event") + note(8) +
              record("%stream", "%event") + note(9) +
              call("__cudaCDP2StreamDestroy", {{"b64", "%stream"}}) + note(10) +
              call("__cudaCDP2StreamDestroy", {{"b64", "%stream"}}) + note(11) +
              call("__cudaCDP2EventDestroy", {{"b64", "%event"}}) + note(12) +
              record("%event", "0") + note(13)),
          words_for(14)),
      (Words{12, 0, 0, 0, 0, 1, 1, 1, 1, 400, 0, 400, 0, 400}));
}

TEST_F(DeviceFunctions, MemoryIsOfTheHeap) {
  const auto allocate = [](const std::string& to, const std::string& bytes) {
    return call("__cudaCDP2Malloc", {{"b64", to}, {"b64", bytes}});
  };
  const Words found = words(
      by_first(
          allocate("%place", "8") + note(0) +
          "ld.local.u64 %stream, [place];\nmov.u32 %digit, 5;\n"
          "st.u32 [%stream], %digit;\nld.u32 %digit, [%stream];\n"
          "st.global.u32 [%out+4], %digit;\n" +
          call("__cudaCDP2Free", {{"b64", "%stream"}}) + note(2) +
          allocate("0", "8") + note(3) + allocate("%place", "0") + note(4) +
          allocate("%place", "1 << 40") + note(5) + error("%out+24")),
      words_for(7));
  EXPECT_EQ(found, (Words{0, 5, 0, 1, 1, 2, 2})); // cudaErrorMemoryAllocation
  report_of(
      FaultKind::kIllegalAddress,
      kRegisters + call("__cudaCDP2Free", {{"b64", "%out"}}),
      kOne,
      kDeclarations);
  report_of(
      FaultKind::kIllegalAddress,
      kRegisters + allocate("16", "8"),
      kOne,
      kDeclarations);
}

TEST_F(DeviceFunctions, KernelsHaveAttributes) {
  const std::string child = R"(
.shared .align 4 .b8 bytes[100];
.const .align 4 .b32 number;
.visible .entry child(.param .u64 p) .maxntid 96 {
  .local .align 4 .b8 own[32]; .reg .b32 %r, %t; .reg .b64 %l;
  mov.u64 %l, own;
  mov.u32 %t, %tid.x; mad.wide.u32 %l, %t, 4, %l; // in no register
  st.local.u32 [%l], %t;
  ld.const.u32 %r, [number]; st.shared.u32 [bytes], %r; ret; })";
  const Words found = words(
      by_first(
          "mov.u64 %kernel, child;\n" +
          call(
              "__cudaCDP2FuncGetAttributes",
              {{"b64", "%out"}, {"b64", "%kernel"}})),
      words_for(10),
      child);
  // Sizes of shared, constant and local memory; threads, registers, versions.
  EXPECT_EQ(found[0], 100u);
  EXPECT_EQ(found[2], 4u);
  EXPECT_EQ(found[4], 32u);
  EXPECT_EQ(found[6], 96u);
  EXPECT_GT(found[7], 0u);
  EXPECT_EQ(found[8], 107u);
  EXPECT_EQ(found[9], 80u);
}

TEST_F(DeviceFunctions, BuffersMayBeToldTheirKernelLater) {
  const auto buffer = [](const std::string& alignment,
                         const std::string& bytes) {
    return call(
        "__accelGetParameterBuffer",
        {{"b64", alignment}, {"b64", bytes}, {"b64", "2048"}},
        "%buffer");
  };
  const std::string launch_it = call(
      "__cudaCDP2LaunchDevice",
      {{"b64", "%kernel"},
       {"b64", "%buffer"},
       {"dim3", "2,1,1"},
       {"dim3", "1,1,1"},
       {"b32", "0"},
       {"b64", "0"}});
  EXPECT_EQ(
      words(
          by_first(
              "mov.u64 %kernel, append;\nmov.u32 %digit, 3;\n" +
              buffer("64", "16") +
              "st.u8 [%buffer], %digit;\nst.u64 [%buffer+8], %out;\n" +
              launch_it + note(1) + launch_it + note(2) + // not twice
              buffer("64", "0") + "mov.u64 %buffer, %out;\n" + launch_it +
              note(3) + buffer("128", "16") + error("%out+16")),
          words_for(5)),
      (Words{33, 0, 1, 1, 1}));
}

TEST_F(DeviceFunctions, ManyBlocksGiveWorkAtOnce) {
  // 64 blocks of 32 threads add their numbers in children of two threads.
  constexpr const char* kAdd = R"(
.visible .entry add(.param .u32 number, .param .u64 sum) {
  .reg .b64 %p; .reg .b32 %r0;
  ld.param.u64 %p, [sum]; ld.param.u32 %r0, [number];
  red.global.add.u32 [%p], %r0; ret; })";
  Shape shape{{64, 1, 1}, {32, 1, 1}};
  shape.workers = 4;
  Child child{"add"};
  child.block = "2,1,1";
  const Words found = words(
      "ld.param.u64 %place, [out];\n" +
          launch(child, {{0, {"u32", "%t"}}, {8, {"u64", "%place"}}}),
      shape,
      kAdd);
  EXPECT_EQ(found[0], 2u * (2047 * 2048 / 2));
}

} // namespace
} // namespace cudasim::engine::testing
