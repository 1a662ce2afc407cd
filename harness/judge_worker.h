#pragma once

#include "harness/judge.h"

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace winnow::harness {

struct JudgeJob {
  const tasks::Task* task = nullptr; ///< outlives the worker
  std::int64_t candidate = 0;
  std::string text;
  std::string file_name;
  std::size_t max_variants = 1; ///< choices of parameters to try
};

struct JudgeResult {
  std::int64_t candidate = 0;
  std::vector<tasks::Evaluation> evaluations; ///< empty exactly when there is an error
  std::string error;
};

/// Judges one candidate after the other on a thread of its own, so that timings never share the
/// device.
class JudgeWorker {
public:
  /// `done` runs on the worker's thread.
  JudgeWorker(JudgeFactory factory, std::function<void(JudgeResult)> done);
  ~JudgeWorker();
  JudgeWorker(const JudgeWorker&) = delete; // owns a thread
  JudgeWorker& operator=(const JudgeWorker&) = delete;

  void add(JudgeJob job);
  /// Drops what is queued and cancels what is running; no `done` runs after this returns.
  void stop();

private:
  void work();
  void cancel_until_idle();
  JudgeResult judge(const JudgeJob& job);
  Judge& judge_of(const tasks::Task& task);

  JudgeFactory factory_;
  std::function<void(JudgeResult)> done_;

  std::mutex mutex_; ///< guards what follows, but for judges_: only the thread uses it
  std::condition_variable changed_;
  std::deque<JudgeJob> jobs_;
  std::map<const tasks::Task*, std::unique_ptr<Judge>> judges_;
  Judge* running_ = nullptr;
  bool stopping_ = false;

  std::thread thread_; ///< last: starts when everything else is there
};

} // namespace winnow::harness
