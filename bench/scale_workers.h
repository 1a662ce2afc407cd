#pragma once

#include "process/child_process.h"
#include "remote/job_transport.h"

#include <filesystem>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

namespace winnow::bench {

/// How long a simulated device takes for a job: drawn evenly between the two.
struct JobTime {
  int least_ms = 200;
  int most_ms = 2000;
};

/// The simulated workers of a pool. Few are trusted with held-out shapes.
struct WorkerPlan {
  int workers = 1000;
  int processes = 4;
  JobTime job;
};
std::vector<remote::WorkerIdentity> identities(int workers);

/// What all workers have done.
struct WorkDone {
  double busy_seconds = 0; ///< of their devices
  double jobs = 0;
  double cpu_seconds = 0, resident_mb = 0; ///< of their processes
  int restarts = 0;                        ///< of processes that died
};

/// Processes with the workers. Each worker has its own user, connection, heartbeat and leases: the
/// class that `winnow worker` uses. A process that dies is started again, as systemd does. The
/// destructor kills the processes.
class WorkerProcesses {
public:
  /// `credentials`: the folder with a file for each user. `statistics`: an empty folder.
  WorkerProcesses(const WorkerPlan& plan, const std::string& url,
                  const std::filesystem::path& credentials,
                  const std::filesystem::path& statistics);
  WorkDone done() const;

private:
  struct Worker {
    process::Command command;
    std::filesystem::path statistics; ///< the file that it writes
    std::unique_ptr<process::ChildProcess> process;
    WorkDone seen; ///< by the process that runs, until a second ago
    WorkDone lost; ///< by the processes that died
  };
  static WorkDone look_at(const Worker& worker);
  void watch(const std::stop_token& stop);

  mutable std::mutex mutex_; ///< guards the members below
  std::vector<Worker> workers_;
  int restarts_ = 0;

  std::jthread watch_; ///< last, because it uses the other members
};

/// The main function of such a process. Returns when its stdin ends.
int work_in_process(const std::vector<std::string>& arguments);

} // namespace winnow::bench
