#include "harness/report/terminal.h"

#include "base/error.h"
#include "base/files.h"
#include "base/text.h"

#include <cstdlib>
#include <filesystem>
#include <utility>
#include <vector>

#include <sys/ioctl.h>
#include <unistd.h>

namespace winnow::harness {
namespace {

namespace fs = std::filesystem;

constexpr const char* kStoreDirectory = "runs";
// Used by commands that write although no run exists.
constexpr const char* kFirstStore = "baselines.db";
constexpr const char* kFromEnvironment = "from $WINNOW_STORE";
constexpr const char* kNewest = "the newest";

std::vector<fs::path> stores_in(const fs::path& directory) {
  std::vector<fs::path> stores;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(directory.empty() ? "." : directory, ignored)) {
    if (entry.path().extension() == ".db") {
      stores.push_back(directory / entry.path().filename());
    }
  }
  return stores;
}

std::string store_of_environment() {
  const char* variable = std::getenv("WINNOW_STORE");
  return variable != nullptr ? variable : "";
}

/// Of runs/ and of the user's data directory; empty when they have none.
fs::path newest_store() {
  fs::path newest;
  fs::file_time_type newest_time;
  for (const fs::path& directory : {fs::path(kStoreDirectory), user_data_directory()}) {
    for (const fs::path& store : stores_in(directory)) {
      const auto time = fs::last_write_time(store);
      if (newest.empty() || time > newest_time) {
        newest = store;
        newest_time = time;
      }
    }
  }
  return newest;
}

/// What take_chosen_store() returns next.
std::string& chosen_store() {
  static std::string text;
  return text;
}

/// Notes how the store was chosen, for the end of the command.
std::string chosen(const std::string& store, const std::string& how) {
  chosen_store() = store + " (" + how + "; --store names another)";
  return store;
}

std::optional<std::size_t> columns_of(int descriptor) {
  if (const char* columns = std::getenv("COLUMNS")) {
    const long value = std::strtol(columns, nullptr, 10);
    if (value > 0) {
      return static_cast<std::size_t>(value);
    }
  }
  winsize size{};
  const bool known = ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  return known ? std::optional<std::size_t>(size.ws_col) : std::nullopt;
}

} // namespace

bool stdout_is_terminal() {
  return isatty(STDOUT_FILENO) == 1;
}

bool stderr_is_terminal() {
  return isatty(STDERR_FILENO) == 1;
}

std::size_t terminal_columns() {
  return columns_of(STDERR_FILENO).value_or(kUsualColumns);
}

std::optional<std::size_t> output_columns() {
  return columns_of(STDOUT_FILENO);
}

std::string find_store(const std::string& given) {
  if (!given.empty()) {
    return require_store(given);
  }
  if (const std::string named = store_of_environment(); !named.empty()) {
    return chosen(require_store(named), kFromEnvironment);
  }
  const fs::path newest = newest_store();
  if (newest.empty()) {
    throw UsageError("the command names no store, and there is no *.db file in runs/ or " +
                         user_data_directory().string(),
                     "name a store with --store FILE, or create one: winnow run");
  }
  return chosen(newest.string(), kNewest);
}

std::string find_store_to_write(const std::string& given) {
  if (!given.empty()) {
    return given;
  }
  if (const std::string named = store_of_environment(); !named.empty()) {
    return chosen(named, kFromEnvironment);
  }
  const fs::path newest = newest_store();
  return newest.empty() ? chosen((user_data_directory() / kFirstStore).string(), "the first one")
                        : chosen(newest.string(), kNewest);
}

std::string take_chosen_store() {
  return std::exchange(chosen_store(), {});
}

std::string require_store(const std::string& path) {
  if (!fs::exists(path)) {
    std::vector<std::string> near;
    for (const fs::path& store : stores_in(fs::path(path).parent_path())) {
      near.push_back(store.string());
    }
    throw UsageError(path + ": no such store" + suggestion(path, near));
  }
  return path;
}

} // namespace winnow::harness
