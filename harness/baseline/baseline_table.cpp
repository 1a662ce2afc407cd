#include "harness/baseline/baseline_table.h"

#include "base/error.h"
#include "base/text/number_text.h"
#include "evaluators/ceilings/measure_ceilings.h"
#include "evaluators/evaluation/compile_ahead.h"
#include "evaluators/evaluation/evaluator.h"
#include "evaluators/evaluation/profile.h"
#include "evaluators/host/devices.h"
#include "harness/baseline/torch_process.h"
#include "harness/config/duration.h"
#include "harness/report/text_table.h"
#include "tasks/reference/narrowing.h"
#include "tasks/task/baseline.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <utility>

#include <fmt/format.h>

namespace winnow::harness {
namespace {

/// Cancels an evaluator after some time, unless this object is destroyed before.
class TimeLimit {
public:
  TimeLimit(evaluators::Evaluator& evaluator, std::chrono::milliseconds limit)
      : thread_([this, &evaluator, limit](const std::stop_token& stop) {
          std::unique_lock lock(mutex_);
          done_.wait_for(lock, stop, limit, [] { return false; });
          if (!stop.stop_requested()) {
            is_over_ = true;
            evaluator.cancel();
          }
        }) {}
  bool is_over() const { return is_over_; }

private:
  std::mutex mutex_;
  std::condition_variable_any done_;
  std::atomic<bool> is_over_ = false;
  std::jthread thread_; // last, because the thread uses the other members
};

/// The newest timing of this framework at this shape.
std::optional<store::BaselineTiming> find_timing(const std::vector<store::BaselineTiming>& stored,
                                                 std::string_view name, const tasks::Shape& shape) {
  const auto found =
      std::find_if(stored.rbegin(), stored.rend(), [&](const store::BaselineTiming& timing) {
        return timing.name == name && timing.shape_id == shape.id &&
               timing.shape == to_string(shape);
      });
  return found == stored.rend() ? std::nullopt : std::optional(*found);
}

std::string table_microseconds(double ns) {
  return ns > 0 ? number_text(ns * 1e-3) : std::string();
}

std::string library_cell(const BaselineRow& row) {
  std::string text;
  for (const tasks::LibraryTiming& library : row.libraries) {
    text += text.empty() ? "" : ", ";
    text += library.name + ": ";
    text += library.agrees          ? table_microseconds(library.median_ns)
            : library.median_ns > 0 ? "wrong"
                                    : "no time";
  }
  return text;
}

std::string framework_cell(const std::optional<store::BaselineTiming>& timing) {
  if (!timing) {
    return {};
  }
  if (timing->agrees == false) {
    return "wrong";
  }
  return timing->median_ns ? table_microseconds(*timing->median_ns) : "no time";
}

/// What the cells leave out.
std::string notes_of(const BaselineRow& row) {
  std::vector<std::string> notes;
  if (!row.note.empty()) {
    notes.push_back(row.note);
  }
  for (const tasks::LibraryTiming& library : row.libraries) {
    if (!library.error.empty()) {
      notes.push_back(library.name + ": " + library.error);
    }
  }
  for (const auto& timing : {row.eager, row.compiled}) {
    if (timing && !timing->error.empty()) {
      notes.push_back(timing->name + ": " + timing->error);
    }
  }
  return fmt::format("{}", fmt::join(notes, "; "));
}

} // namespace

BaselineTable::BaselineTable(evaluators::EvaluationOptions options,
                             std::chrono::milliseconds task_limit)
    : options_(std::move(options)), task_limit_(task_limit) {
  options_.promotion = options_.check = false;
  options_.counters = evaluators::Counting::Off;
  host_ = evaluators::open_device(evaluators::select_device(options_.device), options_,
                                  options_.run_timeout);
  evaluators::ceilings_of(*host_, options_);
}

const evaluators::DeviceReport& BaselineTable::device() const {
  return host_->device;
}

void BaselineTable::compile_ahead(std::vector<tasks::Task> tasks) {
  for (tasks::Task& task : tasks) {
    tasks::take_baseline_of(task, host_->device.kind);
  }
  ahead_ = std::jthread([this, tasks = std::move(tasks)](const std::stop_token& stop) {
    evaluators::EvaluationRequest request;
    request.protocol = options_;
    const auto compile = [&](tasks::Task task, std::string text, const char* file_name) {
      request.task = std::make_shared<const tasks::Task>(std::move(task));
      request.text = std::move(text);
      request.file_name = file_name;
      evaluators::compile_ahead(*host_, request, [&stop] { return stop.stop_requested(); });
    };
    for (const tasks::Task& task : tasks) {
      if (stop.stop_requested()) {
        return;
      }
      compile(task, task.baseline, tasks::baseline_file(task));
      compile(tasks::reference_view(task), tasks::plain_reference(task), "reference.cu");
    }
  });
}

std::vector<BaselineRow> BaselineTable::rows(tasks::Task task,
                                             const std::vector<store::BaselineTiming>& stored) {
  tasks::take_baseline_of(task, host_->device.kind);
  const std::vector<tasks::Shape> shapes =
      task.shapes_of(tasks::ShapeSet::Search, host_->device.kind);
  std::vector<BaselineRow> rows;
  for (const tasks::Shape& shape : shapes) {
    BaselineRow& row = rows.emplace_back();
    row.task = task.name;
    row.shape = to_string(shape);
    row.eager = find_timing(stored, kTorchEager, shape);
    row.compiled = find_timing(stored, kTorchCompiled, shape);
  }
  std::string note;
  try {
    note = task.baseline.empty() ? "the task has no baseline.cu" : time(task, rows, shapes);
  } catch (const Error& error) {
    note = error.what();
  }
  for (BaselineRow& row : rows) {
    row.note = note;
  }
  return rows;
}

std::string BaselineTable::time(const tasks::Task& task, std::vector<BaselineRow>& rows,
                                const std::vector<tasks::Shape>& shapes) {
  const profiling::Ceilings& ceilings = evaluators::ceilings_of(*host_, options_);
  evaluators::Evaluator evaluator(task, host_, options_);
  std::optional<TimeLimit> limit;
  if (task_limit_.count() > 0) {
    limit.emplace(evaluator, task_limit_);
  }
  const tasks::Evaluation evaluation =
      evaluator.evaluate_text(task.baseline, tasks::baseline_file(task));
  for (const tasks::CaseResult& timed : evaluation.cases) {
    for (std::size_t i = 0; i < shapes.size(); ++i) {
      if (timed.stage != tasks::Stage::Time || timed.shape_id != shapes[i].id) {
        continue;
      }
      rows[i].median_ns = timed.baseline_median_ns;
      rows[i].libraries = timed.libraries;
      const auto speed = evaluators::speed_of_light_of(host_->device, task, shapes[i],
                                                       timed.baseline_median_ns, ceilings);
      if (speed.value) {
        rows[i].speed_of_light = speed.value->fraction;
        rows[i].bound = speed.value->bound;
      }
    }
  }
  if (limit && limit->is_over()) {
    return "not finished after " + format_duration(task_limit_);
  }
  return evaluation.verdict == tasks::Verdict::Correct
             ? ""
             : fmt::format("{}: {}", to_string(evaluation.verdict), evaluation.detail);
}

std::string baseline_table_text(const std::vector<BaselineRow>& rows, bool with_head) {
  TextTable table;
  table.columns = {{"task"},
                   {"shape"},
                   {"baseline.cu, us", true},
                   {"speed of light", true},
                   {"bound"},
                   {"library, us", true},
                   {"torch eager, us", true},
                   {"torch.compile, us", true},
                   {"note"}};
  for (const BaselineRow& row : rows) {
    table.rows.push_back({row.task, row.shape, table_microseconds(row.median_ns),
                          row.speed_of_light ? percent_text(*row.speed_of_light) : "", row.bound,
                          library_cell(row), framework_cell(row.eager),
                          framework_cell(row.compiled), notes_of(row)});
  }
  std::string text = to_markdown(table);
  if (!with_head) {
    text.erase(0, text.find('\n', text.find('\n') + 1) + 1);
  }
  return text;
}

} // namespace winnow::harness
