#include "base/secrets.h"

#include "base/digest.h"
#include "base/files.h"
#include "base/json_dump.h"
#include "base/random_bits.h"
#include "base/text.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <mutex>
#include <shared_mutex>
#include <system_error>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <sys/stat.h>
#include <unistd.h>

namespace winnow {
namespace {

constexpr std::size_t kShortestSecret = 6;
constexpr std::string_view kMark = "[key]";

struct Secrets {
  std::shared_mutex mutex;
  std::vector<std::string> values; ///< longer ones first: one may be a part of another
};

Secrets& secrets() {
  static Secrets all;
  return all;
}

void cut(std::string& text, const std::string& secret) {
  std::size_t found = text.find(secret);
  if (found == std::string::npos) {
    return;
  }
  std::string clean;
  std::size_t begin = 0;
  for (; found != std::string::npos; found = text.find(secret, begin)) {
    clean.append(text, begin, found - begin).append(kMark);
    begin = found + secret.size();
  }
  text = clean.append(text, begin);
}

namespace fs = std::filesystem;

constexpr std::size_t kSecretDigits = 64;

/// Only the user can put files there.
bool is_own_folder(const fs::path& folder) {
  struct stat status {};
  return stat(folder.c_str(), &status) == 0 && S_ISDIR(status.st_mode) &&
         status.st_uid == geteuid() && (status.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

bool is_own_file(const struct stat& status) {
  return S_ISREG(status.st_mode) && status.st_uid == geteuid() &&
         (status.st_mode & (S_IRWXG | S_IRWXO)) == 0;
}

/// Empty if there is no such file, or if it is not the user's alone.
std::string read_secret(const fs::path& path) {
  const int file = open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
  if (file < 0) {
    return {};
  }
  struct stat status {};
  std::array<char, kSecretDigits> digits{};
  const bool is_good = fstat(file, &status) == 0 && is_own_file(status) &&
                       read(file, digits.data(), digits.size()) == ssize_t{kSecretDigits};
  close(file);
  return is_good ? std::string(digits.data(), digits.size()) : std::string();
}

/// Several processes may come here at once: the first link() wins, and no reader sees half a file.
void create_secret(const fs::path& path) {
  const std::string partial = fmt::format("{}.{}", path.string(), getpid());
  const int file = open(partial.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                        S_IRUSR | S_IWUSR);
  if (file < 0) {
    return;
  }
  std::string digits;
  for (int i = 0; i < 4; ++i) {
    digits += fmt::format("{:016x}", random_bits());
  }
  const bool is_whole = write(file, digits.data(), digits.size()) == ssize_t{kSecretDigits};
  close(file);
  if (is_whole) {
    static_cast<void>(link(partial.c_str(), path.c_str()));
  }
  unlink(partial.c_str());
}

} // namespace

void keep_secret(std::string_view secret) {
  if (secret.size() < kShortestSecret) {
    return;
  }
  const std::string in_json = json_line(std::string(secret));
  Secrets& all = secrets();
  const std::unique_lock lock(all.mutex);
  for (const std::string& form : {std::string(secret), in_json.substr(1, in_json.size() - 2)}) {
    if (!contains(all.values, form)) {
      all.values.push_back(form);
    }
  }
  std::stable_sort(all.values.begin(), all.values.end(),
                   [](const auto& a, const auto& b) { return a.size() > b.size(); });
}

std::optional<std::string> take_variable(const std::string& name) {
  char* value = std::getenv(name.c_str());
  if (value == nullptr) {
    return std::nullopt;
  }
  std::string taken = value;
  explicit_bzero(value, taken.size());
  unsetenv(name.c_str());
  return taken;
}

void cut_secrets(std::string& text) {
  Secrets& all = secrets();
  const std::shared_lock lock(all.mutex);
  for (const std::string& secret : all.values) {
    cut(text, secret);
  }
}

std::string without_secrets(std::string text) {
  cut_secrets(text);
  return text;
}

std::string user_secret() {
  const fs::path folder = user_state_directory();
  std::error_code ignored;
  if (fs::create_directories(folder, ignored)) {
    fs::permissions(folder, fs::perms::owner_all, ignored);
  }
  if (!is_own_folder(folder)) {
    return {};
  }
  const fs::path path = folder / "secret";
  if (std::string secret = read_secret(path); !secret.empty()) {
    return secret;
  }
  create_secret(path);
  return read_secret(path);
}

std::string user_seal(std::string_view purpose, std::string_view text) {
  const std::string secret = user_secret();
  return secret.empty() ? std::string()
                        : hmac_sha256_hex(secret, fmt::format("winnow {}\n{}", purpose, text));
}

} // namespace winnow
