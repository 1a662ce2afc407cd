#pragma once

#include "process/child_process.h"
#include "remote/job_transport.h"

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace winnow::bench {

/// How long a simulated device takes for a job: drawn evenly between the two.
struct JobTime {
  int least_ms = 200;
  int most_ms = 2000;
};

/// The simulated workers of a pool. Most are not trusted with held-out shapes, as with strangers'
/// machines.
struct WorkerPlan {
  int workers = 1000;
  int processes = 4;
  JobTime job;
};
std::vector<remote::WorkerIdentity> identities(int workers);

/// What all workers have done.
struct WorkDone {
  double busy_seconds = 0;                 ///< of their devices
  double jobs = 0;                         ///< with second answers and canaries
  double cpu_seconds = 0, resident_mb = 0; ///< of their processes
};

/// Processes with the workers. Each worker has its own user, connection, heartbeat and leases: the
/// class that `winnow worker` uses. The destructor kills the processes.
class WorkerProcesses {
public:
  /// `credentials`: the folder with a file for each user. `statistics`: an empty folder.
  WorkerProcesses(const WorkerPlan& plan, const std::string& url,
                  const std::filesystem::path& credentials, std::filesystem::path statistics);
  WorkDone done() const;

private:
  std::filesystem::path statistics_;
  std::vector<std::unique_ptr<process::ChildProcess>> processes_;
};

/// The main function of such a process. Returns when its stdin ends.
int work_in_process(const std::vector<std::string>& arguments);

} // namespace winnow::bench
