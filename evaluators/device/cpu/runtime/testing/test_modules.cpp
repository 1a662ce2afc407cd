#include "evaluators/device/cpu/runtime/testing/test_modules.h"

#include "base/error.h"
#include "base/files.h"
#include "evaluators/device/cpu/compile/toolchain.h"

#include <cstdio>
#include <cstdlib>
#include <map>
#include <tuple>

#include <fmt/format.h>

namespace winnow::evaluators {
namespace {

const std::string kHeaders = WINNOW_SOURCE_DIR "/evaluators/device";

bool runs(const std::string& command) {
  return std::system(command.c_str()) == 0;
}

std::string find_compiler() {
  for (const char* name : {"clang++", "g++"}) {
    if (runs(fmt::format("{} --version >/dev/null 2>&1", name))) {
      return name;
    }
  }
  return "";
}

const std::string& first_compiler() {
  static const std::string compiler = find_compiler();
  return compiler;
}

std::string wraps() {
  std::string options;
  for (const std::string& symbol : wrapped_symbols()) {
    options += " --wrap=" + symbol;
  }
  return options;
}

std::string module_text(const std::string& source, const std::vector<std::string>& kernels) {
  std::string text = "#include \"winnow_core.h\"\n#line 1\n" + source +
                     "\nextern \"C\" const WinnowKernel winnow_kernels[] = {\n";
  for (const std::string& kernel : kernels) {
    text += fmt::format("WINNOW_KERNEL(\"{0}\", {0}),\n", kernel);
  }
  return text + "};\nWINNOW_MODULE\n";
}

/// Builds STEM.so of STEM.cpp.
void build(const std::string& stem, const std::string& compiler, bool check) {
  std::string mode = check ? "-O1 -g1 -fsanitize=thread -DWINNOW_CHECK=1" : "-O2";
  if (check && compiler.find("clang") != std::string::npos) {
    mode += " -mllvm -tsan-compound-read-before-write";
  }
  const std::string command = fmt::format(
      "{0} -std=c++17 {1} -w -fPIC -fvisibility=hidden -fno-strict-aliasing -nostdinc -nostdinc++ "
      "-fno-exceptions -fno-rtti -fno-delete-null-pointer-checks -ffunction-sections "
      "-I{2}/headers/cpu -I{2}/cpu -c {3}.cpp -o "
      "{3}.o && "
      "ld -shared {4} {3}.o -o {3}.so",
      compiler, mode, kHeaders, stem, check ? wraps() : "--gc-sections");
  if (!runs(command)) {
    throw Error("cannot build a test module: " + command);
  }
}

} // namespace

std::string why_no_compiler() {
  if (first_compiler().empty()) {
    return "neither clang++ nor g++ is installed";
  }
  return runs("ld --version >/dev/null 2>&1") ? "" : "ld is not installed";
}

std::filesystem::path build_module(const std::string& source,
                                   const std::vector<std::string>& kernels, const TestModule& how) {
  static const TemporaryDirectory directory("runtime-test");
  static std::map<std::tuple<std::string, std::string, bool>, std::string> built;
  static int count = 0;
  const std::string stem = (directory.path() / std::to_string(++count)).string();
  const std::string text = module_text(source, kernels);
  const std::string compiler = how.compiler.empty() ? first_compiler() : how.compiler;
  std::string& first = built[{text, compiler, how.check}];
  if (!first.empty()) { // a copy: the variables of a module are its own
    std::filesystem::copy_file(first, stem + ".so");
    return stem + ".so";
  }
  write_file_atomic(stem + ".cpp", text);
  build(stem, compiler, how.check);
  first = stem + ".so";
  return first;
}

tasks::LaunchStep launch_step(const std::string& kernel, std::int64_t blocks, std::int64_t threads,
                              std::vector<tasks::ResolvedArgument> arguments) {
  tasks::LaunchStep step;
  step.kernel = kernel;
  step.grid = {blocks, 1, 1};
  step.block = {threads, 1, 1};
  step.arguments = std::move(arguments);
  return step;
}

tasks::ResolvedArgument buffer_argument(const std::string& name) {
  tasks::ResolvedArgument argument;
  argument.kind = tasks::ResolvedArgument::Kind::Pointer;
  argument.buffer = name;
  argument.size_bytes = 8;
  return argument;
}

tasks::ResolvedArgument int_argument(std::int64_t value) {
  tasks::ResolvedArgument argument;
  argument.integer = value;
  argument.size_bytes = 4;
  return argument;
}

tasks::ResolvedArgument float_argument(double value) {
  tasks::ResolvedArgument argument;
  argument.kind = tasks::ResolvedArgument::Kind::Float;
  argument.real = value;
  argument.size_bytes = 4;
  return argument;
}

void CpuDeviceTest::SetUp() {
  if (const std::string why = why_no_compiler(); !why.empty()) {
    GTEST_SKIP() << why;
  }
  GTEST_FLAG_SET(death_test_style, "threadsafe"); // the device has threads
}

std::unique_ptr<Device> CpuDeviceTest::make(unsigned workers, int deadline_ms) {
  CpuDeviceOptions options;
  options.workers = workers;
  options.deadline = std::chrono::milliseconds(deadline_ms);
  options.on_fatal = [](const DeviceFault& fault) {
    std::fprintf(stderr, "%s: %s\n", std::string(to_string(fault.verdict)).c_str(),
                 fault.detail.c_str());
  };
  return make_cpu_device(options);
}

std::unique_ptr<Device> CpuDeviceTest::load(const std::string& source, std::size_t count,
                                            int deadline_ms) {
  auto device = make(2, deadline_ms);
  device->load_module(build_module(source, {"k"}));
  upload(*device, device->allocate("y", count * sizeof(float), false),
         std::vector<float>(count, 0));
  return device;
}

std::vector<tasks::Step> CpuDeviceTest::on_y(std::int64_t blocks, std::int64_t threads) {
  return {launch_step("k", blocks, threads, {buffer_argument("y")})};
}

} // namespace winnow::evaluators
