#include "evaluators/evaluation/module_alternatives.h"

#include "base/error.h"
#include "evaluators/messages/arena.h"
#include "tasks/plan/resolve/plan_resolve.h"

#include <algorithm>
#include <exception>
#include <map>
#include <span>
#include <utility>

#include <nlohmann/json.hpp>

namespace winnow::evaluators {
namespace {

// A module takes some ten launches, so it needs more time than a kernel.
constexpr int kBudgets = 5;

std::string text_or_empty(const nlohmann::json& text) {
  return text.is_string() ? text.get<std::string>() : "";
}

bool has_no_answer(const ModuleAlternative& one) {
  return !one.judged;
}

bool is_compiled(const std::string& alternative) {
  return alternative.starts_with("compile");
}

} // namespace

TorchSampling torch_sampling(const Protocol& protocol, const std::string& device_kind) {
  TorchSampling sampling;
  sampling.budget = kBudgets * time_budget(protocol, device_kind);
  return sampling;
}

void with_module_inputs(DeviceHost& host, const tasks::Task& task, const tasks::Shape& shape,
                        std::uint64_t seed, const TorchQuestion& question,
                        const std::function<void(const std::string& inputs)>& ask) {
  // The judge draws the inputs, because the device does so faster than the coordinator.
  JudgeRequest request;
  // Not the name of judge_request(): the judge would take the answer to this for its reference's.
  request.shape = task.digest + " inputs of " + shape.id;
  request.plan = tasks::tensors_only(task, shape);
  request.seed = request.static_seed = seed;
  request.inputs = question.inputs;
  request.inputs_question = torch_inputs(task, shape, seed, question.inputs);
  std::exception_ptr failure; // of PyTorch, not of the judge
  ReferenceJudge::Round round(host.judge, kTorchAnswersWithin, [&](const JudgeRequest& asked) {
    try {
      ask(asked.inputs_question);
    } catch (const std::exception&) {
      failure = std::current_exception();
    }
    return std::string();
  });
  round.give({request});
  const JudgeReply reply = round.take().front();
  if (failure) {
    std::rethrow_exception(failure);
  }
  if (reply.verdict != tasks::Verdict::Correct) {
    throw Error(reply.detail);
  }
}

ModuleAlternatives::ModuleAlternatives(const tasks::Task& task, std::shared_ptr<DeviceHost> host,
                                       const EvaluationOptions& options,
                                       std::chrono::milliseconds timeout)
    : task_(task), host_(host), options_(options), timeout_(timeout),
      check_(task, std::move(host), options) {}

std::vector<ModuleAlternative> ModuleAlternatives::answers(const tasks::Shape& shape,
                                                           std::uint64_t seed, bool with_compiled) {
  host_->torch.start();
  std::vector<ModuleAlternative> found;
  answer(shape, seed, found, [&](const std::vector<std::string>& names) {
    for (const std::string& name : names) {
      if (with_compiled || !is_compiled(name)) {
        found.push_back({name, "", {}, std::nullopt});
      }
    }
  });
  return found;
}

void ModuleAlternatives::answer_missing(const tasks::Shape& shape, std::uint64_t seed,
                                        std::vector<ModuleAlternative>& found) {
  if (std::any_of(found.begin(), found.end(), has_no_answer)) {
    answer(shape, seed, found, [](const std::vector<std::string>&) {});
  }
}

void ModuleAlternatives::answer(const tasks::Shape& shape, std::uint64_t seed,
                                std::vector<ModuleAlternative>& found, const WithNames& begin) {
  std::vector<std::pair<ModuleAlternative*, Outputs>> ran;
  with_names(shape, seed, [&](const std::vector<std::string>& names) {
    begin(names);
    for (ModuleAlternative& one : found) {
      if (has_no_answer(one)) {
        ran.emplace_back(&one, run(shape, one));
      }
    }
  });
  // Not before: the judge waits while PyTorch has the inputs.
  for (const auto& [one, outputs] : ran) {
    judge(shape, seed, outputs, *one);
  }
}

void ModuleAlternatives::with_names(const tasks::Shape& shape, std::uint64_t seed,
                                    const WithNames& run) {
  const TorchQuestion question = torch_alternatives(task_, shape, host_->exchange.size_bytes());
  with_module_inputs(*host_, task_, shape, seed, question, [&](const std::string& inputs) {
    const auto reply = host_->torch.ask(inputs, question.line, timeout_);
    run(reply.at("names").get<std::vector<std::string>>());
  });
}

ModuleAlternatives::Outputs ModuleAlternatives::run(const tasks::Shape& shape,
                                                    ModuleAlternative& alternative) {
  const TorchQuestion question =
      torch_alternative(task_, shape, alternative.name, host_->exchange.size_bytes());
  alternative.error.clear();
  try {
    host_->torch.ask(question.line, timeout_);
  } catch (const Error& error) { // torch.compile may fail where eager runs
    alternative.error = error.what();
    return {};
  }
  Outputs outputs;
  const ArenaView exchange(host_->exchange.fd());
  for (const ArenaSlice& slice : question.answers) {
    const std::span<std::byte> bytes = exchange.slice(slice.offset, slice.bytes);
    outputs.emplace(slice.tensor, std::vector<std::byte>(bytes.begin(), bytes.end()));
  }
  return outputs;
}

void ModuleAlternatives::judge(const tasks::Shape& shape, std::uint64_t seed,
                               const Outputs& outputs, ModuleAlternative& alternative) {
  std::map<std::string, std::span<const std::byte>> views;
  for (const auto& [name, bytes] : outputs) {
    views.emplace(name, bytes);
  }
  if (!views.empty()) {
    alternative.judged = check_.compare(shape, seed, views);
  }
}

void ModuleAlternatives::time(const tasks::Shape& shape, std::uint64_t seed,
                              std::vector<ModuleAlternative>& found) {
  std::vector<ModuleAlternative*> timed;
  std::vector<std::string> names;
  for (ModuleAlternative& one : found) {
    if (one.judged) {
      timed.push_back(&one);
      names.push_back(one.name);
    }
  }
  if (names.empty()) {
    return;
  }
  with_names(shape, seed, [&](const std::vector<std::string>&) {
    const TorchQuestion question =
        torch_timing(task_, shape, names, torch_sampling(options_, host_->device.kind),
                     host_->exchange.size_bytes());
    const auto reply = host_->torch.ask(question.line, timeout_);
    for (std::size_t i = 0; i < timed.size(); ++i) {
      reply.at("times_ns").at(i).get_to(timed[i]->times_ns);
      timed[i]->error = text_or_empty(reply.at("errors").at(i));
    }
  });
}

} // namespace winnow::evaluators
