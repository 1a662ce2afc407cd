#pragma once

#include "harness/judging/judge.h"

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace winnow::harness {

struct JudgeJob {
  const tasks::Task* task = nullptr; ///< outlives the pool
  std::int64_t candidate = 0;
  std::string text;
  std::string file_name;
  std::size_t max_variants = 1; ///< choices of parameters to try
  std::optional<KernelToBeat> to_beat = std::nullopt;
};

struct JudgeResult {
  std::int64_t candidate = 0;
  std::vector<tasks::Evaluation> evaluations; ///< empty exactly when there is an error
  std::string error;
};

/// What the pool judges on, and what it may do ahead. Every device is used by one thread, so that
/// timings never share it.
struct JudgePoolSetup {
  std::vector<JudgeFactory> devices;
  /// Compiles what judging a job will need, on threads of its own while the devices work; empty:
  /// nothing is done ahead. Must return soon when the second argument says that it is cancelled.
  std::function<void(const JudgeJob&, const std::function<bool()>&)> compile_ahead;
  unsigned compile_threads = 0;
  std::function<void(JudgeResult)> done; ///< runs on a device's thread
};

/// Judges candidates, each on the first device that is free, oldest first. A device that is lost is
/// given no more of them, and the one that met the loss goes to another device; when none is left
/// every result is an error that says so.
class JudgePool {
public:
  explicit JudgePool(JudgePoolSetup setup);
  ~JudgePool();
  JudgePool(const JudgePool&) = delete; // owns threads
  JudgePool& operator=(const JudgePool&) = delete;

  void add(JudgeJob job);
  /// Drops what is queued and cancels what is running; no `done` runs after this returns.
  void stop();

private:
  enum class State : std::uint8_t { Waiting, Compiling, Ready };
  struct Queued {
    JudgeJob job;
    State state = State::Waiting;
  };
  /// One device: its judges, used by its thread only, and the one at work (guarded by mutex_).
  struct Lane {
    std::map<const tasks::Task*, std::unique_ptr<Judge>> judges;
    Judge* running = nullptr;
    std::string lost; ///< why the device is; guarded by mutex_
  };

  void prepare(std::size_t device);
  void judge_jobs(std::size_t device);
  void compile_jobs();
  std::list<Queued>::iterator next_job();
  void cancel_until_idle();
  bool idle() const;
  Judge* begin(const tasks::Task& task, std::size_t device);
  JudgeResult judge(const JudgeJob& job, std::size_t device);
  std::string lost_device(const JudgeJob& job, std::size_t device) const;
  bool any_device_left() const;

  JudgePoolSetup setup_;
  std::mutex mutex_; ///< guards what follows
  std::condition_variable changed_;
  std::list<Queued> queue_;
  std::vector<Lane> lanes_;
  bool stopping_ = false;

  std::vector<std::thread> threads_; ///< last: they start when everything else is there
};

} // namespace winnow::harness
