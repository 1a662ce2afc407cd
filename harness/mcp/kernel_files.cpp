#include "harness/mcp/kernel_files.h"

#include "base/error.h"
#include "base/text.h"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace winnow::harness {
namespace {

constexpr std::size_t kMostNameBytes = 100;

bool is_name_character(char c) {
  return is_word_character(c) || c == '.' || c == '-' || c == '+';
}

void check_name(const std::string& name) {
  const bool good = !name.empty() && name.size() <= kMostNameBytes && name.front() != '.' &&
                    std::all_of(name.begin(), name.end(), is_name_character);
  if (!good) {
    throw UsageError(
        fmt::format("'{}' is no name for a kernel", shortened(to_valid_utf8(name), 60)),
        "name it with at most 100 letters, digits, '_', '-', '+' and '.', without a "
        "folder: tiled_128.cu");
  }
}

} // namespace

std::string KernelFiles::word_of_file(const std::string& file) {
  if (file.empty() || file == "-") {
    throw UsageError("'" + file + "' names no kernel file",
                     "give a path, @ID of a candidate, or the kernel itself as text");
  }
  return file;
}

std::string KernelFiles::word_of(const nlohmann::json& kernel) {
  if (kernel.contains("text") == kernel.contains("file")) {
    throw UsageError("a kernel has a text or a file, and not both",
                     R"(write {"name": "tiled.cu", "text": "..."} or {"file": "tiled.cu"})");
  }
  return kernel.contains("file") ? word_of_file(kernel["file"].get<std::string>()) : write(kernel);
}

std::string KernelFiles::write(const nlohmann::json& kernel) {
  const std::string name = kernel.value("name", fmt::format("kernel_{}.cu", names_.size() + 1));
  check_name(name);
  if (!names_.insert(name).second) {
    throw UsageError("two kernels have the name '" + name + "'", "give each another name");
  }
  if (!folder_) {
    folder_.emplace("mcp");
  }
  const std::filesystem::path path = folder_->path() / name;
  write_file_atomic(path, kernel["text"].get<std::string>(), Readers::Owner);
  return path.string();
}

std::string KernelFiles::with_given_names(std::string text) const {
  if (!folder_) {
    return text;
  }
  const std::string before = folder_->path().string() + "/";
  for (std::size_t at = text.find(before); at != std::string::npos; at = text.find(before, at)) {
    text.erase(at, before.size());
  }
  return text;
}

} // namespace winnow::harness
