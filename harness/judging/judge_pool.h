#pragma once

#include "base/recent.h"
#include "harness/judging/judge.h"

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace winnow::harness {

struct JudgeJob {
  const tasks::Task* task = nullptr; ///< must outlive the pool
  std::int64_t candidate = 0;
  std::string text;
  std::string file_name;
  std::size_t max_variants = 1; ///< number of parameter choices to try
  std::optional<KernelToBeat> to_beat = std::nullopt;
};

struct JudgeResult {
  std::int64_t candidate = 0;
  std::vector<tasks::Evaluation> evaluations; ///< empty if and only if there is an error
  std::string error;
};

/// The devices of a pool, and the work that it may do ahead. One thread uses each device, so that
/// timings never share a device.
struct JudgePoolSetup {
  std::vector<JudgeFactory> devices;
  /// Compiles what a job will need, on extra threads while the devices work; empty: nothing is
  /// compiled ahead. Must return soon after the second argument returns true (cancelled).
  std::function<void(const JudgeJob&, const std::function<bool()>&)> compile_ahead;
  unsigned compile_threads = 0;
  std::function<void(JudgeResult)> done; ///< runs on the thread of a device
};

/// Judges candidates, oldest first, each on the first device that becomes free. A lost device gets
/// no more candidates, and the candidate that was on it goes to another device. If no device is
/// left, every result is an error that says so.
class JudgePool {
public:
  explicit JudgePool(JudgePoolSetup setup);
  ~JudgePool();
  JudgePool(const JudgePool&) = delete; // owns threads
  JudgePool& operator=(const JudgePool&) = delete;

  void add(JudgeJob job);
  /// Drops queued jobs and cancels running ones. `done` never runs after this returns.
  void stop();

private:
  /// A device keeps the judges of this many tasks; others are made again when they are needed.
  static constexpr std::size_t kMostTasks = 32;

  enum class State : std::uint8_t { Waiting, Compiling, Ready };
  struct Queued {
    JudgeJob job;
    State state = State::Waiting;
  };
  /// One device. Its judges are used by its thread only; `running` is the judge at work (guarded by
  /// mutex_).
  struct Lane {
    Recent<const tasks::Task*, std::unique_ptr<Judge>> judges{kMostTasks};
    Judge* running = nullptr;
    std::string lost; ///< why the device was lost; empty: it was not; guarded by mutex_
  };

  void prepare(std::size_t device);
  void judge_jobs(std::size_t device);
  void compile_jobs();
  std::list<Queued>::iterator next_job();
  void cancel_until_idle();
  bool idle() const;
  Judge* begin(const tasks::Task& task, std::size_t device);
  JudgeResult judge(const JudgeJob& job, std::size_t device);
  std::string lost_device(const JudgeJob& job, std::size_t device);
  bool any_device_left() const;

  JudgePoolSetup setup_;
  std::mutex mutex_; ///< guards the members below, except threads_
  std::condition_variable changed_;
  std::list<Queued> queue_;
  std::vector<Lane> lanes_;
  bool stopping_ = false;

  std::vector<std::thread> threads_; ///< last, because the threads use all other members
};

} // namespace winnow::harness
