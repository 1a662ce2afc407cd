// Allows system calls only from the code that is loaded now. A candidate for the CPU is machine
// code in a process of Winnow's. If it jumps to code that it hid in a constant, that code must have
// no effect.
#include "base/error.h"
#include "process/fence.h"

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include <elf.h>
#include <link.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace winnow::process {
namespace {

/// A range of code addresses from `begin` to `last`, both included. `last` is included because a
/// filter sees the address after the instruction that made the call.
struct CodeRange {
  std::uint64_t begin = 0;
  std::uint64_t last = 0;
};

int add_code(dl_phdr_info* object, std::size_t, void* ranges) {
  for (int i = 0; i < object->dlpi_phnum; ++i) {
    const ElfW(Phdr)& segment = object->dlpi_phdr[i];
    if (segment.p_type == PT_LOAD && (segment.p_flags & PF_X) != 0) {
      const std::uint64_t begin = object->dlpi_addr + segment.p_vaddr;
      static_cast<std::vector<CodeRange>*>(ranges)->push_back({begin, begin + segment.p_memsz});
    }
  }
  return 0;
}

constexpr std::uint32_t high_word(std::uint64_t address) {
  return static_cast<std::uint32_t>(address >> 32U);
}
constexpr std::uint32_t low_word(std::uint64_t address) {
  return static_cast<std::uint32_t>(address);
}

constexpr bool kLittleEndian = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__;
constexpr std::uint32_t kPointer = offsetof(seccomp_data, instruction_pointer);
constexpr std::uint32_t kLowWord = kPointer + (kLittleEndian ? 0 : 4);
constexpr std::uint32_t kHighWord = kPointer + (kLittleEndian ? 4 : 0);

/// A filter compares 32-bit words, so a range must not cross a multiple of 2^32.
std::vector<CodeRange> split_at_word_borders(const std::vector<CodeRange>& ranges) {
  constexpr std::uint64_t kWord = std::uint64_t{1} << 32U;
  std::vector<CodeRange> parts;
  for (CodeRange range : ranges) {
    while (high_word(range.begin) != high_word(range.last)) {
      const std::uint64_t border = (range.begin / kWord + 1) * kWord;
      parts.push_back({range.begin, border - 1});
      range.begin = border;
    }
    parts.push_back(range);
  }
  return parts;
}

std::vector<sock_filter> filter_for(const std::vector<CodeRange>& ranges) {
  std::vector<sock_filter> program;
  for (const CodeRange& range : split_at_word_borders(ranges)) {
    program.push_back(BPF_STMT(BPF_LD | BPF_W | BPF_ABS, kHighWord));
    program.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, high_word(range.begin), 0, 4));
    program.push_back(BPF_STMT(BPF_LD | BPF_W | BPF_ABS, kLowWord));
    program.push_back(BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, low_word(range.begin), 0, 2));
    program.push_back(BPF_JUMP(BPF_JMP | BPF_JGT | BPF_K, low_word(range.last), 1, 0));
    program.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
  }
  program.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS));
  return program;
}

} // namespace

void restrict_to_loaded_code() {
  std::vector<CodeRange> ranges;
  dl_iterate_phdr(add_code, &ranges);
  std::vector<sock_filter> program = filter_for(ranges);
  const sock_fprog filter{static_cast<unsigned short>(program.size()), program.data()};
  if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &filter) != 0) {
    throw Error(std::string("seccomp: cannot restrict loaded code: ") + std::strerror(errno),
                "the kernel needs CONFIG_SECCOMP_FILTER; in a container, allow seccomp(2)");
  }
}

} // namespace winnow::process
