#include "remote/task_parcels.h"

#include "base/error.h"
#include "base/text.h"
#include "tasks/parse/task_parse.h"
#include "tasks/task/baseline.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace winnow::remote {
namespace {

using tasks::ShapeSet;
using tasks::Task;

constexpr std::string_view kHeldOut = "[[shapes.held_out]]";
constexpr std::string_view kPromotion = "[[shapes.promotion]]";

/// The text without the tables of the held-out shapes, and with a copy of the promotion shapes.
std::string changed_text(std::string_view text) {
  std::string kept, copied;
  bool in_held_out = false, in_promotion = false;
  for (const std::string_view line : split_lines(text)) {
    const std::string_view words = trim(line);
    if (words.starts_with("[")) {
      in_held_out = words.starts_with(kHeldOut);
      in_promotion = words.starts_with(kPromotion);
    }
    if (in_promotion) {
      copied += words.starts_with(kPromotion)
                    ? std::string(kHeldOut) + std::string(words.substr(kPromotion.size()))
                    : std::string(line);
      copied += '\n';
    }
    if (!in_held_out) {
      kept += std::string(line) + '\n';
    }
  }
  return kept + copied;
}

bool same_sizes(const tasks::Shape& a, const tasks::Shape& b) {
  return a.axes == b.axes && a.devices == b.devices;
}

std::vector<tasks::Shape> shapes_in(const Task& task, ShapeSet set) {
  std::vector<tasks::Shape> shapes;
  std::copy_if(task.shapes.begin(), task.shapes.end(), std::back_inserter(shapes),
               [set](const tasks::Shape& shape) { return shape.set == set; });
  return shapes;
}

/// Whether the held-out shapes are gone and nothing else has changed.
bool is_changed_rightly(const Task& before, const Task& after) {
  for (const ShapeSet set : {ShapeSet::Tiny, ShapeSet::Search, ShapeSet::Promotion}) {
    const auto was = shapes_in(before, set);
    const auto is = shapes_in(after, set);
    if (!std::equal(was.begin(), was.end(), is.begin(), is.end(), same_sizes)) {
      return false;
    }
  }
  const auto promotion = shapes_in(after, ShapeSet::Promotion);
  const auto held_out = shapes_in(after, ShapeSet::HeldOut);
  return std::equal(promotion.begin(), promotion.end(), held_out.begin(), held_out.end(),
                    same_sizes) &&
         before.title == after.title && before.description == after.description;
}

} // namespace

Job TaskParcels::for_any_worker(const evaluators::EvaluationRequest& request,
                                CoordinatorTransport& transport) {
  std::shared_ptr<const tasks::Task>& visible = visible_[request.task->digest];
  if (!visible) {
    visible = std::make_shared<const tasks::Task>(without_held_out(*request.task));
  }
  evaluators::EvaluationRequest visible_request = request;
  visible_request.task.reset();
  if (kept_.insert(visible->digest).second) {
    try {
      transport.put_task(visible->digest, evaluators::encode(*visible));
    } catch (const Error&) {
      kept_.erase(visible->digest);
      throw;
    }
  }
  Job job;
  job.task = visible->digest;
  job.request = encode(visible_request);
  return job;
}

Task without_held_out(const Task& task) {
  const std::string file = task.name + "/task.toml without its held-out shapes";
  const auto fail = [&](const std::string& why) {
    throw Error("task '" + task.name + "' cannot go to workers that are not trusted: " + why,
                "write each held-out shape as a table of its own, [[shapes.held_out]]");
  };
  try {
    tasks::TaskTexts texts = tasks::task_texts(task);
    texts.task_toml = changed_text(texts.task_toml);
    Task changed = tasks::parse_task(std::move(texts), file);
    if (!is_changed_rightly(task, changed)) {
      fail("Winnow did not find its held-out shapes in task.toml");
    }
    changed.name = task.name;
    changed.category = task.category;
    return changed;
  } catch (const UsageError& error) {
    fail(error.what());
  }
  return {};
}

} // namespace winnow::remote
