// Fat binaries: what is found in them, and what is said of damaged ones.
#include "runtime/code/fatbin/fatbin.h"

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <lz4.h>

#include <string>
#include <vector>

#include "runtime/code/fatbin/testing/fat_binary.h"

namespace accelerator::fatbin {
namespace {

using testing::image_of;
using testing::put;

constexpr std::uint64_t kPlain = 0x11;
constexpr std::uint64_t kLz4 = 0x2011;
constexpr std::uint64_t kZstd = 0x8011;

// One entry as nvcc 12.4 writes it.
std::string entry(
    std::uint16_t kind,
    std::uint32_t architecture,
    const std::string& payload,
    std::uint64_t flags = kPlain,
    std::uint64_t unpacked = 0) {
  std::string padded = payload;
  padded.resize((payload.size() + 7) / 8 * 8);
  std::string header(72, '\0');
  put<std::uint16_t>(header, 0, kind);
  put<std::uint16_t>(header, 2, 0x101);
  put<std::uint32_t>(header, 4, 72);
  put<std::uint64_t>(header, 8, padded.size());
  put<std::uint32_t>(header, 16, flags == kPlain ? 0 : payload.size());
  put<std::uint32_t>(header, 28, architecture);
  put<std::uint64_t>(header, 40, flags);
  put<std::uint64_t>(header, 56, unpacked);
  return header + padded;
}

std::string packed_entry(std::uint32_t architecture, const std::string& text) {
  std::string packed(LZ4_compressBound(static_cast<int>(text.size())), '\0');
  packed.resize(LZ4_compress_default(
      text.data(),
      packed.data(),
      static_cast<int>(text.size()),
      static_cast<int>(packed.size())));
  return entry(1, architecture, packed, kLz4, text.size());
}

// By the system's libzstd, as the code under test has it.
std::string zstd_entry(std::uint32_t architecture, const std::string& text) {
  static void* const library = dlopen("libzstd.so.1", RTLD_NOW);
  auto compress = reinterpret_cast<std::size_t (*)(
      void*, std::size_t, const void*, std::size_t, int)>(
      dlsym(library, "ZSTD_compress"));
  std::string packed(text.size() + 1024, '\0');
  packed.resize(
      compress(packed.data(), packed.size(), text.data(), text.size(), 3));
  return entry(1, architecture, packed, kZstd, text.size());
}

std::string lines_of_ptx(std::size_t lines) {
  std::string text;
  for (std::size_t i = 0; i < lines; ++i) {
    text += "add.s32 %r" + std::to_string(i * 7 % 1000) + ";\n";
  }
  return text;
}

std::string listing_error(const std::string& image) {
  try {
    list_entries(image.data(), image.size());
  } catch (const FatbinError& error) {
    return error.what();
  }
  return "no error";
}

std::string selection_error(const std::string& image, std::uint32_t device) {
  try {
    select_ptx(image.data(), device);
  } catch (const FatbinError& error) {
    return error.what();
  }
  return "no error";
}

TEST(Listing, SaysKindArchitectureAndCompression) {
  std::string text = ".version 8.4\n" + std::string(1000, ' ');
  std::string image = image_of(
      entry(
          2,
          80,
          "\x7f"
          "ELF") +
      packed_entry(90, text));
  std::vector<Entry> entries = list_entries(image.data(), image.size());
  ASSERT_EQ(entries.size(), 2u);
  EXPECT_EQ(entries[0].kind, Entry::Kind::kElf);
  EXPECT_EQ(entries[0].architecture, 80u);
  EXPECT_EQ(entries[0].uncompressed_size, 0u);
  EXPECT_EQ(entries[0].offset, 16u + 72u);
  EXPECT_EQ(entries[1].kind, Entry::Kind::kPtx);
  EXPECT_EQ(entries[1].compression, Entry::Compression::kLz4);
  EXPECT_EQ(entries[1].uncompressed_size, text.size());
  EXPECT_EQ(image_size(image.data()), image.size());
}

TEST(Unpacking, GivesTheTextThatWasPacked) {
  std::string text = lines_of_ptx(5000);
  std::string image = image_of(packed_entry(80, text));
  EXPECT_EQ(unpack(image.data(), list_entries(image.data())[0]), text);
}

// What NVIDIA's `fatbinary --compress-all` of CUDA 13.5 makes of kText.
constexpr char kText[] =
    ".version 7.8\n.target sm_80\n.address_size 64\n"
    ".visible .entry f(.param .u64 p) {\n.reg .u64 %rd<2>; .reg .u32 "
    "%r<2>;\nld.param.u64 %rd1,[p]; mov.u32 %r1, %tid.x; st.global.u32 "
    "[%rd1], %r1; ret; }\n\n";
constexpr char kFatbinary[] =
    "50ed55ba01001000f0000000000000000100010150000000a000000000000000"
    "9e00000040000000080007005000000000000000000000001180000000000000"
    "0000000000000000c20000000000000048000000000000000000000000000000"
    "28b52ffd20c2ad0400f2881e1f50853a0760d85113ba614b16855d46dd99f9a1"
    "c81fbf3784c6e79799205fc581cc80b3b87c863c0e6c5105258d7db650f7e271"
    "24b9aae9ecb11c247130f9b85238432807c787b4ac09f081f58551e8a7c6cd52"
    "41e20c8ed4ea1746afdfa5b930dfc66ba87bd9b9a64968a0a91f57e216351b35"
    "9caa5ef35e1a092050c2f966601c8cffdeb95324e43348d025f3248338030000";

std::string from_hex(const char* digits) {
  std::string bytes;
  for (; *digits != '\0'; digits += 2) {
    bytes += static_cast<char>(std::stoi(std::string(digits, 2), nullptr, 16));
  }
  return bytes;
}

TEST(Unpacking, OfZstdGivesWhatNvidiasFatbinaryPacked) {
  const std::string image = from_hex(kFatbinary);
  Entry packed = list_entries(image.data(), image.size()).at(0);
  EXPECT_EQ(packed.compression, Entry::Compression::kZstd);
  EXPECT_EQ(packed.uncompressed_size, sizeof(kText));
  EXPECT_EQ(select_ptx(image.data(), 80, image.size()), kText);
  EXPECT_NE(selection_error(image, 75).find("compute_80"), std::string::npos);
}

// What NVIDIA's `fatbinary --concat --ident=a.cu` of CUDA 13.5 makes of
// text_for("75"), text_for("80") and text_for("100f").
constexpr char kBundle[] =
    "50ed55ba01001000b80100000000000000010101500100006800000000000000"
    "6400000040000000010000000000000000000000000000001180000000000000"
    "0000000000000000f00000000000000003000000100100000100010100000000"
    "50000000000000000000000048000000080008004b0000004000000004000000"
    "110000000000000000000000000000000000000000000000612e637500000000"
    "5000000000000000000000000000000001000101500000005000000000000000"
    "0000000048000000080008005000000040000000040000001100000000000000"
    "00000000000000000000000000000000612e6375000000005000000000000000"
    "000000000000000001000101a000000050000000000000000000000048000000"
    "0800080064000000400000000400000011002000000000000000000000000000"
    "0000000000000000612e63750000000050000000000000000000000000000000"
    "28b52ffd20f0dd020002c5121a7069db40422d4b9573011b27a1aa2ac8a26a8c"
    "b45157f5f7b93fcb98c41ce3161774ee15478e75c4364b7c1606cadaf014c033"
    "a18c9873954a784b0019f89d844d8d77f09c1d94371b060400a9c24916509c02"
    "0805036600000000";

std::string text_for(const std::string& architecture) {
  return ".version 8.8\n.target sm_" + architecture +
      "\n.address_size 64\n.visible .entry f() { ret; }\n";
}

constexpr std::size_t kTable = 16 + 64; // of kBundle
constexpr std::size_t kFirstInBundle = kTable + 8;

TEST(Bundle, GivesEachOfItsEntries) {
  const std::string image = from_hex(kBundle);
  const std::vector<Entry> entries = list_entries(image.data(), image.size());
  ASSERT_EQ(entries.size(), 3u);
  std::vector<std::string> names;
  for (const Entry& entry : entries) {
    EXPECT_EQ(entry.kind, Entry::Kind::kPtx);
    names.push_back(entry.architecture_name());
    const std::string text = unpack(image.data(), entry);
    EXPECT_EQ(text.substr(0, text.find('\0')), text_for(names.back()));
  }
  EXPECT_EQ(names, (std::vector<std::string>{"75", "80", "100f"}));
  EXPECT_EQ(select_ptx(image.data(), 89, image.size()), text_for("80"));
  EXPECT_EQ(select_ptx(image.data(), 103, image.size()), text_for("100f"));
  EXPECT_EQ(select_ptx(image.data(), 120, image.size()), text_for("80"));
  EXPECT_EQ(
      list_text(entries),
      "PTX for compute_75, PTX for compute_80, PTX for compute_100f");
}

TEST(Bundle, ThatIsDamagedIsNamedWithItsPlace) {
  const std::string whole = from_hex(kBundle);
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const std::vector<char> cut(whole.data(), whole.data() + size);
    EXPECT_THROW(list_entries(cut.data(), size), DamagedError) << size;
  }
  const auto changed = [&](std::size_t at, std::uint32_t value) {
    std::string image = whole;
    put<std::uint32_t>(image, at, value);
    return listing_error(image);
  };
  const std::string place = "damaged fat binary: ";
  EXPECT_EQ(
      changed(kTable, 4),
      place + "an entry of a bundle that is cut off at offset 352");
  EXPECT_EQ(
      changed(kTable, ~0u),
      place + "an entry of a bundle that is cut off at offset 352");
  EXPECT_EQ(
      changed(kTable, 2),
      place + "88 bytes behind a bundle's entries at offset 264");
  EXPECT_EQ(
      changed(kTable + 4, 4),
      place + "a table of 4 bytes where there are 272 at offset 84");
  EXPECT_EQ(
      changed(kTable + 4, ~0u),
      place + "a table of 4294967295 bytes where there are 272 at offset 84");
  // Its place in what is unpacked, its size, its name and its options.
  EXPECT_EQ(
      changed(kFirstInBundle + 4, 161),
      place + "an entry of 80 bytes at 161 of a bundle of 240 at offset 96");
  EXPECT_EQ(
      changed(kFirstInBundle + 12, 1),
      place +
          "an entry of 4294967376 bytes at 0 of a bundle of 240 at offset 96");
  for (const std::size_t field : {20, 32, 36, 72, 76}) {
    EXPECT_EQ(
        changed(kFirstInBundle + field, ~0u).substr(0, place.size()), place)
        << field;
  }
}

TEST(Unpacking, OfZstdGivesTheTextThatWasPacked) {
  for (std::size_t lines : {0, 1, 7, 5000, 100000}) {
    std::string text = lines_of_ptx(lines);
    std::string image = image_of(zstd_entry(80, text));
    EXPECT_EQ(unpack(image.data(), list_entries(image.data()).at(0)), text);
  }
}

TEST(Selection, TakesTheHighestArchitectureThatTheDeviceHas) {
  std::string image = image_of(
      entry(1, 70, "seventy") + entry(1, 90, "ninety") +
      packed_entry(80, "eighty") + entry(2, 86, "machine code"));
  EXPECT_EQ(select_ptx(image.data(), 90), "ninety");
  EXPECT_EQ(select_ptx(image.data(), 89), "eighty");
  EXPECT_EQ(select_ptx(image.data(), 75), "seventy");
}

constexpr std::uint64_t kExact = 0x100011; // compute_90a
constexpr std::uint64_t kFamily = 0x200011; // compute_100f

TEST(Selection, LeavesOutWhatIsForOtherDevicesAlone) {
  const std::string image = image_of(
      entry(1, 80, "eighty") + entry(1, 90, "ninety a", kExact) +
      entry(1, 90, "ninety") + entry(1, 100, "hundred f", kFamily));
  EXPECT_EQ(select_ptx(image.data(), 89), "eighty");
  EXPECT_EQ(select_ptx(image.data(), 90), "ninety a");
  EXPECT_EQ(select_ptx(image.data(), 100), "hundred f");
  EXPECT_EQ(select_ptx(image.data(), 103), "hundred f");
  EXPECT_EQ(select_ptx(image.data(), 120), "ninety");
  const std::string one = image_of(entry(1, 90, "ninety a", kExact));
  EXPECT_NE(
      selection_error(one, 100).find("has PTX for compute_90a;"),
      std::string::npos);
  const std::string lto = image_of(entry(8, 80, "intermediate"));
  EXPECT_NE(
      selection_error(lto, 80).find("has LTO IR for lto_80;"),
      std::string::npos);
}

TEST(Selection, SaysWhatThereIsAndWhatToDo) {
  std::string image =
      image_of(entry(1, 90, "ninety") + entry(2, 80, "machine code"));
  EXPECT_EQ(
      selection_error(image, 80),
      "no PTX for a device of compute capability 8.0: the fat binary has PTX "
      "for compute_90, machine code for sm_80; compile with nvcc -gencode "
      "arch=compute_80,code=compute_80");
}

TEST(Damage, IsNamedWithItsPlace) {
  EXPECT_EQ(
      listing_error("tiny"),
      "not a fat binary: 4 bytes are fewer than its header has");
  EXPECT_EQ(
      listing_error(std::string(64, 'x')),
      "not a fat binary: it does not begin with 0xBA55ED50");
  EXPECT_NE(
      listing_error(
          "\x7f"
          "ELF" +
          std::string(60, '\0'))
          .find("cubin"),
      std::string::npos);
  std::string good = image_of(entry(1, 80, "text"));
  EXPECT_EQ(
      listing_error(good.substr(0, good.size() - 8)),
      "damaged fat binary: a size of 96 bytes where there are 88 at offset 8");
  std::string large = good;
  put<std::uint64_t>(large, 16 + 8, ~std::uint64_t{0});
  EXPECT_EQ(
      listing_error(large),
      "damaged fat binary: an entry of 18446744073709551615 bytes where 8 "
      "are left at offset 16");
}

TEST(Damage, IsFoundWhereverAnImageIsCutOff) {
  // Copies of exactly that size, so that a sanitizer sees their end.
  const std::string whole =
      image_of(packed_entry(80, "some text") + entry(1, 70, "text"));
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const std::vector<char> cut(whole.data(), whole.data() + size);
    EXPECT_THROW(list_entries(cut.data(), size), DamagedError) << size;
    EXPECT_THROW(select_ptx(cut.data(), 80, size), DamagedError) << size;
  }
  EXPECT_EQ(select_ptx(whole.data(), 80, whole.size()), "some text");
}

TEST(Damage, OfPackedDataIsFound) {
  std::string image = image_of(packed_entry(80, "some text to pack, packed"));
  for (std::size_t i = 16 + 72; i < image.size(); ++i) {
    image[i] = '\xff';
  }
  EXPECT_EQ(
      selection_error(image, 80),
      "damaged fat binary: LZ4 data that does not unpack at offset 88");
  put<std::uint64_t>(image, 16 + 56, 1 << 30);
  EXPECT_NE(selection_error(image, 80).find("cannot hold"), std::string::npos);
}

TEST(Damage, OfZstdDataIsFound) {
  const std::string text = lines_of_ptx(100);
  const std::string whole = image_of(zstd_entry(80, text));
  // No byte of the data may be another's without a text of another length, an
  // error, or, within literals, other letters.
  for (std::size_t i = 16 + 72; i < whole.size(); ++i) {
    std::string image = whole;
    image[i] = static_cast<char>(~image[i]);
    try {
      EXPECT_LE(select_ptx(image.data(), 80).size(), text.size());
    } catch (const DamagedError& error) {
      EXPECT_STREQ(
          error.what(),
          "damaged fat binary: zstd data that does not unpack at offset 88");
    }
  }
  for (std::uint64_t unpacked : {text.size() - 1, text.size() + 1}) {
    std::string image = whole;
    put<std::uint64_t>(image, 16 + 56, unpacked);
    EXPECT_NE(
        selection_error(image, 80).find("does not unpack"), std::string::npos);
  }
  std::string image = whole;
  put<std::uint64_t>(image, 16 + 56, std::uint64_t{1} << 40);
  EXPECT_NE(selection_error(image, 80).find("cannot hold"), std::string::npos);
}

} // namespace
} // namespace accelerator::fatbin
