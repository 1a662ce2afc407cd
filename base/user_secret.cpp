#include "base/user_secret.h"

#include "base/digest.h"
#include "base/files.h"
#include "base/random_bits.h"

#include <array>
#include <filesystem>
#include <system_error>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

namespace winnow {
namespace {

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
