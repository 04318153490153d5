// Reads of textures and surfaces in native code, which calls their handlers.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "cudasim/engine/instructions/texture/testing/texture_kernel.h"
#include "cudasim/engine/instructions/texture/testing/texture_model.h"
#include "cudasim/engine/translation/regions.h"

namespace cudasim::engine::testing {
namespace {

std::vector<ThreadInput> drawn_inputs(
    std::uint64_t handle,
    const Texture& texture) {
  std::mt19937 random(11);
  std::vector<ThreadInput> inputs(96);
  for (ThreadInput& input : inputs) {
    input.handle = handle;
    for (std::size_t i = 0; i < 8; ++i) {
      input.words[i] = word_of(static_cast<float>(random() % 4000) / 100 - 10);
    }
    input.words[8] = texture.element_bytes() *
        static_cast<std::uint32_t>(random() % texture.levels[0].width);
    input.words[9] =
        static_cast<std::uint32_t>(random() % texture.levels[0].height);
  }
  return inputs;
}

TEST(NativeObjects, AreReadAsByTheInterpreter) {
  const std::string code =
      "@%q tex.2d.v4.f32.f32 {%d0, %d1, %d2, %d3}|%p, [%t, {%i0, %i1}];\n"
      "add.f32 %i0, %d0, %d1;\n"
      "tex.grad.2d.v4.f32.f32 {%d1, %d2, %d3, %i1}, [%t, {%i0, %i2}], {%i3, "
      "%i4}, {%i5, %i6}, {%i8, %i9};\n"
      "add.f32 %d0, %d1, %i1;\n"
      "suld.b.2d.b8.trap {%h0}, [%t, {%i8, %i9}];\n"
      "cvt.u32.u16 %d1, %h0;\n"
      "@%p sust.b.2d.b8.trap [%t, {%i8, %i9}], {%h0};\n"
      "txq.width.b32 %d2, [%t];\n"
      "add.u32 %d2, %d2, %d1;\n";
  for (unsigned seed = 1; seed < 6; ++seed) {
    TestDevice device;
    TextureWish wish;
    const TextureModel model(device, wish, seed);
    const std::uint64_t handle = device.textures().add(model.texture);
    const auto inputs = drawn_inputs(handle, model.texture);
    set_native_mode(NativeMode::kOff);
    const auto plain = run_texture_kernel(device, code, inputs);
    const std::uint64_t before = native_regions();
    set_native_mode(NativeMode::kAlways);
    const auto native = run_texture_kernel(device, code, inputs);
    const auto again = run_texture_kernel(device, code, inputs);
    set_native_mode(NativeMode::kOff);
    EXPECT_GT(native_regions(), before);
    ASSERT_EQ(plain.size(), inputs.size());
    ASSERT_EQ(native.size(), inputs.size());
    ASSERT_EQ(again.size(), inputs.size());
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      for (const auto& other : {native[i], again[i]}) {
        EXPECT_EQ(plain[i].words, other.words) << i;
        EXPECT_EQ(plain[i].predicate, other.predicate) << i;
      }
    }
  }
}

TEST(NativeObjects, ThatAreNoneStopTheKernel) {
  set_native_mode(NativeMode::kAlways);
  TestDevice device;
  const std::vector<ThreadInput> inputs(64);
  const std::string report = texture_fault(
      device,
      "tex.2d.v4.f32.f32 {%d0, %d1, %d2, %d3}, [%t, {%i0, %i1}];\n",
      inputs,
      FaultKind::kIllegalInstruction);
  EXPECT_NE(report.find("no texture"), std::string::npos) << report;
  set_native_mode(NativeMode::kOff);
}

} // namespace
} // namespace cudasim::engine::testing
