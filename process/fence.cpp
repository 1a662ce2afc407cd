#include "process/fence.h"

#include "base/error.h"
#include "base/text.h"

#include <unistd.h>

namespace winnow::process {
namespace {

constexpr std::string_view kPrefix = "--fence-";

template <typename Number> Number parse_number(std::string_view name, std::string_view text) {
  const auto value = whole_number<Number>(text);
  if (!value) {
    throw Error("hidden option --fence-" + std::string(name) + ": '" + std::string(text) +
                "' is not a number in range");
  }
  return *value;
}

void set_option(Fence& fence, std::string_view name, std::string_view value) {
  if (name == "level") {
    const auto level = isolation_from_string(value);
    if (!level) {
      throw Error("hidden option --fence-level: unknown level '" + std::string(value) + "'");
    }
    fence.level = *level;
  } else if (name == "parent") {
    fence.parent_pid = parse_number<int>(name, value);
  } else if (name == "cpu-seconds") {
    fence.limits.cpu = std::chrono::seconds(parse_number<std::int64_t>(name, value));
  } else if (name == "memory-bytes") {
    fence.limits.memory_bytes = parse_number<std::uint64_t>(name, value);
  } else if (name == "file-bytes") {
    fence.limits.file_bytes = parse_number<std::uint64_t>(name, value);
  } else if (name == "processes") {
    fence.limits.processes = parse_number<unsigned>(name, value);
  } else if (name == "read") {
    fence.policy.readable.emplace_back(value);
  } else if (name == "write") {
    fence.policy.writable = value;
  } else if (name == "spawn") {
    fence.policy.may_spawn = value == "1";
  } else if (name == "loads-code") {
    fence.policy.loads_code = value == "1";
  } else if (name == "gpu") {
    fence.policy.gpu = value == "1";
  } else {
    throw Error("unknown hidden option --fence-" + std::string(name));
  }
}

} // namespace

bool has_keeper(Isolation level, const SandboxPolicy& policy) {
  return level == Isolation::Rlimits || (level == Isolation::LandlockSeccomp && policy.may_spawn);
}

std::vector<std::string> fence_options(const Fence& fence) {
  std::vector<std::string> options;
  const auto add = [&](std::string_view name, std::string_view value) {
    options.push_back(std::string(kPrefix) + std::string(name) + "=" + std::string(value));
  };
  add("level", to_string(fence.level));
  add("parent", std::to_string(fence.parent_pid));
  add("cpu-seconds", std::to_string(fence.limits.cpu.count()));
  add("memory-bytes", std::to_string(fence.limits.memory_bytes));
  add("file-bytes", std::to_string(fence.limits.file_bytes));
  add("processes", std::to_string(fence.limits.processes));
  for (const std::filesystem::path& path : fence.policy.readable) {
    add("read", path.string());
  }
  if (!fence.policy.writable.empty()) {
    add("write", fence.policy.writable.string());
  }
  add("spawn", fence.policy.may_spawn ? "1" : "0");
  add("loads-code", fence.policy.loads_code ? "1" : "0");
  add("gpu", fence.policy.gpu ? "1" : "0");
  return options;
}

Fence take_fence_options(std::vector<std::string>& arguments) {
  Fence fence;
  std::size_t count = 0; // only leading options; later arguments belong to the subcommand
  for (; count < arguments.size() && arguments[count].starts_with(kPrefix); ++count) {
    const std::string_view option = std::string_view(arguments[count]).substr(kPrefix.size());
    const std::size_t equals = option.find('=');
    if (equals == std::string_view::npos) {
      throw Error("hidden option " + arguments[count] + " has no value");
    }
    set_option(fence, option.substr(0, equals), option.substr(equals + 1));
  }
  if (count == 0) {
    throw Error("only winnow itself starts this hidden subcommand, in a sandbox",
                "`winnow --help` lists the commands that you can use");
  }
  arguments.erase(arguments.begin(), arguments.begin() + static_cast<std::ptrdiff_t>(count));
  return fence;
}

} // namespace winnow::process
