#include "agents/keys/secret_shapes.h"

#include "base/error.h"
#include "base/text.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace winnow::agents {
namespace {

using nlohmann::json;

// Everywhere in a name.
constexpr std::array<std::string_view, 9> kSecretParts{"authorization", "cookie",     "password",
                                                       "passwd",        "passphrase", "secret",
                                                       "bearer",        "credential", "apikey"};
// At the end of a name, after a '-'; or the whole name. A number or an 's' may follow.
constexpr std::array<std::string_view, 7> kSecretEnds{"key", "token",     "auth", "pwd",
                                                      "jwt", "signature", "pat"};
// The same names without a '-'.
constexpr std::array<std::string_view, 8> kJoinedNames{"accesskey",   "authkey",   "privatekey",
                                                       "accesstoken", "apitoken",  "authtoken",
                                                       "bearertoken", "xauthtoken"};
// Members of requests that end so and are none.
constexpr std::array<std::string_view, 10> kHarmlessNames{
    "prompt-cache-key", "cache-key", "idempotency-key", "eos-token", "bos-token",
    "pad-token",        "unk-token", "stop-token",      "sort-key",  "think-end-token"};
constexpr std::array<std::string_view, 5> kSchemes{"bearer ", "basic ", "token ", "apikey ",
                                                   "api-key "};
constexpr std::array<std::string_view, 22> kKeyPrefixes{
    "sk-",  "sk_", "AIza", "AQ.",    "ghp_",    "gho_", "github_pat_", "glpat-",
    "gsk_", "hf_", "xai-", "nvapi-", "pplx-",   "AKIA", "ASIA",        "ya29.",
    "eyJ",  "r8_", "csk-", "fw_",    "tgp_v1_", "xoxb-"};
constexpr std::size_t kShortestTail = 16; ///< of a key, behind its prefix

/// "X-Api_Key " and "xApiKey" become "x-api-key".
std::string plain_name(std::string_view name) {
  std::string plain;
  unsigned char before = 0;
  for (const char c : trim(name)) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isupper(byte) != 0 && std::islower(before) != 0) {
      plain += '-';
    }
    plain += std::isalnum(byte) != 0 ? static_cast<char>(std::tolower(byte)) : '-';
    before = byte;
  }
  return plain;
}

bool is_key_character(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '_' || c == '.';
}

/// Whether a word of the text begins with `prefix` and goes on as a key does.
bool has_key(std::string_view text, std::string_view prefix) {
  for (std::size_t at = text.find(prefix); at != std::string_view::npos;
       at = text.find(prefix, at + 1)) {
    const bool begins_word = at == 0 || !is_key_character(text[at - 1]);
    const std::string_view tail = text.substr(at + prefix.size());
    const auto end = std::find_if_not(tail.begin(), tail.end(), is_key_character);
    if (begins_word && end - tail.begin() >= std::ptrdiff_t{kShortestTail} &&
        std::any_of(tail.begin(), end, is_digit)) {
      return true;
    }
  }
  return false;
}

/// What stands before the host: "user:password". Empty if there is none.
std::string_view userinfo_of(std::string_view url) {
  const std::string_view authority = url.substr(0, url.find_first_of("/?# \t\"'"));
  const std::size_t at = authority.rfind('@');
  return at == std::string_view::npos ? std::string_view() : authority.substr(0, at);
}

/// Whether the shell puts the secret in: "user:$PASSWORD".
bool is_variable(std::string_view userinfo) {
  return userinfo.substr(userinfo.find(':') + 1).starts_with('$');
}

bool has_url_with_user(std::string_view text, bool is_command) {
  constexpr std::string_view kMark = "://";
  for (std::size_t at = text.find(kMark); at != std::string_view::npos;
       at = text.find(kMark, at + 1)) {
    const std::string_view user = userinfo_of(text.substr(at + kMark.size()));
    if (!user.empty() && !(is_command && is_variable(user))) {
      return true;
    }
  }
  return false;
}

bool has_scheme_or_key(std::string_view text) {
  std::string lower(text.substr(0, 16));
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  const bool has_scheme = std::any_of(kSchemes.begin(), kSchemes.end(), [&](auto scheme) {
    const std::string_view rest = text.substr(std::min(scheme.size(), text.size()));
    return lower.starts_with(scheme) && rest.size() >= 8 &&
           rest.find(' ') == std::string_view::npos;
  });
  return has_scheme || std::any_of(kKeyPrefixes.begin(), kKeyPrefixes.end(),
                                   [&](std::string_view prefix) { return has_key(text, prefix); });
}

/// "api-key-2", "api-key-v2" and "api-keys" become "api-key". Tokens in the plural are those of a
/// text.
std::string_view without_number(std::string_view name) {
  const std::size_t end = name.find_last_not_of("0123456789-") + 1;
  name = name.substr(0, end);
  name.remove_suffix(name.ends_with("-v") ? 2 : 0);
  return name.ends_with("keys") ? name.substr(0, name.size() - 1) : name;
}

bool has_secret_parameter(std::string_view url) {
  std::size_t at = url.find('?');
  while (at != std::string_view::npos) {
    const std::string_view pair = url.substr(at + 1, url.find('&', at + 1) - at - 1);
    if (names_secret(pair.substr(0, pair.find('=')))) {
      return true;
    }
    at = url.find('&', at + 1);
  }
  return false;
}

[[noreturn]] void refuse(const std::string& where, const char* remedy) {
  throw UsageError(
      fmt::format("[endpoint] {} holds a secret, and every run stores its configuration", where),
      remedy);
}

constexpr const char* kKeyRemedy =
    "put the key into an environment variable or a file, and name it in api_key_env or "
    "api_key_file";

void check_header(const std::string& header) {
  const std::size_t colon = header.find(':');
  if (colon == std::string::npos || trim(header.substr(0, colon)).empty() ||
      header.find_first_of(std::string_view("\r\n\0", 3)) != std::string::npos) {
    throw UsageError("[endpoint] each item of extra_headers must have the form \"Name: value\"");
  }
  const std::string name(trim(header.substr(0, colon)));
  if (names_secret(name) || looks_secret(trim(header.substr(colon + 1)))) {
    refuse(fmt::format("the header '{}' of extra_headers", visible(name)), kKeyRemedy);
  }
}

void check_member(const char* table, const std::string& name, const json& value) {
  const bool is_secret = value.is_string() && !value.get_ref<const std::string&>().empty() &&
                         (names_secret(name) || looks_secret(value.get_ref<const std::string&>()));
  if (is_secret) {
    refuse(fmt::format("the member '{}' of {}", visible(name), table), kKeyRemedy);
  }
  for (const auto& [inner, item] : value.items()) {
    if (value.is_structured()) {
      check_member(table, value.is_array() ? name : inner, item);
    }
  }
}

} // namespace

bool names_secret(std::string_view name) {
  const std::string whole = plain_name(name);
  const std::string_view plain = without_number(whole);
  const auto is_part = [&](std::string_view part) { return plain.find(part) != plain.npos; };
  const auto is_end = [&](std::string_view end) {
    return plain == end || plain.ends_with("-" + std::string(end));
  };
  const bool is_harmless = contains(kHarmlessNames, plain);
  return !is_harmless && (std::any_of(kSecretParts.begin(), kSecretParts.end(), is_part) ||
                          std::any_of(kJoinedNames.begin(), kJoinedNames.end(), is_part) ||
                          std::any_of(kSecretEnds.begin(), kSecretEnds.end(), is_end));
}

bool looks_secret(std::string_view text) {
  return has_scheme_or_key(text) || has_url_with_user(text, false);
}

bool command_holds_secret(std::string_view command) {
  return has_scheme_or_key(command) || has_url_with_user(command, true);
}

void refuse_secrets(const EndpointConfig& config) {
  std::for_each(config.extra_headers.begin(), config.extra_headers.end(), check_header);
  for (const auto& [name, table] :
       {std::pair("extra_body", &config.extra_body), std::pair("members", &config.members)}) {
    if (const json body = json::parse(*table, nullptr, false); body.is_object()) {
      check_member(name, name, body);
    }
  }
  const std::string& proxy = config.proxy;
  const std::size_t scheme = proxy.find("://");
  if (!userinfo_of(scheme == std::string::npos ? proxy : std::string_view(proxy).substr(scheme + 3))
           .empty()) {
    refuse("proxy", "put the URL with the password into the environment variable HTTPS_PROXY, and "
                    "leave endpoint.proxy out");
  }
  if (has_secret_parameter(config.base_url)) {
    throw UsageError("base_url has a query (?...) or a fragment (#...), and a secret in it",
                     kKeyRemedy);
  }
  if (has_url_with_user(config.base_url, false)) {
    throw UsageError("base_url contains a user or password", kKeyRemedy);
  }
  for (const auto& [name, text] :
       {std::pair("base_url", config.base_url), std::pair("model", config.model),
        std::pair("api_key_file", config.api_key_file), std::pair("proxy", proxy)}) {
    if (looks_secret(text)) {
      refuse(name, kKeyRemedy);
    }
  }
  if (command_holds_secret(config.api_key_cmd)) {
    refuse("api_key_cmd", kKeyRemedy);
  }
}

} // namespace winnow::agents
