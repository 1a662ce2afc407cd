#include "harness/serve/access.h"

#include "base/digest.h"
#include "base/error.h"
#include "base/files.h"
#include "base/packing.h"
#include "base/text.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>

#include <fmt/format.h>

namespace winnow::harness {
namespace {

constexpr std::size_t kMinTokenBytes = 16;
constexpr std::uint64_t kMaxFileBytes = std::uint64_t{1} << 20U;
constexpr const char* kLocal = "local";
constexpr const char* kOnly = "default";

/// Looks at all bytes, so that the time does not tell how many are right.
bool is_same(std::string_view a, std::string_view b) {
  unsigned difference = a.size() == b.size() ? 0U : 1U;
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    difference |= static_cast<unsigned char>(a[i]) ^ static_cast<unsigned char>(b[i]);
  }
  return difference == 0;
}

bool has_scheme(std::string_view field, std::string_view scheme) {
  return field.size() > scheme.size() && field[scheme.size()] == ' ' &&
         std::equal(scheme.begin(), scheme.end(), field.begin(), [](char a, char b) {
           return a == (b >= 'A' && b <= 'Z' ? static_cast<char>(b - 'A' + 'a') : b);
         });
}

std::string token_in(std::string_view field) {
  if (has_scheme(field, "bearer")) {
    return std::string(trim(field.substr(7)));
  }
  if (has_scheme(field, "basic")) {
    const std::string pair = decode_base64(trim(field.substr(6))).value_or("");
    const std::size_t colon = pair.find(':');
    return colon == std::string::npos ? "" : pair.substr(colon + 1);
  }
  return {};
}

} // namespace

void Access::add(std::string owner, const std::string& token) {
  if (token.size() < kMinTokenBytes) {
    throw UsageError(
        fmt::format("the token of '{}' has fewer than {} characters", owner, kMinTokenBytes),
        "make one with: openssl rand -hex 32");
  }
  const bool is_known = std::any_of(owners_.begin(), owners_.end(),
                                    [&](const Owner& other) { return other.name == owner; });
  if (is_known) {
    throw UsageError("two tokens have the owner '" + owner + "'",
                     "give each token an owner of its own");
  }
  owners_.push_back({std::move(owner), sha256_hex(token)});
}

void Access::add_file(const std::filesystem::path& file) {
  const std::string text = read_file(file, kMaxFileBytes);
  int number = 0;
  for (const std::string_view raw : split_lines(text)) {
    ++number;
    const std::string_view line = trim(raw);
    if (line.empty() || line.starts_with('#')) {
      continue;
    }
    const std::size_t gap = line.find_first_of(" \t");
    const bool has_owner = gap != std::string_view::npos;
    const std::string_view token = has_owner ? trim(line.substr(gap)) : line;
    try {
      add(has_owner ? std::string(line.substr(0, gap)) : kOnly, std::string(token));
    } catch (const UsageError& error) {
      throw UsageError(fmt::format("{}:{}: {}", file.string(), number, error.what()),
                       error.remedy());
    }
  }
  if (!has_tokens()) {
    throw UsageError(file.string() + " has no token", "write a line: OWNER TOKEN");
  }
}

void Access::add_variable(const std::string& name) {
  const char* value = std::getenv(name.c_str());
  if (value == nullptr || *value == '\0') {
    throw UsageError("--token-env: the environment variable " + name + " is not set");
  }
  add(kOnly, value);
  unsetenv(name.c_str()); // no child process gets the token
}

std::optional<std::string> Access::owner_of(std::string_view authorization) const {
  if (!has_tokens()) {
    return kLocal;
  }
  const std::string digest = sha256_hex(token_in(authorization));
  std::optional<std::string> owner;
  for (const Owner& known : owners_) {
    if (is_same(known.digest, digest)) {
      owner = known.name;
    }
  }
  return owner;
}

} // namespace winnow::harness
