#include "base/secrets.h"

#include "base/json_dump.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <shared_mutex>
#include <vector>

#include <nlohmann/json.hpp>

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

} // namespace

void keep_secret(std::string_view secret) {
  if (secret.size() < kShortestSecret) {
    return;
  }
  const std::string in_json = json_line(std::string(secret));
  Secrets& all = secrets();
  const std::unique_lock lock(all.mutex);
  for (const std::string& form : {std::string(secret), in_json.substr(1, in_json.size() - 2)}) {
    if (std::find(all.values.begin(), all.values.end(), form) == all.values.end()) {
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

} // namespace winnow
