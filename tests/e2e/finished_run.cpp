#include "tests/e2e/finished_run.h"

#include "base/error.h"
#include "base/files.h"
#include "tests/e2e/winnow_program.h"

#include <cstdlib>

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

namespace winnow::test {
namespace {

namespace fs = std::filesystem;

/// Holds the lock file until it goes: of two suites that need the run, one makes it.
class Turn {
public:
  explicit Turn(const fs::path& path)
      : descriptor_(open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600)) {
    flock(descriptor_, LOCK_EX);
  }
  ~Turn() { close(descriptor_); }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;

private:
  int descriptor_;
};

FinishedRun make(const fs::path& folder) {
  const fs::path output = folder / "finished-run.txt", store = folder / "finished-run.db";
  const Turn turn(folder / "finished-run.lock");
  if (!fs::exists(output)) {
    const ProgramResult run =
        run_winnow({"run", "tests/e2e/resume/resume.toml", "--store", store, "--device", "cpu"});
    if (run.exit_code != 0) {
      fs::remove(store); // the next suite shall not meet half a run
      throw Error("the run that several suites use has failed", run.err);
    }
    write_file_atomic(output, run.out);
  }
  return {store, read_file(output, 1U << 20U)};
}

} // namespace

void use_slow_baselines() {
  static const TemporaryDirectory own("slow-baselines");
  const fs::path catalogue = own.path() / "catalogue";
  if (fs::exists(catalogue)) {
    return;
  }
  fs::copy(project_folder() / "tasks/catalogue", catalogue, fs::copy_options::recursive);
  for (const auto& entry : fs::recursive_directory_iterator(catalogue)) {
    if (entry.path().filename() == "baseline.cpu.cu") {
      fs::remove(entry.path());
    }
  }
  setenv("WINNOW_CATALOGUE", catalogue.c_str(), 1);
}

const FinishedRun& finished_run() {
  use_slow_baselines();
  static const TemporaryDirectory own("finished-run");
  const char* shared = std::getenv("WINNOW_TEST_CACHE");
  static const FinishedRun run = make(shared != nullptr ? fs::path(shared) : own.path());
  return run;
}

} // namespace winnow::test
