// Source: System V ABI, chapter 4 (object files); ar(5). The names of the
// sections are in CUDA's fatbinary_section.h.
#include "runtime/code/fatbin/containers.h"

#include <elf.h>

#include <charconv>
#include <cstring>
#include <utility>

#include "runtime/code/fatbin/fatbin.h"

namespace accelerator::fatbin {
namespace {

constexpr std::string_view kArchiveMagic = "!<arch>\n";
constexpr std::string_view kFatBinaryMagic = "\x50\xed\x55\xba";
constexpr std::string_view kElfMagic =
    "\x7f"
    "ELF";
constexpr std::size_t kFatBinaryAlignment = 8;

bool begins_with(std::string_view text, std::string_view begin) {
  return text.substr(0, begin.size()) == begin;
}

[[noreturn]] void fail(const std::string& name, const char* what) {
  throw DamagedError(name + ": " + what);
}

template <class T>
T read(std::string_view bytes, std::size_t offset, const std::string& name) {
  if (offset > bytes.size() || bytes.size() - offset < sizeof(T)) {
    fail(name, "damaged object file: it is cut off");
  }
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof(value));
  return value;
}

class Search {
 public:
  explicit Search(std::uint32_t capability) : capability_(capability) {}

  void search_all(std::string_view file, const std::string& name) {
    if (begins_with(file, kArchiveMagic)) {
      archive(file, name);
    } else {
      search(file, name);
    }
  }

  std::vector<FoundPtx> found() {
    return std::move(found_);
  }

  const DeviceCode& code() const {
    return code_;
  }

 private:
  void search(std::string_view file, const std::string& name) {
    if (begins_with(file, kElfMagic)) {
      object(file, name);
    } else if (begins_with(file, kFatBinaryMagic)) {
      fat_binaries(file, name);
    } else if (begins_with(file, ".version") || begins_with(file, "//")) {
      found_.push_back({name, std::string(file)});
    }
  }

  void archive(std::string_view file, const std::string& name) {
    constexpr std::size_t kHeader = 60;
    std::string_view long_names;
    for (std::size_t at = kArchiveMagic.size(); at < file.size();) {
      if (file.size() - at < kHeader) {
        fail(name, "damaged archive: a member is cut off");
      }
      const std::string_view header = file.substr(at, kHeader);
      std::size_t size = 0;
      std::from_chars(header.data() + 48, header.data() + 58, size);
      at += kHeader;
      if (size > file.size() - at) {
        fail(name, "damaged archive: a member is cut off");
      }
      const std::string_view content = file.substr(at, size);
      const std::string_view member = header.substr(0, 16);
      if (begins_with(member, "// ")) {
        long_names = content;
      } else if (!begins_with(member, "/ ") && member != "/SYM64/         ") {
        search(content, name + "(" + member_name(member, long_names) + ")");
      }
      at += size + size % 2;
    }
  }

  // "x.o/", or "/12", which is an offset into the table of long names.
  static std::string member_name(
      std::string_view field,
      std::string_view long_names) {
    std::size_t offset = 0;
    if (field[0] == '/' &&
        std::from_chars(field.data() + 1, field.data() + field.size(), offset)
                .ec == std::errc() &&
        offset < long_names.size()) {
      field = long_names.substr(offset);
    }
    return std::string(field.substr(0, field.find_first_of("/\n ")));
  }

  void object(std::string_view file, const std::string& name) {
    const auto header = read<Elf64_Ehdr>(file, 0, name);
    if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_shoff == 0) {
      return;
    }
    const auto section = [&](std::size_t index) {
      return read<Elf64_Shdr>(
          file, header.e_shoff + index * sizeof(Elf64_Shdr), name);
    };
    const auto content = [&](const Elf64_Shdr& part) {
      if (part.sh_type == SHT_NOBITS) {
        return std::string_view();
      }
      if (part.sh_offset > file.size() ||
          part.sh_size > file.size() - part.sh_offset) {
        fail(name, "damaged object file: a section is cut off");
      }
      return file.substr(part.sh_offset, part.sh_size);
    };
    if (header.e_shstrndx >= header.e_shnum) {
      return;
    }
    const std::string_view names = content(section(header.e_shstrndx));
    for (std::size_t i = 0; i < header.e_shnum; ++i) {
      const Elf64_Shdr part = section(i);
      if (part.sh_name >= names.size()) {
        continue;
      }
      std::string_view title = names.substr(part.sh_name);
      title = title.substr(0, title.find('\0'));
      // The second one has what is compiled to be linked (-rdc=true).
      if (title == ".nv_fatbin" || title == "__nv_relfatbin") {
        fat_binaries(content(part), name);
      }
    }
  }

  // One behind the other.
  void fat_binaries(std::string_view bytes, const std::string& name) {
    std::size_t at = 0;
    while (at < bytes.size() &&
           begins_with(bytes.substr(at), kFatBinaryMagic)) {
      const std::string_view image = bytes.substr(at);
      const std::vector<Entry> entries =
          list_entries(image.data(), image.size());
      for (const Entry& entry : entries) {
        code_.any = true;
        code_.lto_ir |= entry.kind == Entry::Kind::kLtoIr;
      }
      for (const Entry& entry : entries) {
        if (entry.is_ptx_for(capability_)) {
          found_.push_back(
              {name, select_ptx(image.data(), capability_, image.size())});
          break;
        }
      }
      at += (image_size(image.data()) + kFatBinaryAlignment - 1) /
          kFatBinaryAlignment * kFatBinaryAlignment;
    }
  }

  std::uint32_t capability_;
  std::vector<FoundPtx> found_;
  DeviceCode code_;
};

} // namespace

std::vector<FoundPtx> find_ptx(
    std::string_view file,
    const std::string& name,
    std::uint32_t capability) {
  Search search(capability);
  search.search_all(file, name);
  return search.found();
}

DeviceCode find_code(std::string_view file, const std::string& name) {
  Search search(0);
  search.search_all(file, name);
  return search.code();
}

} // namespace accelerator::fatbin
