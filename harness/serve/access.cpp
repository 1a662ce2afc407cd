#include "harness/serve/access.h"

#include "base/digest.h"
#include "base/error.h"
#include "base/files.h"
#include "base/packing.h"
#include "base/secrets.h"
#include "base/text.h"

#include <algorithm>
#include <cctype>
#include <cstdint>

#include <fmt/format.h>

namespace winnow::harness {
namespace {

constexpr std::size_t kMinTokenBytes = 16;
constexpr std::uint64_t kMaxFileBytes = std::uint64_t{1} << 20U;
constexpr const char* kOnly = "default";
constexpr const char* kBoard = "board";
constexpr const char* kReadsAll = "reads_all";

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

/// Throws UsageError if others than its owner may read the file.
std::string private_text(const std::filesystem::path& file) {
  if (const auto mode = mode_if_shared(file)) {
    throw UsageError(fmt::format("{} holds tokens, and other users may use it: its mode is {:04o}",
                                 file.string(), *mode),
                     "run: chmod 600 " + file.string());
  }
  return read_file(file, kMaxFileBytes);
}

std::vector<std::string> words_of(std::string_view line) {
  std::vector<std::string> words;
  for (line = trim(line); !line.empty(); line = trim(line)) {
    words.emplace_back(line.substr(0, line.find_first_of(" \t")));
    line.remove_prefix(words.back().size());
  }
  return words;
}

bool is_header_word(const std::string& token) {
  return std::all_of(token.begin(), token.end(), [](char c) { return c > ' ' && c < '\x7f'; });
}

/// Owners' names go to terminals, logs and the store. `local` has what was sent without tokens.
void check_name(const std::string& owner) {
  constexpr std::size_t kMaxBytes = 64;
  const bool is_plain = std::all_of(owner.begin(), owner.end(), [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '.' || c == '_' || c == '-';
  });
  if (!is_plain || owner.empty() || owner.size() > kMaxBytes || owner == kLocalOwner) {
    throw UsageError("the name of an owner is no plain word, or it is 'local'",
                     "use up to 64 letters, digits, '.', '_' and '-'");
  }
}

} // namespace

std::size_t Access::clients() const {
  return std::max<std::size_t>(owners_.size(), 1);
}

std::size_t Access::owners() const {
  const std::size_t all = clients();
  return all > 1 && has_board_ ? all - 1 : all;
}

void Access::add(Client client, const std::string& token) {
  const std::string& owner = client.owner;
  check_name(owner);
  if (token.size() < kMinTokenBytes) {
    throw UsageError(
        fmt::format("the token of '{}' has fewer than {} characters", owner, kMinTokenBytes),
        "make one with: openssl rand -hex 32");
  }
  if (!is_header_word(token)) {
    throw UsageError(
        fmt::format("the token of '{}' has characters that no header can carry", owner),
        "make one with: openssl rand -hex 32");
  }
  const bool is_known = std::any_of(owners_.begin(), owners_.end(), [&](const Owner& other) {
    return other.client.owner == owner;
  });
  if (is_known) {
    throw UsageError("two tokens have the owner '" + owner + "'",
                     "give each token an owner of its own");
  }
  const std::string digest = sha256_hex(token);
  for (const Owner& other : owners_) {
    if (other.digest == digest) {
      throw UsageError("'" + other.client.owner + "' and '" + owner + "' have the same token",
                       "give each owner a token of its own");
    }
  }
  owners_.push_back({std::move(client), digest});
}

void Access::add_file(const std::filesystem::path& file) {
  const std::string text = private_text(file);
  int number = 0;
  for (const std::string_view raw : split_lines(text)) {
    ++number;
    const std::string_view line = trim(raw);
    if (line.empty() || line.starts_with('#')) {
      continue;
    }
    try {
      add_line(words_of(line));
    } catch (const UsageError& error) {
      throw UsageError(fmt::format("{}:{}: {}", file.string(), number, error.what()),
                       error.remedy());
    }
  }
  if (!has_tokens()) {
    throw UsageError(file.string() + " has no token", "write a line: OWNER TOKEN");
  }
}

/// "TOKEN", "OWNER TOKEN", "OWNER TOKEN reads_all" or "OWNER TOKEN evaluations=100"
void Access::add_line(const std::vector<std::string>& words) {
  constexpr std::string_view kEvaluations = "evaluations=";
  const std::string more = words.size() == 3 ? words.back() : "";
  const bool reads_all = more == kReadsAll;
  const std::size_t evaluations =
      more.starts_with(kEvaluations)
          ? whole_number<std::size_t>(std::string_view(more).substr(kEvaluations.size()))
                .value_or(0)
          : 0;
  if (words.size() > 2 && !reads_all && evaluations == 0) {
    throw UsageError("the line has more than an owner and a token",
                     "write a line: OWNER TOKEN, OWNER TOKEN reads_all, or OWNER TOKEN "
                     "evaluations=100");
  }
  const bool has_owner = words.size() > 1;
  add({has_owner ? words[0] : kOnly, reads_all, evaluations}, words[has_owner ? 1 : 0]);
}

std::size_t Access::evaluations_of(const std::string& owner) const {
  const auto known = std::find_if(owners_.begin(), owners_.end(),
                                  [&](const Owner& one) { return one.client.owner == owner; });
  return known == owners_.end() ? 0 : known->client.evaluations;
}

void Access::add_board_file(const std::filesystem::path& file) {
  add({kBoard, true}, std::string(trim(private_text(file))));
  has_board_ = true;
}

void Access::let_all_read() {
  for (Owner& owner : owners_) {
    owner.client.reads_all = true;
  }
}

void Access::add_variable(const std::string& name) {
  const std::string value = take_variable(name).value_or("");
  if (value.empty()) {
    throw UsageError("--token-env: the environment variable " + name + " is not set");
  }
  keep_secret(trim(value));
  add({kOnly}, value);
}

std::optional<Client> Access::client_of(std::string_view authorization) const {
  if (!has_tokens()) {
    return Client{kLocalOwner, true};
  }
  const std::string digest = sha256_hex(token_in(authorization));
  std::optional<Client> client;
  for (const Owner& known : owners_) {
    if (is_same(known.digest, digest)) {
      client = known.client;
    }
  }
  return client;
}

} // namespace winnow::harness
