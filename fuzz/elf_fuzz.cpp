#include "evaluators/device/cpu/compile/module_check.h"
#include "evaluators/device/inspect/code_object.h"
#include "evaluators/device/inspect/cubin.h"
#include "evaluators/device/inspect/cubin_findings.h"
#include "evaluators/device/inspect/elf_reader.h"
#include "evaluators/device/inspect/entry_symbols.h"
#include "evaluators/device/inspect/module_findings.h"

#include <cstddef>
#include <cstdint>
#include <functional>

// A module is built from a candidate's code, so its tables may contain anything.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace winnow::evaluators;
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  const std::vector<std::string> kernels{"k"};
  const std::map<std::string, std::string> symbols{{"k", "k"}};
  const std::function<void(const ElfReader&)> readers[] = {
      [](const ElfReader& elf) { check_module(elf, BuildMode::Plain); },
      [](const ElfReader& elf) { read_signatures(elf, 2); },
      [](const ElfReader& elf) { read_constants(elf, 1); },
      [&](const ElfReader& elf) { read_cubin_resources(elf, kernels, symbols, ""); },
      [&](const ElfReader& elf) { read_code_object_resources(elf, kernels, symbols); },
      [&](const ElfReader& elf) { inspect_cubin(elf, symbols, "sm_90a", ""); },
      [&](const ElfReader& elf) { inspect_cpu_module(elf, "__constant__ int k;"); }};
  for (const auto& read : readers) {
    try {
      read(ElfReader(bytes));
    } catch (const ElfError&) {
      continue;
    }
  }
  return 0;
}
