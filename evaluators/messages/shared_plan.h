#pragma once

#include "tasks/plan/resolve/resolved_plan_json.h"

#include <memory>
#include <mutex>
#include <string>
#include <utility>

namespace winnow::evaluators {

/// A plan that never changes, and its JSON text. Copies share both: a plan goes into many messages,
/// and its text is written once. Copies may be used by different threads.
class SharedPlan {
public:
  SharedPlan() : SharedPlan(tasks::ResolvedPlan()) {}
  SharedPlan(tasks::ResolvedPlan plan) : held_(std::make_shared<Held>(std::move(plan))) {}

  const tasks::ResolvedPlan& operator*() const { return held_->plan; }
  const tasks::ResolvedPlan* operator->() const { return &held_->plan; }
  /// The text of tasks::append_json().
  const std::string& text() const {
    const std::lock_guard lock(held_->writing); // std::call_once would cost a system call
    if (held_->text.empty()) {
      tasks::append_json(held_->text, held_->plan);
    }
    return held_->text;
  }

private:
  struct Held {
    explicit Held(tasks::ResolvedPlan p) : plan(std::move(p)) {}
    const tasks::ResolvedPlan plan;
    std::mutex writing;
    std::string text;
  };
  std::shared_ptr<Held> held_;
};

} // namespace winnow::evaluators

namespace winnow::tasks {

template <> struct JsonForm<evaluators::SharedPlan> {
  static void append(std::string& out, const evaluators::SharedPlan& plan) { out += plan.text(); }
  static void read(const nlohmann::json& json, const std::string& path,
                   evaluators::SharedPlan& plan) {
    ResolvedPlan read;
    read_json(json, path, read);
    plan = std::move(read);
  }
};

} // namespace winnow::tasks
