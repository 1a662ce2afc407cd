#include "agents/sessions/workspace.h"

#include "base/error.h"
#include "base/text.h"
#include "base/text/shell_word.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

namespace winnow::agents {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostKernelBytes = std::size_t{256} << 10U;
constexpr std::uint64_t kMostSkillBytes = std::uint64_t{64} << 10U;
constexpr std::uint64_t kBlockBytes = 512; // st_blocks counts in these
constexpr const char* kSkill = "skills/winnow/SKILL.md";

/// The skill without its front matter, which is for the agents' own list of skills.
std::string skill_text() {
  const auto file = find_shipped(kSkill);
  if (!file) {
    throw Error(fmt::format("there is no {}: it is looked for {}", kSkill, shipped_places()),
                "install Winnow again");
  }
  std::string text = read_file(*file, kMostSkillBytes);
  const std::size_t end = text.starts_with("---\n") ? text.find("\n---\n") : text.npos;
  return end == text.npos ? text : text.substr(end + 5);
}

std::string task_text(const ModelRequest& request) {
  std::string text;
  for (const Message& message : request.messages) {
    text += message.text;
    text += text.ends_with('\n') ? "" : "\n";
  }
  if (request.schema) {
    text += "\nThe answer is JSON that follows this schema:\n" + request.schema->schema + "\n";
  }
  return text;
}

std::string judge_script(const SessionPass& pass, const std::string& task, const fs::path& token,
                         const fs::path& folder) {
  return fmt::format(
      "#!/bin/sh\n"
      "# judge [FILE...]     judges kernel files of the task; without one: kernel.cu\n"
      "# judge tune FILE     times the values of its parameters; one evaluation\n"
      "# judge race A B      says which of two correct kernels is faster; two\n"
      "# judge profile FILE  counters, where the device has them\n"
      "case \"$1\" in\n"
      "tune|race|profile) command=$1; shift; form= ;;\n"
      "*) command=eval; form='--json --brief'; [ $# -gt 0 ] || set -- {} ;;\n"
      "esac\n"
      "exec {} \"$command\" {} \"$@\" $form --server {} --token-file {}\n",
      shell_word((folder / "kernel.cu").string()), shell_word(executable_path().string()),
      shell_word(task), shell_word(pass.server), shell_word(token.string()));
}

fs::path users_home() {
  const char* home = std::getenv("HOME");
  return home == nullptr ? fs::path() : fs::path(home);
}

} // namespace

Workspace::Workspace() {
  fs::create_directories(folder() / "attempts");
  fs::create_directory(home());
  folder_fd_.reset(open(folder().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!folder_fd_) {
    throw Error(fmt::format("{} cannot be opened: {}", folder().string(), std::strerror(errno)));
  }
}

void Workspace::write(const std::string& name, std::string_view text) const {
  write_file_atomic(folder() / name, text);
}

void Workspace::fill(const ModelRequest& request, const AgentAdapter& adapter) {
  write("TASK.md", task_text(request));
  if (request.task.empty()) {
    return;
  }
  const std::string skill = skill_text();
  write("AGENTS.md", skill);
  write(adapter.instructions, skill);
  first_kernel_ = request.kernel;
  write("kernel.cu", first_kernel_);
}

void Workspace::let_in(const SessionPass& pass, const std::string& task) {
  const fs::path token = root() / "home" / "winnow-token";
  write_file_atomic(token, pass.token + "\n", Readers::Owner);
  write("judge", judge_script(pass, task, token, folder()));
  fs::permissions(folder() / "judge", fs::perms(0755));
}

std::vector<process::ShownPath> Workspace::logins(const AgentAdapter& adapter) const {
  std::vector<process::ShownPath> shown;
  const auto add = [&](const std::vector<std::string>& names, bool writable) {
    for (const std::string& name : names) {
      std::error_code error;
      const fs::path source = fs::canonical(users_home() / name, error);
      if (!error) {
        shown.push_back({source, home() / name, writable});
      }
    }
  };
  add(adapter.home_readable, false);
  add(adapter.home_writable, true);
  return shown;
}

void Workspace::link_logins(const AgentAdapter& adapter) const {
  for (const process::ShownPath& path : logins(adapter)) {
    fs::create_directories(path.at.parent_path());
    fs::create_symlink(path.source, path.at);
  }
}

std::string Workspace::changed_kernel(std::string& why) const {
  // Neither follows a link nor waits for a pipe.
  const UniqueFd file(
      openat(folder_fd_.get(), "kernel.cu", O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  struct stat status {};
  if (!file || fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode)) {
    why = !file && errno == ENOENT ? "it removed kernel.cu" : "its kernel.cu is no regular file";
    return {};
  }
  std::string text(kMostKernelBytes + 1, '\0');
  std::size_t size = 0;
  for (ssize_t count = 1; count > 0 && size < text.size();
       size += static_cast<std::size_t>(count)) {
    count = ::read(file.get(), text.data() + size, text.size() - size);
    if (count < 0) {
      why = fmt::format("its kernel.cu cannot be read: {}", std::strerror(errno));
      return {};
    }
  }
  text.resize(size);
  if (size > kMostKernelBytes) {
    why = fmt::format("its kernel.cu has more than {} bytes", kMostKernelBytes);
    return {};
  }
  why = "it did not change kernel.cu";
  return text == first_kernel_ ? std::string() : text;
}

std::string excess_of(const fs::path& folder, const FolderLimits& limits) {
  std::error_code error;
  std::uint64_t bytes = 0, files = 0;
  fs::recursive_directory_iterator item(folder, error);
  for (; !error && item != fs::recursive_directory_iterator(); item.increment(error)) {
    struct stat status {};
    if (lstat(item->path().c_str(), &status) == 0) {
      bytes += static_cast<std::uint64_t>(status.st_blocks) * kBlockBytes;
    }
    if (++files > limits.files) {
      return fmt::format("has more than {} files", limits.files);
    }
    if (bytes > limits.bytes) {
      return fmt::format("holds more than {} MiB", limits.bytes >> 20U);
    }
    if (item.depth() > limits.depth) {
      return fmt::format("has folders nested more than {} deep", limits.depth);
    }
  }
  // A folder that was removed meanwhile is seen right the next time.
  return error == std::errc::permission_denied ? "has a folder that cannot be read" : "";
}

std::string session_prompt(const ModelRequest& request, int evaluations) {
  if (request.task.empty()) {
    return "Read TASK.md in this folder and answer it. Your last message is the answer and has "
           "nothing else. Ask nothing: nobody reads along.";
  }
  return fmt::format(
      "Read TASK.md in this folder: it asks for a kernel file. Do not reply with the file: write "
      "it to kernel.cu, which holds the kernel to begin with. AGENTS.md says how to work. Judge "
      "variants with ./judge FILE..., several in one call; you have {} evaluations, one for each "
      "file that compiles. Keep variants in attempts/. At the end kernel.cu must hold your fastest "
      "correct "
      "kernel. Ask nothing: nobody reads along.",
      evaluations);
}

} // namespace winnow::agents
