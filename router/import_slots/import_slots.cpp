// ELF as the dynamic linker of Linux keeps it: finding slots and writing them.

#include "router/import_slots/import_slots.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>
#include <set>

namespace accelerator::import_slots {
namespace {

#if defined(__x86_64__)
constexpr std::uint32_t kCallSlot = R_X86_64_JUMP_SLOT;
constexpr std::uint32_t kDataSlot = R_X86_64_GLOB_DAT;
#elif defined(__aarch64__)
constexpr std::uint32_t kCallSlot = R_AARCH64_JUMP_SLOT;
constexpr std::uint32_t kDataSlot = R_AARCH64_GLOB_DAT;
#else
#error "the slots of this processor's libraries are not known here"
#endif

// What a library's dynamic section says about its slots.
struct Tables {
  const ElfW(Sym) * symbols = nullptr;
  const char* strings = nullptr;
  const ElfW(Rela) * calls = nullptr;
  std::size_t calls_size = 0;
  const ElfW(Rela) * data = nullptr;
  std::size_t data_size = 0;
  std::size_t relative = 0;
};

Tables read_tables(const dl_phdr_info& library) {
  Tables tables;
  const ElfW(Dyn)* dynamic = nullptr;
  for (int i = 0; i < library.dlpi_phnum; ++i) {
    if (library.dlpi_phdr[i].p_type == PT_DYNAMIC) {
      dynamic = reinterpret_cast<const ElfW(Dyn)*>(
          library.dlpi_addr + library.dlpi_phdr[i].p_vaddr);
    }
  }
  for (; dynamic != nullptr && dynamic->d_tag != DT_NULL; ++dynamic) {
    // glibc has added the address of the library; the vdso's are offsets.
    const auto address = dynamic->d_un.d_ptr;
    switch (dynamic->d_tag) {
      case DT_SYMTAB:
        tables.symbols = reinterpret_cast<const ElfW(Sym)*>(address);
        break;
      case DT_STRTAB:
        tables.strings = reinterpret_cast<const char*>(address);
        break;
      case DT_JMPREL:
        tables.calls = reinterpret_cast<const ElfW(Rela)*>(address);
        break;
      case DT_PLTRELSZ:
        tables.calls_size = dynamic->d_un.d_val / sizeof(ElfW(Rela));
        break;
      case DT_RELA:
        tables.data = reinterpret_cast<const ElfW(Rela)*>(address);
        break;
      case DT_RELASZ:
        tables.data_size = dynamic->d_un.d_val / sizeof(ElfW(Rela));
        break;
      case DT_RELACOUNT:
        // They come first, have no symbol, and are most of a large library.
        tables.relative = dynamic->d_un.d_val;
        break;
      default:
        break;
    }
  }
  if (tables.relative <= tables.data_size) {
    tables.data += tables.relative;
    tables.data_size -= tables.relative;
  }
  return tables;
}

bool is_read_only(const dl_phdr_info& library, ElfW(Addr) address) {
  for (int i = 0; i < library.dlpi_phnum; ++i) {
    const auto& segment = library.dlpi_phdr[i];
    const auto begin = library.dlpi_addr + segment.p_vaddr;
    if (segment.p_type == PT_GNU_RELRO && address >= begin &&
        address < begin + segment.p_memsz) {
      return true;
    }
  }
  return false;
}

// A slot is written as a whole: other threads call the one or the other.
bool write_slot(const dl_phdr_info& library, void** slot, void* value) {
  const auto page_size = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  const auto address = reinterpret_cast<std::uintptr_t>(slot);
  void* page = reinterpret_cast<void*>(address & ~(page_size - 1));
  const bool read_only = is_read_only(library, address);
  if (read_only && mprotect(page, page_size, PROT_READ | PROT_WRITE) != 0) {
    return false;
  }
  __atomic_store_n(slot, value, __ATOMIC_RELEASE);
  if (read_only) {
    mprotect(page, page_size, PROT_READ);
  }
  return true;
}

struct Request {
  const Redirection* redirections;
  std::size_t count;
  const char* const* skipped;
  bool restoring;
  std::size_t written;
};

void rewrite(
    const dl_phdr_info& library,
    const Tables& tables,
    const ElfW(Rela) * slots,
    std::size_t count,
    Request& request) {
  for (std::size_t i = 0; i < count; ++i) {
    const auto type = static_cast<std::uint32_t>(ELF64_R_TYPE(slots[i].r_info));
    if (type != kCallSlot && type != kDataSlot) {
      continue;
    }
    const auto& symbol = tables.symbols[ELF64_R_SYM(slots[i].r_info)];
    const char* name = tables.strings + symbol.st_name;
    for (std::size_t r = 0; r < request.count; ++r) {
      const Redirection& redirection = request.redirections[r];
      if (*redirection.original == nullptr ||
          std::strcmp(name, redirection.symbol) != 0) {
        continue;
      }
      auto** slot =
          reinterpret_cast<void**>(library.dlpi_addr + slots[i].r_offset);
      void* current = __atomic_load_n(slot, __ATOMIC_ACQUIRE);
      // Lazily bound slots hold neither of the two until the first call.
      const bool wanted = request.restoring
          ? current == redirection.replacement
          : current != redirection.replacement;
      void* value =
          request.restoring ? *redirection.original : redirection.replacement;
      if (wanted && write_slot(library, slot, value)) {
        ++request.written;
      }
    }
  }
}

bool is_skipped(const char* path, const char* const* skipped) {
  for (; skipped != nullptr && *skipped != nullptr; ++skipped) {
    if (std::strncmp(path, *skipped, std::strlen(*skipped)) == 0) {
      return true;
    }
  }
  return false;
}

// Where the libraries lie that were redirected already. One that is unloaded
// may leave its place to another.
struct Done {
  std::set<ElfW(Addr)> places;
  unsigned long long unloaded = 0;
};

Done& done() {
  static Done places;
  return places;
}

int visit(dl_phdr_info* library, std::size_t /*size*/, void* data) {
  auto& request = *static_cast<Request*>(data);
  const char* path = library->dlpi_name;
  if (request.restoring || done().unloaded != library->dlpi_subs) {
    done() = Done{{}, library->dlpi_subs};
  }
  if (!request.restoring && !done().places.insert(library->dlpi_addr).second) {
    return 0;
  }
  if (path == nullptr || std::strncmp(path, "linux-vdso", 10) == 0 ||
      is_skipped(path, request.skipped)) {
    return 0;
  }
  const Tables tables = read_tables(*library);
  if (tables.symbols != nullptr && tables.strings != nullptr) {
    rewrite(*library, tables, tables.calls, tables.calls_size, request);
    rewrite(*library, tables, tables.data, tables.data_size, request);
  }
  return 0;
}

struct Search {
  const char* library;
  void* handle;
};

int find_library(dl_phdr_info* library, std::size_t /*size*/, void* data) {
  auto& search = *static_cast<Search*>(data);
  const char* slash = std::strrchr(library->dlpi_name, '/');
  const char* name = slash != nullptr ? slash + 1 : library->dlpi_name;
  if (std::strncmp(name, search.library, std::strlen(search.library)) != 0) {
    return 0;
  }
  search.handle = dlopen(library->dlpi_name, RTLD_LAZY | RTLD_NOLOAD);
  return search.handle != nullptr;
}

} // namespace

void find_originals(
    const char* library,
    const Redirection* redirections,
    std::size_t count) {
  Search search{library, nullptr};
  dl_iterate_phdr(find_library, &search);
  if (search.handle == nullptr) {
    return;
  }
  for (std::size_t i = 0; i < count; ++i) {
    if (*redirections[i].original == nullptr) {
      *redirections[i].original = dlsym(search.handle, redirections[i].symbol);
    }
  }
  dlclose(search.handle);
}

std::size_t redirect(
    const Redirection* redirections,
    std::size_t count,
    const char* const* skipped) {
  Request request{redirections, count, skipped, false, 0};
  dl_iterate_phdr(visit, &request);
  return request.written;
}

std::size_t restore(const Redirection* redirections, std::size_t count) {
  Request request{redirections, count, nullptr, true, 0};
  dl_iterate_phdr(visit, &request);
  return request.written;
}

} // namespace accelerator::import_slots
