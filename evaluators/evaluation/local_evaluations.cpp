#include "evaluators/evaluation/local_evaluations.h"

#include "base/error.h"

#include <algorithm>
#include <utility>

namespace winnow::evaluators {

LocalEvaluations::LocalEvaluations(Setup setup)
    : setup_(std::move(setup)), work_(setup_.lanes.size()) {
  for (std::size_t i = 0; i < work_.size(); ++i) {
    threads_.emplace_back([this, i] {
      prepare(i);
      evaluate_requests(i);
    });
  }
  for (unsigned i = 0; setup_.compile_ahead && i < setup_.compile_threads; ++i) {
    threads_.emplace_back([this] { compile_requests(); });
  }
}

LocalEvaluations::~LocalEvaluations() {
  stop();
}

void LocalEvaluations::submit(EvaluationRequest request) {
  {
    const std::lock_guard lock(mutex_);
    queue_.push_back({std::move(request), setup_.compile_ahead ? State::Waiting : State::Ready});
  }
  changed_.notify_all();
}

void LocalEvaluations::cancel(const std::string& id) {
  {
    const std::lock_guard lock(mutex_);
    for (Queued& queued : queue_) {
      if (queued.request.id == id) {
        queued.cancelled = true;
        if (queued.compiled == queued.begun) { // no compiler works on it
          queued.state = State::Ready;
        }
      }
    }
    for (Work& work : work_) {
      if (work.id == id) {
        work.stop.request_stop();
      }
    }
  }
  changed_.notify_all();
}

SittingAnswer LocalEvaluations::hold(const SittingRequest& request, const std::stop_token& stop,
                                     const HoldProgress& progress) {
  // A sitting that is dropped from the queue breaks its promise.
  auto promise = std::make_shared<std::promise<SittingAnswer>>();
  std::future<SittingAnswer> answer = promise->get_future();
  Queued queued;
  queued.request.id = request.id;
  queued.state = State::Ready;
  queued.hold = [promise = std::move(promise), &request, &progress](Lane& lane,
                                                                    const std::stop_token& token) {
    try {
      promise->set_value(lane.hold(request, token, progress));
    } catch (...) {
      promise->set_exception(std::current_exception());
    }
  };
  {
    const std::lock_guard lock(mutex_);
    if (stopping_ || !any_device_left()) {
      return failed_sittings(request, "no device is left to hold the final on");
    }
    queue_.push_back(std::move(queued));
  }
  changed_.notify_all();
  const std::stop_callback cancel_it(stop, [this, &request] { cancel(request.id); });
  try {
    return answer.get();
  } catch (const std::future_error&) {
    return failed_sittings(request, "cancelled");
  } catch (const std::exception& error) {
    return failed_sittings(request, error.what());
  }
}

void LocalEvaluations::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    queue_.remove_if([](const Queued& queued) { return queued.state != State::Compiling; });
    for (Work& work : work_) {
      work.stop.request_stop();
    }
  }
  changed_.notify_all();
  for (std::thread& thread : threads_) {
    thread.join();
  }
  threads_.clear();
}

std::list<LocalEvaluations::Queued>::iterator LocalEvaluations::first_in(State state) {
  return std::find_if(queue_.begin(), queue_.end(),
                      [state](const Queued& queued) { return queued.state == state; });
}

void LocalEvaluations::prepare(std::size_t lane) {
  EvaluationRequest request;
  std::stop_token stop;
  {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return stopping_ || !queue_.empty(); });
    if (stopping_ || first_in(State::Ready) != queue_.end()) {
      return; // a request is ready already: do not wait
    }
    request = queue_.front().request;
    stop = work_[lane].stop.get_token();
  }
  try {
    setup_.lanes[lane]->prepare(request, stop);
  } catch (const std::exception&) { // evaluate() meets the same error and reports it
  }
}

// Waits for a request. nullopt: stopping.
std::optional<LocalEvaluations::Queued> LocalEvaluations::take(std::size_t lane,
                                                               std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return stopping_ || first_in(State::Ready) != queue_.end(); });
  if (stopping_) {
    return std::nullopt;
  }
  const auto next = first_in(State::Ready);
  Queued queued = std::move(*next);
  queue_.erase(next);
  work_[lane].id = queued.request.id;
  work_[lane].stop = std::stop_source();
  if (queued.cancelled) {
    work_[lane].stop.request_stop();
  }
  stop = work_[lane].stop.get_token();
  return queued;
}

void LocalEvaluations::evaluate_requests(std::size_t lane) {
  std::stop_token stop;
  while (std::optional<Queued> queued = take(lane, stop)) {
    EvaluationResult result;
    if (queued->hold) {
      queued->hold(*setup_.lanes[lane], stop);
    } else {
      result = evaluate(queued->request, lane, stop);
    }
    const std::string lost = setup_.lanes[lane]->lost_device();
    if (!lost.empty() && work_[lane].lost.empty() && setup_.warn) {
      setup_.warn("a device judges no more: " + lost);
    }
    {
      const std::lock_guard lock(mutex_);
      work_[lane].id.clear();
      work_[lane].lost = lost;
      if (stopping_) {
        return; // the evaluation may have been stopped
      }
      if (!lost.empty() && any_device_left()) {
        if (!queued->hold) {
          queue_.push_front({std::move(queued->request), State::Ready, stop.stop_requested()});
        }
        changed_.notify_all();
        return;
      }
    }
    if (queued->hold) {
      continue;
    }
    if (!lost.empty()) {
      result.evaluations.clear();
      result.fault = "no device is left to judge on: " + lost;
    }
    setup_.done(std::move(result));
  }
}

bool LocalEvaluations::any_device_left() const {
  return std::any_of(work_.begin(), work_.end(),
                     [](const Work& work) { return work.lost.empty(); });
}

std::list<LocalEvaluations::Queued>::iterator LocalEvaluations::first_to_compile() {
  return std::find_if(queue_.begin(), queue_.end(), [](const Queued& queued) {
    return queued.state != State::Ready && !queued.cancelled && queued.begun < queued.choices();
  });
}

void LocalEvaluations::compile_requests() {
  std::unique_lock lock(mutex_);
  for (;;) {
    auto next = queue_.end();
    changed_.wait(lock, [&] {
      next = first_to_compile();
      return stopping_ || next != queue_.end();
    });
    if (stopping_) {
      return;
    }
    next->state = State::Compiling; // no other thread removes this entry now
    EvaluationRequest part = next->request;
    if (!part.choices.empty()) {
      part.choices = {next->request.choices[next->begun]};
    }
    ++next->begun;
    lock.unlock();
    setup_.compile_ahead(part, [this, next] {
      const std::lock_guard guard(mutex_);
      return stopping_ || next->cancelled;
    });
    lock.lock();
    ++next->compiled;
    const bool is_last = next->cancelled || next->begun == next->choices();
    if (is_last && next->compiled == next->begun) {
      next->state = State::Ready;
      changed_.notify_all();
    }
  }
}

EvaluationResult LocalEvaluations::evaluate(const EvaluationRequest& request, std::size_t lane,
                                            const std::stop_token& stop) {
  EvaluationResult result{request.id, setup_.lanes[lane]->worker(), {}, {}};
  try {
    if (!stop.stop_requested()) {
      result.evaluations = setup_.lanes[lane]->evaluate(request, stop);
    }
    if (stop.stop_requested()) {
      throw Error("cancelled");
    }
    if (result.evaluations.empty()) {
      throw Error("the evaluator gave no evaluation for " + request.file_name);
    }
  } catch (const Error& error) {
    result.evaluations.clear();
    result.fault = with_remedy(error);
  } catch (const std::exception& error) {
    result.evaluations.clear();
    result.fault = error.what();
  }
  return result;
}

} // namespace winnow::evaluators
