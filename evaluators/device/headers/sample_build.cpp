#include "evaluators/device/headers/sample_build.h"

#include "base/error.h"
#include "evaluators/device/headers/device_headers.h"

#include <array>
#include <cstdio>
#include <cstdlib>
#include <utility>

#include <dlfcn.h>
#include <fmt/format.h>

namespace winnow::evaluators {
namespace {

BuildOutcome run(const std::string& command) {
  BuildOutcome outcome;
  FILE* pipe = popen((command + " 2>&1").c_str(), "r");
  if (pipe == nullptr) {
    throw Error("popen: " + command);
  }
  std::array<char, 4096> buffer;
  while (fgets(buffer.data(), int(buffer.size()), pipe) != nullptr) {
    outcome.log += buffer.data();
  }
  outcome.ok = pclose(pipe) == 0;
  return outcome;
}

} // namespace

bool has_program(const std::string& program) { return run("command -v " + program).ok; }

SampleBuild::SampleBuild(std::string compiler, std::string flags)
    : compiler_(std::move(compiler)), flags_(std::move(flags)) {
  write_device_headers(directory_.path());
}

std::string SampleBuild::command(const std::filesystem::path& source) const {
  return fmt::format("cd {} && {} -std=c++17 -O2 -fPIC -nostdinc -nostdinc++ -fno-strict-aliasing "
                     "-fvisibility=hidden -Wall -Wextra -Wno-unused-function -Wno-comment {} "
                     "-Icpu -Icommon -include winnow_cpu.h -x c++ {}",
                     directory_.path().string(), compiler_, flags_, source.string());
}

BuildOutcome SampleBuild::compile(const std::string& name, const std::string& text) const {
  const auto source = directory_.path() / name;
  write_file_atomic(source, text);
  return run(command(name) + " -c -o sample.o");
}

void SampleBuild::load(const std::string& name) {
  if (const auto loaded = libraries_.find(name); loaded != libraries_.end()) {
    library_ = loaded->second;
    return;
  }
  const auto outcome = run(command(std::filesystem::path(WINNOW_SAMPLES) / name) +
                           " -Werror -shared -o " + name + ".so");
  if (!outcome.ok) {
    throw Error(fmt::format("{} does not build with {}:\n{}", name, compiler_, outcome.log));
  }
  library_ = dlopen((directory_.path() / (name + ".so")).c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library_ == nullptr) {
    throw Error(fmt::format("{}: {}", name, dlerror()));
  }
  libraries_.emplace(name, library_);
}

void* SampleBuild::symbol(const std::string& name) const {
  void* found = dlsym(library_, name.c_str());
  if (found == nullptr) {
    throw Error("the sample has no function " + name);
  }
  return found;
}

SampleBuild& sample_build(const std::string& compiler, const std::string& flags) {
  static std::map<std::pair<std::string, std::string>, SampleBuild> builds;
  return builds.try_emplace({compiler, flags}, compiler, flags).first->second;
}

} // namespace winnow::evaluators
