#include "evaluators/device/gpu/compile/precompiled_headers.h"

#include "base/digest.h"
#include "base/error.h"
#include "base/files.h"
#include "evaluators/device/cuda/compile/nvrtc.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdlib>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <spdlog/spdlog.h>

namespace winnow::evaluators {
namespace {

namespace fs = std::filesystem;

constexpr const char* kExtension = ".pch";
constexpr const char* kUnfinished = "unfinished-";
// CUB's file takes 190 MB, the one of cooperative groups 14 MB. Six files are enough for two
// architectures with both groups, one of them also with fast math.
constexpr std::size_t kKeptFiles = 6;
// An older unfinished file is not being written any more.
constexpr std::chrono::hours kAbandoned{1};

/// A directory beside the finished files, so that a rename can move files into place. The
/// destructor removes it.
class Scratch {
public:
  explicit Scratch(const fs::path& directory) {
    fs::create_directories(directory);
    std::string pattern = (directory / (std::string(kUnfinished) + "XXXXXX")).string();
    if (mkdtemp(pattern.data()) == nullptr) {
      throw Error("cannot create a directory in " + directory.string());
    }
    path_ = pattern;
  }
  ~Scratch() {
    std::error_code error;
    fs::remove_all(path_, error);
  }
  Scratch(const Scratch&) = delete; // removes it once
  Scratch& operator=(const Scratch&) = delete;
  const fs::path& path() const { return path_; }

private:
  fs::path path_;
};

std::string digest_of(const fs::path& file) {
  return sha256_hex(read_file(file, kMaxPrecompiledBytes));
}

// KEY-ADDRESS-DIGEST.pch. The name has all facts about the file, so file and facts appear in one
// step.
fs::path file_name(const std::string& key, std::uint64_t address, const std::string& digest) {
  return fmt::format("{}-{:x}-{}{}", key, address, digest, kExtension);
}

std::optional<std::uint64_t> address_in(const fs::path& file, const std::string& key) {
  const std::string name = file.filename().string();
  if (file.extension() != kExtension || name.rfind(key + "-", 0) != 0) {
    return std::nullopt;
  }
  std::uint64_t address = 0;
  const char* end = name.data() + name.size();
  const auto [stop, code] = std::from_chars(name.data() + key.size() + 1, end, address, 16);
  return code == std::errc{} && stop != end && *stop == '-' ? std::optional(address) : std::nullopt;
}

} // namespace

std::optional<PrecompiledHeader> PrecompiledHeaders::get(const std::string& key, const Make& make) {
  const std::lock_guard lock(mutex_);
  const auto known = known_.find(key);
  std::error_code unknown; // an error counts as a missing file
  if (known != known_.end() && (!known->second || fs::exists(known->second->file, unknown))) {
    return known->second;
  }
  std::optional<PrecompiledHeader>& entry = known_[key];
  entry.reset();
  try {
    entry = find(key);
    if (!entry) {
      entry = make_file(key, make);
    }
  } catch (const std::exception& error) {
    spdlog::debug("compiling without precompiled headers: {}", error.what());
  }
  return entry;
}

void PrecompiledHeaders::reject(const std::string& key) {
  const std::lock_guard lock(mutex_);
  std::optional<PrecompiledHeader>& entry = known_[key];
  if (entry) {
    spdlog::debug("removing {}: the compiler crashed with it", entry->file.string());
    std::error_code error;
    fs::remove(entry->file, error);
    entry.reset();
  }
}

std::optional<PrecompiledHeader> PrecompiledHeaders::find(const std::string& key) const {
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(directory_, error)) {
    const auto address = address_in(entry.path(), key);
    if (!address) {
      continue;
    }
    // NVRTC does not check the file: a truncated one crashes it or gives wrong results.
    if (entry.path() == directory_ / file_name(key, *address, digest_of(entry.path()))) {
      // Marks the file as used.
      fs::last_write_time(entry.path(), fs::file_time_type::clock::now(), error);
      return PrecompiledHeader{entry.path(), *address};
    }
    spdlog::debug("removing {}, which is damaged", entry.path().string());
    fs::remove(entry.path(), error);
  }
  return std::nullopt;
}

PrecompiledHeader PrecompiledHeaders::make_file(const std::string& key, const Make& make) const {
  const Scratch scratch(directory_);
  const fs::path made = scratch.path() / "headers.pch";
  const std::uint64_t address = make(made);
  if (!fs::is_regular_file(fs::symlink_status(made))) {
    throw Error("no precompiled header was written to " + made.string());
  }
  const fs::path file = directory_ / file_name(key, address, digest_of(made));
  fs::rename(made, file);
  remove_old(file);
  return {file, address};
}

void PrecompiledHeaders::remove_old(const fs::path& kept) const {
  std::vector<std::pair<fs::file_time_type, fs::path>> files;
  std::error_code error;
  const auto now = fs::file_time_type::clock::now();
  for (const auto& entry : fs::directory_iterator(directory_, error)) {
    const auto written = fs::last_write_time(entry.path(), error);
    if (entry.path().extension() == kExtension && entry.path() != kept) {
      files.emplace_back(written, entry.path());
    } else if (entry.path().filename().string().rfind(kUnfinished, 0) == 0 &&
               now - written > kAbandoned) {
      fs::remove_all(entry.path(), error);
    }
  }
  std::sort(files.rbegin(), files.rend());
  for (std::size_t i = kKeptFiles - 1; i < files.size(); ++i) {
    fs::remove(files[i].second, error);
  }
}

} // namespace winnow::evaluators
