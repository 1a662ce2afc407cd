#include "evaluators/device/cpu/compile/module_check.h"
#include "evaluators/device/elf_reader.h"

#include <cstddef>
#include <cstdint>

// A module is built from a candidate's code: its tables may say anything.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace winnow::evaluators;
  try {
    const ElfReader reader(std::string(reinterpret_cast<const char*>(data), size));
    check_module(reader, BuildMode::Plain);
    read_signatures(reader, 2);
  } catch (const ElfError&) {
    return 0;
  }
  return 0;
}
