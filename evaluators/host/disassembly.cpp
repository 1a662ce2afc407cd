#include "evaluators/host/disassembly.h"

#include "base/error.h"
#include "base/files.h"
#include "base/text.h"
#include "evaluators/device/gpu/compile/runtime_compiler.h"
#include "evaluators/device/inspect/gpu_module.h"
#include "evaluators/device/vendors/gpu_vendors.h"
#include "process/child_process.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include <fmt/format.h>
#include <unistd.h>

namespace winnow::evaluators {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::seconds kDisassembleWithin{30};
constexpr std::uint64_t kDisassemblerBytes = std::uint64_t{2} << 30U;

struct Tool {
  fs::path program;
  const Disassembler* form = nullptr;
};

std::vector<fs::path> with_path(std::vector<fs::path> folders) {
  const char* variable = std::getenv("PATH");
  std::string_view path = variable != nullptr ? variable : "/usr/local/bin:/usr/bin:/bin";
  while (!path.empty()) {
    folders.emplace_back(path.substr(0, path.find(':')));
    path.remove_prefix(std::min(path.size(), folders.back().native().size() + 1));
  }
  return folders;
}

Tool find_tool(const GpuVendor& vendor, const std::vector<fs::path>& folders) {
  std::vector<std::string> names;
  for (const Disassembler& form : vendor.disassemblers) {
    names.emplace_back(form.program);
    for (const fs::path& folder : with_path(folders)) {
      const fs::path program = folder / form.program;
      if (program.is_absolute() && access(program.c_str(), X_OK) == 0) {
        return {fs::canonical(program), &form};
      }
    }
  }
  throw UsageError(fmt::format("no tool of this machine disassembles code of {}: there is no {}",
                               vendor.gpu, join(names, " and no ")),
                   fmt::format("install one of them, or put its folder into PATH ({})",
                               vendor.disassemblers.front().package));
}

process::Command tool_command(const Tool& tool, const fs::path& image,
                              const process::Sandbox& sandbox) {
  process::SandboxPolicy policy;
  policy.readable = {tool.program.parent_path(), image.parent_path()};
  policy.may_spawn = true; // the child becomes the tool
  process::ProcessLimits limits;
  limits.wall = kDisassembleWithin;
  limits.cpu = kDisassembleWithin;
  limits.memory_bytes = kDisassemblerBytes;
  limits.output_bytes = kMostDisassembly * 2; // of which the end is cut
  std::vector<std::string> arguments{tool.program.string()};
  for (const char* option : tool.form->options) {
    if (option != nullptr) {
      arguments.emplace_back(option);
    }
  }
  arguments.push_back(image.string());
  return sandbox.command("_disassemble", arguments, policy, limits);
}

} // namespace

std::string disassembly(const fs::path& module, const std::string& kind,
                        const std::vector<fs::path>& folders, const process::Sandbox& sandbox) {
  const Tool tool = find_tool(gpu_vendor(kind), folders);
  const GpuModuleFile compiled = read_gpu_module(module);
  const TemporaryDirectory folder("disassembly");
  const fs::path image = folder.path() / "kernels";
  write_file_atomic(image, std::string_view(reinterpret_cast<const char*>(compiled.image.data()),
                                            compiled.image.size()));
  const process::ChildResult child = process::run_child(tool_command(tool, image, sandbox), "");
  const bool is_cut = child.end == process::ChildResult::End::OutputLimit;
  if (!is_cut && (child.end != process::ChildResult::End::Exited || child.exit_code != 0)) {
    throw Error(fmt::format("{} {}: {}", tool.program.string(), describe(child),
                            shortened(to_valid_utf8(trim(child.err)), 400)));
  }
  return truncate_text(to_valid_utf8(child.out), kMostDisassembly);
}

std::vector<fs::path> tool_folders(const std::string& kind, const std::string& architecture) {
  const fs::path library = gpu_vendor(kind).find_toolchain(architecture).library;
  const fs::path toolkit = library.parent_path().parent_path(); // of TOOLKIT/lib64/libnvrtc.so
  return {toolkit / "bin", toolkit / "llvm" / "bin"};
}

int disassemble_worker_main(std::vector<std::string> arguments) {
  process::enter_sandbox(arguments);
  if (arguments.empty()) {
    throw Error("usage: _disassemble PROGRAM [ARGUMENT]...");
  }
  std::vector<char*> command;
  for (std::string& argument : arguments) {
    command.push_back(argument.data());
  }
  command.push_back(nullptr);
  execv(command.front(), command.data());
  throw Error("cannot start " + arguments.front() + ": " + std::strerror(errno));
}

} // namespace winnow::evaluators
