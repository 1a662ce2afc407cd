#include "harness/judge_worker.h"

#include "base/error.h"

namespace winnow::harness {
namespace {

constexpr std::chrono::milliseconds kCancelAgain{50};

} // namespace

JudgeWorker::JudgeWorker(JudgeFactory factory, std::function<void(JudgeResult)> done)
    : factory_(std::move(factory)), done_(std::move(done)), thread_([this] { work(); }) {}

JudgeWorker::~JudgeWorker() {
  stop();
}

void JudgeWorker::add(JudgeJob job) {
  {
    const std::lock_guard lock(mutex_);
    jobs_.push_back(std::move(job));
  }
  changed_.notify_one();
}

void JudgeWorker::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    jobs_.clear();
  }
  changed_.notify_all();
  cancel_until_idle();
  if (thread_.joinable()) {
    thread_.join();
  }
}

void JudgeWorker::cancel_until_idle() {
  // More than once: a cancel() that comes just before judge() begins may be lost.
  std::unique_lock lock(mutex_);
  while (running_ != nullptr) {
    running_->cancel();
    changed_.wait_for(lock, kCancelAgain, [this] { return running_ == nullptr; });
  }
}

void JudgeWorker::work() {
  for (;;) {
    JudgeJob job;
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [this] { return stopping_ || !jobs_.empty(); });
      if (stopping_) {
        return;
      }
      job = std::move(jobs_.front());
      jobs_.pop_front();
    }
    JudgeResult result = judge(job);
    {
      const std::lock_guard lock(mutex_);
      running_ = nullptr;
      changed_.notify_all();
      if (stopping_) {
        return; // it may have been cancelled: a resumed run judges it again
      }
    }
    done_(std::move(result));
  }
}

JudgeResult JudgeWorker::judge(const JudgeJob& job) {
  JudgeResult result{job.candidate, {}, {}};
  try {
    Judge& judge = judge_of(*job.task);
    {
      const std::lock_guard lock(mutex_);
      if (stopping_) {
        return result;
      }
      running_ = &judge;
    }
    result.evaluations = judge.judge(job.text, job.file_name, job.max_variants);
    if (result.evaluations.empty()) {
      throw Error("the evaluator gave no evaluation for " + job.file_name);
    }
  } catch (const Error& error) {
    result.evaluations.clear();
    result.error = error.what() + (error.remedy().empty() ? "" : "; " + error.remedy());
  } catch (const std::exception& error) {
    result.evaluations.clear();
    result.error = error.what();
  }
  return result;
}

Judge& JudgeWorker::judge_of(const tasks::Task& task) {
  std::unique_ptr<Judge>& judge = judges_[&task]; // only this thread touches the map
  if (!judge) {
    judge = factory_(task);
  }
  return *judge;
}

} // namespace winnow::harness
