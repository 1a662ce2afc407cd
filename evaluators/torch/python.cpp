#include "evaluators/torch/python.h"

#include "base/digest.h"
#include "base/error.h"
#include "base/files.h"
#include "base/newest_folder.h"
#include "base/text.h"
#include "process/child_process.h"

#include <algorithm>
#include <cstdlib>
#include <span>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

namespace winnow::evaluators {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::seconds kAnswerWithin{60};
// "uncompiled": what PyTorch imports, if some of its own files are not compiled. The standard
// library is a part of it: with PYTHONPYCACHEPREFIX, Python looks there for all compiled files.
constexpr const char* kAsk = R"(
import importlib.util as util, json, os, site, sys
def find(name):
    spec = util.find_spec(name)
    return spec.origin if spec and spec.has_location else None
def is_compiled(torch):
    places = (("__init__.py",), ("_dynamo", "__init__.py"), ("_inductor", "compile_fx.py"))
    some = [os.path.join(os.path.dirname(torch), *place) for place in places]
    return all(os.path.exists(util.cache_from_source(f)) for f in some if os.path.exists(f))
def imported():
    names = "torch torchgen functorch triton sympy mpmath numpy networkx jinja2".split()
    library, others = os.path.dirname(os.__file__), ("site-packages", "dist-packages", "test")
    return [os.path.dirname(f) for f in map(find, names) if f] + [
        os.path.join(library, n) for n in sorted(os.listdir(library)) if n not in others]
torch = find("torch")
print(json.dumps({"folders": [sys.executable, sys.prefix, sys.base_prefix, *sys.path, site.getusersitepackages()],
                  "uncompiled": imported() if torch and not is_compiled(torch) else [],
                  "torch": [torch, os.path.getmtime(torch)] if torch else []}))
)";
constexpr const char* kNotCompiled =
    "/(tests?|idlelib|lib2to3|turtledemo)/"; // nobody imports these
constexpr std::chrono::minutes kCompileWithin{5};
constexpr std::size_t kBytecodeFolders = 4; // some 100 MB each
constexpr std::size_t kKeyDigits = 16;
constexpr const char* kComplete = "complete"; // a file in a folder that needs no more work

/// The files that the path leads to, one link after the other.
std::vector<fs::path> targets_of(fs::path link) {
  std::vector<fs::path> targets;
  std::error_code error;
  constexpr std::size_t kMost = 16;
  while (fs::is_symlink(link, error) && targets.size() < kMost) {
    link = (link.parent_path() / fs::read_symlink(link, error)).lexically_normal();
    if (error || !fs::exists(link, error)) {
      break;
    }
    targets.push_back(link);
  }
  return targets;
}

/// A Command that runs `python` with the arguments, as the user would.
process::Command unfenced(const fs::path& python, std::vector<std::string> arguments) {
  process::Command command;
  command.argv = {python.string()};
  command.argv.insert(command.argv.end(), arguments.begin(), arguments.end());
  for (const char* name : {"HOME", "PATH"}) { // HOME has the user's own packages
    if (const char* value = std::getenv(name)) {
      command.environment[name] = value;
    }
  }
  return command;
}

/// The folder with the compiled files of the packages; empty: the compiler did not end. Several
/// processes may make it at once.
fs::path compiled_packages(const fs::path& python, const std::vector<std::string>& packages,
                           const std::string& key) {
  const fs::path folder =
      newest_folder(cache_directory() / "python_bytecode",
                    sha256_hex(python.string() + key).substr(0, kKeyDigits), kBytecodeFolders);
  if (fs::exists(folder / kComplete)) {
    return folder;
  }
  std::vector<std::string> arguments{"-m", "compileall", "-qq", "-j", "0", "-x", kNotCompiled};
  arguments.insert(arguments.end(), packages.begin(), packages.end());
  process::Command command = unfenced(python, arguments);
  command.environment["PYTHONPYCACHEPREFIX"] = folder.string();
  command.limits.wall = kCompileWithin;
  // An exit code says that a file did not compile: nobody imports that one.
  if (process::run_child(command, "").end != process::ChildResult::End::Exited) {
    return {};
  }
  write_file_atomic(folder / kComplete, "");
  return folder;
}

} // namespace

const std::string_view kInstallTorch = "install PyTorch with `pip install torch` "
                                       "(https://pytorch.org/get-started/locally has the command "
                                       "for each GPU), or name a Python that has PyTorch in "
                                       "WINNOW_PYTHON";

fs::path find_python(const std::string& name, std::string_view named_by) {
  if (name.find('/') != std::string::npos) {
    if (access(name.c_str(), X_OK) == 0 && fs::is_regular_file(name)) {
      return fs::absolute(name);
    }
    throw UsageError(fmt::format("{} {}: no such program", named_by, name),
                     "give the path of a Python with PyTorch");
  }
  const char* path = std::getenv("PATH");
  const std::string directories = path != nullptr ? path : "/usr/local/bin:/usr/bin:/bin";
  for (std::size_t begin = 0; begin <= directories.size();) {
    const std::size_t end = std::min(directories.find(':', begin), directories.size());
    const fs::path candidate = fs::path(directories.substr(begin, end - begin)) / name;
    if (candidate.is_absolute() && access(candidate.c_str(), X_OK) == 0) {
      return candidate;
    }
    begin = end + 1;
  }
  throw UsageError(fmt::format("{} {}: no such program in PATH", named_by, name),
                   "install Python with PyTorch, or give the path of the program");
}

std::string default_python() {
  const char* named = std::getenv("WINNOW_PYTHON");
  return named != nullptr && *named != '\0' ? named : "python3";
}

Python ask_python(const fs::path& python) {
  process::Command command = unfenced(python, {"-c", kAsk});
  command.limits.wall = kAnswerWithin;
  const process::ChildResult child = process::run_child(command, "");
  const nlohmann::json answer = nlohmann::json::parse(child.out, nullptr, false);
  Python found;
  std::vector<std::string> paths, packages;
  std::string key;
  try {
    answer.at("folders").get_to(paths);
    found.program = answer.at("folders").at(0).get<std::string>();
    answer.at("uncompiled").get_to(packages);
    key = packages.empty() ? "" : answer.at("torch").dump();
  } catch (const nlohmann::json::exception&) {
    throw Error(fs::path(python).string() + " does not say from where it imports: " +
                    truncate_text(to_valid_utf8(trim(child.err + child.error)), 300),
                "name another Python in WINNOW_PYTHON");
  }
  std::vector<fs::path>& folders = found.folders;
  for (const fs::path& target : targets_of(found.program)) { // of a virtual environment
    if (!target.string().starts_with("/usr/")) {
      folders.push_back(target);
    }
  }
  for (const fs::path folder : std::span(paths).subspan(1)) {
    std::error_code ignored;
    const bool is_known = folder.string().starts_with("/usr/") ||
                          std::find(folders.begin(), folders.end(), folder) != folders.end();
    if (folder.is_absolute() && !is_known && fs::exists(folder, ignored)) {
      folders.push_back(folder);
    }
  }
  if (!packages.empty()) {
    found.bytecode = compiled_packages(found.program, packages, key);
  }
  return found;
}

} // namespace winnow::evaluators
