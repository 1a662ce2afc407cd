#include "agents/sessions/transcript.h"

#include "agents/json/json_text.h"
#include "agents/keys/secret_shapes.h"
#include "base/error.h"
#include "base/files.h"
#include "base/secrets.h"
#include "base/text.h"

#include <algorithm>
#include <cstdlib>
#include <string_view>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <sys/stat.h>

namespace winnow::agents {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kMostCopied = std::uint64_t{64} << 20U;
constexpr std::uint64_t kMostOfAFile = std::uint64_t{32} << 20U;
constexpr std::uint64_t kMostLoginBytes = std::uint64_t{1} << 20U;
constexpr std::size_t kShortestToken = 16;
constexpr const char* kCutLine = "[a line that looks like a key]\n";

/// Not a date, an address or a list of words.
bool may_be_token(std::string_view text) {
  return text.size() >= kShortestToken && std::any_of(text.begin(), text.end(), is_digit) &&
         std::all_of(text.begin(), text.end(), [](char c) {
           return is_word_character(c) ||
                  std::string_view("-.+/=~").find(c) != std::string_view::npos;
         });
}

void keep_strings(const nlohmann::json& value) {
  if (value.is_string() && may_be_token(value.get_ref<const std::string&>())) {
    keep_secret(value.get_ref<const std::string&>());
  }
  for (const nlohmann::json& item : value.is_structured() ? value : nlohmann::json::array()) {
    keep_strings(item);
  }
}

/// Copies regular files only, until the room is used up.
class Copier {
public:
  Copier(fs::path home, fs::path target) : home_(std::move(home)), target_(std::move(target)) {}

  void copy(const fs::path& file) {
    struct stat status {};
    if (lstat(file.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) {
      return;
    }
    const auto size = static_cast<std::uint64_t>(status.st_size);
    const fs::path name = file.lexically_relative(home_);
    if (size > std::min(kMostOfAFile, room_)) {
      left_out_ += fmt::format("{}: {} bytes\n", visible(name.string()), size);
      return;
    }
    room_ -= size;
    try {
      fs::create_directories((target_ / name).parent_path());
      write_file_atomic(target_ / name, without_keys(read_file(file, kMostOfAFile)),
                        Readers::Owner);
    } catch (const std::exception& failure) {
      left_out_ += fmt::format("{}: {}\n", visible(name.string()), failure.what());
    }
  }

  const std::string& left_out() const { return left_out_; }

private:
  fs::path home_, target_;
  std::uint64_t room_ = kMostCopied;
  std::string left_out_;
};

} // namespace

void keep_login_secrets(const AgentAdapter& adapter) {
  const char* home = std::getenv("HOME");
  for (const std::string& name : adapter.home_writable) {
    const fs::path file = fs::path(home == nullptr ? "/" : home) / name;
    if (!is_file(file)) {
      continue;
    }
    try {
      keep_strings(json_or_null(read_file(file, kMostLoginBytes)));
    } catch (const Error&) {
      continue; // the agent will say that it cannot read its login
    }
  }
}

std::string without_keys(std::string text) {
  text = without_secrets(std::move(text));
  std::string clean;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size() - 1) + 1;
    const std::string_view line = std::string_view(text).substr(begin, end - begin);
    clean += looks_secret(line) ? std::string_view(kCutLine) : line;
    begin = end;
  }
  return clean;
}

void keep_transcript(const Workspace& workspace, const AgentAdapter& adapter,
                     const std::string& out, const std::string& err, const fs::path& target) {
  fs::create_directories(target);
  fs::permissions(target, fs::perms::owner_all);
  write_file_atomic(target / "output.txt", without_keys(out), Readers::Owner);
  write_file_atomic(target / "errors.txt", without_keys(err), Readers::Owner);
  Copier copier(workspace.home(), target);
  for (const std::string& name : adapter.transcripts) {
    std::error_code error;
    const fs::path folder = workspace.home() / name;
    copier.copy(folder); // it may be a file
    if (fs::symlink_status(folder, error).type() != fs::file_type::directory) {
      continue;
    }
    for (fs::recursive_directory_iterator item(folder, error);
         !error && item != fs::recursive_directory_iterator(); item.increment(error)) {
      copier.copy(item->path());
    }
  }
  if (!copier.left_out().empty()) {
    write_file_atomic(target / "left_out.txt", copier.left_out(), Readers::Owner);
  }
}

} // namespace winnow::agents
