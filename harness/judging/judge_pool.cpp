#include "harness/judging/judge_pool.h"

#include "base/error.h"

#include <algorithm>

namespace winnow::harness {
namespace {

constexpr std::chrono::milliseconds kCancelAgain{50};

} // namespace

JudgePool::JudgePool(JudgePoolSetup setup)
    : setup_(std::move(setup)), lanes_(setup_.devices.size()) {
  for (std::size_t i = 0; i < lanes_.size(); ++i) {
    threads_.emplace_back([this, i] {
      prepare(i);
      judge_jobs(i);
      lanes_[i].judges.clear(); // all devices end their child processes at the same time
    });
  }
  for (unsigned i = 0; setup_.compile_ahead && i < setup_.compile_threads; ++i) {
    threads_.emplace_back([this] { compile_jobs(); });
  }
}

JudgePool::~JudgePool() {
  stop();
}

void JudgePool::add(JudgeJob job) {
  {
    const std::lock_guard lock(mutex_);
    queue_.push_back({std::move(job), setup_.compile_ahead ? State::Waiting : State::Ready});
  }
  changed_.notify_all();
}

void JudgePool::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    queue_.remove_if([](const Queued& queued) { return queued.state != State::Compiling; });
  }
  changed_.notify_all();
  cancel_until_idle();
  for (std::thread& thread : threads_) {
    thread.join();
  }
  threads_.clear();
}

bool JudgePool::idle() const {
  return std::all_of(lanes_.begin(), lanes_.end(),
                     [](const Lane& lane) { return lane.running == nullptr; });
}

void JudgePool::cancel_until_idle() {
  // Cancels repeatedly, because a cancel() just before judge() begins may have no effect.
  std::unique_lock lock(mutex_);
  while (!idle()) {
    for (const Lane& lane : lanes_) {
      if (lane.running != nullptr) {
        lane.running->cancel();
      }
    }
    changed_.wait_for(lock, kCancelAgain, [this] { return idle(); });
  }
}

std::list<JudgePool::Queued>::iterator JudgePool::next_job() {
  return std::find_if(queue_.begin(), queue_.end(),
                      [](const Queued& queued) { return queued.state == State::Ready; });
}

void JudgePool::prepare(std::size_t device) {
  const tasks::Task* task = nullptr;
  {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return stopping_ || !queue_.empty(); });
    if (stopping_ || next_job() != queue_.end()) {
      return; // a job is ready already: do not wait
    }
    task = queue_.front().job.task;
  }
  try {
    if (Judge* judge = begin(*task, device)) {
      judge->prepare();
    }
  } catch (const std::exception&) { // judge() meets the same error and reports it
  }
  const std::lock_guard lock(mutex_);
  lanes_[device].running = nullptr;
  changed_.notify_all();
}

void JudgePool::judge_jobs(std::size_t device) {
  for (;;) {
    JudgeJob job;
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [this] { return stopping_ || next_job() != queue_.end(); });
      if (stopping_) {
        return;
      }
      const auto next = next_job();
      job = std::move(next->job);
      queue_.erase(next);
    }
    JudgeResult result = judge(job, device);
    const std::string lost = lost_device(job, device);
    {
      const std::lock_guard lock(mutex_);
      lanes_[device].running = nullptr;
      lanes_[device].lost = lost;
      changed_.notify_all();
      if (stopping_) {
        return; // the job may have been cancelled; a resumed run judges it again
      }
      if (!lost.empty() && any_device_left()) {
        queue_.push_front({std::move(job), State::Ready});
        return;
      }
    }
    if (!lost.empty()) {
      result = {job.candidate, {}, "no device is left to judge on: " + lost};
    }
    setup_.done(std::move(result));
  }
}

std::string JudgePool::lost_device(const JudgeJob& job, std::size_t device) {
  const std::unique_ptr<Judge>* judge = lanes_[device].judges.find(job.task);
  return judge == nullptr ? "" : (*judge)->lost_device();
}

bool JudgePool::any_device_left() const {
  return std::any_of(lanes_.begin(), lanes_.end(),
                     [](const Lane& lane) { return lane.lost.empty(); });
}

void JudgePool::compile_jobs() {
  std::unique_lock lock(mutex_);
  for (;;) {
    auto next = queue_.end();
    changed_.wait(lock, [&] {
      next = std::find_if(queue_.begin(), queue_.end(),
                          [](const Queued& queued) { return queued.state == State::Waiting; });
      return stopping_ || next != queue_.end();
    });
    if (stopping_) {
      return;
    }
    next->state = State::Compiling; // other threads leave this entry alone now
    lock.unlock();
    setup_.compile_ahead(next->job, [this] {
      const std::lock_guard guard(mutex_);
      return stopping_;
    });
    lock.lock();
    next->state = State::Ready;
    changed_.notify_all();
  }
}

// Makes the judge of this task the running one, which cancel() reaches. nullptr: the pool is
// stopping.
Judge* JudgePool::begin(const tasks::Task& task, std::size_t device) {
  Lane& lane = lanes_[device];
  std::unique_ptr<Judge>* judge = lane.judges.find(&task);
  if (judge == nullptr) {
    judge = &lane.judges.put(&task, setup_.devices[device](task));
  }
  const std::lock_guard lock(mutex_);
  lane.running = stopping_ ? nullptr : judge->get();
  return lane.running;
}

JudgeResult JudgePool::judge(const JudgeJob& job, std::size_t device) {
  JudgeResult result{job.candidate, {}, {}};
  try {
    Judge* judge = begin(*job.task, device);
    if (judge == nullptr) {
      return result;
    }
    judge->race_against(job.to_beat ? &*job.to_beat : nullptr);
    result.evaluations = judge->judge(job.text, job.file_name, job.max_variants);
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

} // namespace winnow::harness
