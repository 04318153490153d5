// Objects of the host and archives: where PTX is found in them.
#include "runtime/code/fatbin/containers.h"

#include <elf.h>
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "runtime/code/fatbin/fatbin.h"
#include "runtime/code/fatbin/testing/fat_binary.h"

namespace accelerator::fatbin {
namespace {

using testing::fat_binary;
using testing::put;

constexpr std::uint16_t kPtx = 1;
constexpr std::uint16_t kCode = 2;

/// An object file with sections of these names and contents.
std::string object(
    const std::vector<std::pair<std::string, std::string>>& sections) {
  std::string file(sizeof(Elf64_Ehdr), '\0');
  std::string names(1, '\0');
  std::vector<Elf64_Shdr> headers(1);
  const auto append = [&](const std::string& name, const std::string& content) {
    Elf64_Shdr header{};
    header.sh_name = static_cast<Elf64_Word>(names.size());
    header.sh_type = SHT_PROGBITS;
    header.sh_offset = file.size();
    header.sh_size = content.size();
    headers.push_back(header);
    names += name + std::string(1, '\0');
    file += content;
  };
  for (const auto& [name, content] : sections) {
    append(name, content);
  }
  append(".shstrtab", "");
  headers.back().sh_size = names.size();
  file += names;
  Elf64_Ehdr header{};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_shoff = file.size();
  header.e_shnum = static_cast<Elf64_Half>(headers.size());
  header.e_shstrndx = static_cast<Elf64_Half>(headers.size() - 1);
  put(file, 0, header);
  return file +
      std::string(
             reinterpret_cast<const char*>(headers.data()),
             headers.size() * sizeof(Elf64_Shdr));
}

std::string member(const std::string& name, const std::string& content) {
  std::string header(60, ' ');
  header.replace(0, name.size(), name);
  const std::string size = std::to_string(content.size());
  header.replace(48, size.size(), size);
  header.replace(58, 2, "`\n");
  return header + content + (content.size() % 2 == 0 ? "" : "\n");
}

using Found = std::vector<std::pair<std::string, std::string>>;

Found found(const std::string& file, const std::string& name = "x") {
  Found result;
  for (const FoundPtx& part : find_ptx(file, name, 80)) {
    result.emplace_back(part.name, part.ptx);
  }
  return result;
}

TEST(FindPtx, TextIsPtx) {
  EXPECT_EQ(found(".version 7.0"), (Found{{"x", ".version 7.0"}}));
  EXPECT_EQ(found("// by hand"), (Found{{"x", "// by hand"}}));
  EXPECT_EQ(found("something else"), Found{});
  EXPECT_EQ(found(""), Found{});
}

TEST(FindPtx, AFatBinaryGivesThatForTheDevice) {
  EXPECT_EQ(found(fat_binary(kPtx, "text")), (Found{{"x", "text"}}));
  EXPECT_EQ(found(fat_binary(kPtx, "text", 90)), Found{});
  EXPECT_EQ(found(fat_binary(kCode, "code")), Found{});
}

TEST(FindPtx, AnObjectGivesAllOfBothSections) {
  const std::string file = object(
      {{".text", "code"},
       {".nv_fatbin", fat_binary(kPtx, "one")},
       {"__nv_relfatbin",
        fat_binary(kPtx, "two") + fat_binary(kCode, "code") +
            fat_binary(kPtx, "three")},
       {".nv_fatbin.not", fat_binary(kPtx, "no")}});
  EXPECT_EQ(found(file), (Found{{"x", "one"}, {"x", "two"}, {"x", "three"}}));
  EXPECT_EQ(found(object({{".text", "code"}})), Found{});
}

TEST(FindPtx, AnArchiveGivesThatOfItsMembers) {
  const std::string file = "!<arch>\n" + member("/", "index") +
      member("//", "a_rather_long_name.o/\nanother_long_name.o/\n") +
      member("short.o/", object({{".nv_fatbin", fat_binary(kPtx, "one")}})) +
      member("/22", fat_binary(kPtx, "two")) + member("/0", ".version 7.0") +
      member("readme/", "odd");
  EXPECT_EQ(
      found(file, "lib.a"),
      (Found{
          {"lib.a(short.o)", "one"},
          {"lib.a(another_long_name.o)", "two"},
          {"lib.a(a_rather_long_name.o)", ".version 7.0"}}));
}

TEST(FindCode, TellsWhatAFileHas) {
  constexpr std::uint16_t kLtoIr = 8;
  const auto code = [](const std::string& file) {
    const DeviceCode found = find_code(file, "x");
    return std::pair(found.any, found.lto_ir);
  };
  EXPECT_EQ(code(object({{".text", "code"}})), std::pair(false, false));
  EXPECT_EQ(
      code(object({{".nv_fatbin", fat_binary(kCode, "code")}})),
      std::pair(true, false));
  EXPECT_EQ(
      code(object(
          {{"__nv_relfatbin",
            fat_binary(kPtx, "one") + fat_binary(kLtoIr, "two")}})),
      std::pair(true, true));
  EXPECT_EQ(code(fat_binary(kLtoIr, "code")), std::pair(true, true));
  const std::string file = "!<arch>\n" + member("a.o/", object({})) +
      member("b.o/", object({{"__nv_relfatbin", fat_binary(kLtoIr, "one")}}));
  EXPECT_EQ(code(file), std::pair(true, true));
  EXPECT_EQ(code("!<arch>\n" + member("a.o/", "odd")), std::pair(false, false));
}

TEST(FindPtx, WhatIsCutOffIsAnError) {
  const std::string good = "!<arch>\n" +
      member("x.o/", object({{".nv_fatbin", fat_binary(kPtx, "one")}}));
  EXPECT_EQ(found(good).size(), 1u);
  for (std::size_t size = 9; size < good.size(); ++size) {
    EXPECT_THROW(found(good.substr(0, size)), DamagedError) << size;
  }
  const std::string object_file =
      object({{".nv_fatbin", fat_binary(kPtx, "one")}});
  for (std::size_t size = 4; size < object_file.size(); ++size) {
    EXPECT_THROW(found(object_file.substr(0, size)), DamagedError) << size;
  }
  EXPECT_THROW(
      found(object({{".nv_fatbin", fat_binary(kPtx, "one").substr(0, 84)}})),
      DamagedError);
}

} // namespace
} // namespace accelerator::fatbin
