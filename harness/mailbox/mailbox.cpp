#include "harness/mailbox/mailbox.h"

#include "base/error.h"
#include "base/json_dump.h"
#include "base/random_bits.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <memory>
#include <string_view>
#include <thread>

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <poll.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

namespace winnow::harness {
namespace {

using nlohmann::json;

constexpr const char* kRequestEnd = ".request";
constexpr const char* kAnswerEnd = ".answer";
constexpr const char* kServerFile = "server";
constexpr std::size_t kLengthOfName = 32;
constexpr std::size_t kMostLetter = std::size_t{20} << 20U; // 64 kernels and more
constexpr std::size_t kMostAnswer = std::size_t{256} << 20U;
constexpr std::time_t kServerIsGoneAfter = 10;       // seconds
constexpr std::chrono::milliseconds kWithoutNews{5}; // between looks
constexpr mode_t kOwnerOnly = 0600;

bool is_letter_name(std::string_view name) {
  return name.size() == kLengthOfName &&
         name.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

UniqueFd open_in(const UniqueFd& folder, const std::string& name, int flags) {
  return UniqueFd(openat(folder.get(), name.c_str(), flags | O_NOFOLLOW | O_CLOEXEC, kOwnerOnly));
}

/// nullopt: the file is not regular, or too large.
std::optional<std::string> text_of(const UniqueFd& file, std::size_t most) {
  struct stat status {};
  if (!file || fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode) ||
      status.st_size > static_cast<off_t>(most)) {
    return std::nullopt;
  }
  std::string text(static_cast<std::size_t>(status.st_size), '\0');
  std::size_t have = 0;
  while (have < text.size()) {
    const ssize_t got = read(file.get(), text.data() + have, text.size() - have);
    if (got <= 0) {
      break; // somebody has cut the file
    }
    have += static_cast<std::size_t>(got);
  }
  text.resize(have);
  return text;
}

bool write_all(const UniqueFd& file, std::string_view text) {
  while (file && !text.empty()) {
    const ssize_t wrote = write(file.get(), text.data(), text.size());
    if (wrote <= 0) {
      return false;
    }
    text.remove_prefix(static_cast<std::size_t>(wrote));
  }
  return static_cast<bool>(file);
}

json parsed(const std::string& text) {
  if (has_too_many_levels(text)) {
    return {};
  }
  json document = json::parse(text, nullptr, false);
  return document.is_object() ? document : json();
}

} // namespace

Mailbox::Mailbox(const std::filesystem::path& folder)
    : path_(folder), folder_(open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
  if (!folder_) {
    throw UsageError(fmt::format("{}: {}", folder.native(), std::strerror(errno)),
                     "name the folder in which a judge takes requests");
  }
  news_.reset(inotify_init1(IN_NONBLOCK | IN_CLOEXEC));
  const std::string self = fmt::format("/proc/self/fd/{}", folder_.get());
  if (news_ && inotify_add_watch(news_.get(), self.c_str(), IN_MOVED_TO) < 0) {
    news_.reset();
  }
}

void Mailbox::write_file(const std::string& file, const std::string& text) const {
  const std::string draft = "." + file;
  unlinkat(folder_.get(), draft.c_str(), 0);
  bool written = false;
  {
    const UniqueFd out = open_in(folder_, draft, O_CREAT | O_EXCL | O_WRONLY);
    written = write_all(out, text);
  }
  if (!written || renameat(folder_.get(), draft.c_str(), folder_.get(), file.c_str()) != 0) {
    const std::string why = std::strerror(errno);
    unlinkat(folder_.get(), draft.c_str(), 0);
    throw Error(fmt::format("cannot write {}/{}: {}", path_.native(), file, why),
                "make the folder writable, and the disk not full");
  }
}

std::optional<std::string> Mailbox::take_file(const std::string& file, std::size_t most) const {
  const UniqueFd in = open_in(folder_, file, O_RDONLY | O_NONBLOCK);
  if (!in && errno == ENOENT) {
    return std::nullopt;
  }
  std::string text = text_of(in, most).value_or("");
  unlinkat(folder_.get(), file.c_str(), 0);
  return text;
}

std::string Mailbox::send(const Letter& letter) const {
  const std::string name = fmt::format("{:016x}{:016x}", random_bits(), random_bits());
  write_file(name + kRequestEnd, json_line({{"method", letter.method},
                                            {"target", letter.target},
                                            {"authorization", letter.authorization},
                                            {"body", letter.body}}));
  return name;
}

std::optional<Mailbox::Answer> Mailbox::take_answer(const std::string& name) const {
  const auto text = take_file(name + kAnswerEnd, kMostAnswer);
  if (!text) {
    return std::nullopt;
  }
  try {
    const json document = parsed(*text);
    return Answer{document.at("status").get<int>(), document.at("body").get<std::string>(),
                  document.at("retry_after_s").get<int>()};
  } catch (const json::exception&) {
    throw Error(path_.native() + ": an answer is malformed", "use the same Winnow on both sides");
  }
}

bool Mailbox::has_server() const {
  struct stat status {};
  return fstatat(folder_.get(), kServerFile, &status, AT_SYMLINK_NOFOLLOW) == 0 &&
         std::time(nullptr) - status.st_mtime <= kServerIsGoneAfter;
}

std::vector<std::string> Mailbox::waiting(std::size_t most) const {
  std::vector<std::string> names;
  const int copy = openat(folder_.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR* const entries = copy < 0 ? nullptr : fdopendir(copy);
  if (entries == nullptr) {
    return names;
  }
  const std::unique_ptr<DIR, int (*)(DIR*)> closes(entries, closedir);
  while (names.size() < most) {
    const dirent* entry = readdir(entries);
    if (entry == nullptr) {
      break;
    }
    const std::string_view file = entry->d_name;
    if (!file.ends_with(kRequestEnd) || entry->d_type == DT_DIR) {
      continue;
    }
    const std::string_view name = file.substr(0, file.size() - std::strlen(kRequestEnd));
    if (is_letter_name(name)) {
      names.emplace_back(name);
    }
  }
  return names;
}

std::optional<Mailbox::Letter> Mailbox::take(const std::string& name) const {
  const auto text = take_file(name + kRequestEnd, kMostLetter);
  if (!text) {
    return std::nullopt;
  }
  try {
    const json document = parsed(*text);
    return Letter{
        document.at("method").get<std::string>(), document.at("target").get<std::string>(),
        document.at("authorization").get<std::string>(), document.at("body").get<std::string>()};
  } catch (const json::exception&) {
    throw UsageError("the request is malformed or has more than 20 MB",
                     "use the same Winnow on both sides");
  }
}

void Mailbox::answer(const std::string& name, const Answer& answer) const {
  write_file(name + kAnswerEnd, json_line({{"status", answer.status},
                                           {"body", answer.body},
                                           {"retry_after_s", answer.retry_after_s}}));
}

void Mailbox::touch() const {
  if (utimensat(folder_.get(), kServerFile, nullptr, AT_SYMLINK_NOFOLLOW) != 0) {
    write_file(kServerFile, "");
  }
}

void Mailbox::wait(std::chrono::milliseconds most) const {
  if (!news_) {
    std::this_thread::sleep_for(std::min(most, kWithoutNews));
    return;
  }
  pollfd waits{news_.get(), POLLIN, 0};
  poll(&waits, 1, static_cast<int>(most.count()));
  char events[4096];
  while (read(news_.get(), events, sizeof events) > 0) {
  }
}

} // namespace winnow::harness
