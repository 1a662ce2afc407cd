#include "evaluators/torch/torch_question.h"

#include "base/json_dump.h"
#include "evaluators/messages/output_sample.h"
#include "tasks/shared_need.h"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace winnow::evaluators {
namespace {

using nlohmann::json;

constexpr std::uint64_t kExchangeAlignment = 64;

/// The next slice from `end` on; advances `end`.
ArenaSlice slice_of(const tasks::TensorSpec& tensor, std::uint64_t elements, std::uint64_t& end) {
  const ArenaSlice slice{tensor.name, end, elements * tasks::size_bytes(tensor.dtype)};
  end += (slice.bytes + kExchangeAlignment - 1) / kExchangeAlignment * kExchangeAlignment;
  return slice;
}

ArenaSlice slice_at(const tasks::TensorSpec& tensor, const tasks::Shape& shape,
                    std::uint64_t& end) {
  return slice_of(tensor, static_cast<std::uint64_t>(tasks::element_count(tensor, shape)), end);
}

/// The axes, and the integers of the file that follow one under another name.
json axes_of(const tasks::Task& task, const tasks::Shape& shape) {
  json axes = shape.axes;
  for (const auto& [knob, axis] : task.torch->knobs) {
    axes[knob] = shape.axes.at(axis);
  }
  return axes;
}

class Question {
public:
  /// `view`: has the types in which tensors travel.
  Question(const tasks::Task& task, tasks::Task view, const tasks::Shape& shape,
           std::optional<std::uint64_t> draw = std::nullopt)
      : task_(task), view_(std::move(view)), shape_(shape), draw_(draw) {}

  /// `more`: the fields of this kind of question.
  TorchQuestion ask(const json& more, std::uint64_t capacity_bytes) {
    json request{{"source", task_.reference_python},
                 {"mode", task_.torch->training ? "train" : "eval"},
                 {"axes", axes_of(task_, shape_)},
                 {"scalars", json::array()},
                 {"scalar_names", json::array()},
                 {"inputs", inputs()},
                 {"outputs", outputs()}};
    request.update(more);
    for (const tasks::ScalarSpec& scalar : task_.scalars) {
      request["scalar_names"].push_back(scalar.name);
      request["scalars"].push_back(scalar_json(scalar, shape_.scalars.at(scalar.name)));
    }
    tasks::require_shared(task_, shape_, end_, capacity_bytes,
                          "its inputs and the answers of PyTorch");
    question_.line = json_line(request) + "\n";
    return std::move(question_);
  }

private:
  json inputs() {
    json list = json::array();
    for (const tasks::TensorSpec& tensor : view_.tensors) {
      if (tensor.role == tasks::Role::Output) {
        continue;
      }
      const ArenaSlice slice = next_slice(tensor);
      question_.inputs.push_back(slice);
      json item = described(tensor);
      item["offset"] = slice.offset;
      item["bytes"] = slice.bytes;
      item["state"] = tensor.state;
      item["inout"] = tensor.role == tasks::Role::InOut;
      list.push_back(std::move(item));
    }
    return list;
  }

  json outputs() {
    json list = json::array();
    for (const tasks::TensorSpec& tensor : task_.tensors) {
      if (tensor.role == tasks::Role::Input) {
        continue;
      }
      json item = described(tensor);
      const std::vector<Piece> pieces = pieces_of(tensor);
      for (const Piece& piece : pieces) {
        item["pieces"].push_back({piece.first, piece.count});
      }
      item["offset"] = answer(tensor.name, pieces);
      if (view_.find_tensor(tensor.name + std::string(tasks::kMagnitudeSuffix)) != nullptr) {
        item["magnitude_offset"] =
            answer(tensor.name + std::string(tasks::kMagnitudeSuffix), pieces);
      }
      list.push_back(std::move(item));
    }
    return list;
  }

  /// Empty: all of the output.
  std::vector<Piece> pieces_of(const tasks::TensorSpec& output) const {
    return draw_ ? drawn_pieces(static_cast<std::uint64_t>(tasks::element_count(output, shape_)),
                                tasks::size_bytes(output.dtype), *draw_)
                 : std::vector<Piece>();
  }

  std::uint64_t answer(const std::string& name, const std::vector<Piece>& pieces) {
    const tasks::TensorSpec& tensor = *view_.find_tensor(name);
    auto elements = static_cast<std::uint64_t>(tasks::element_count(tensor, shape_));
    if (!pieces.empty()) {
      elements = 0;
      for (const Piece& piece : pieces) {
        elements += piece.count;
      }
    }
    question_.answers.push_back(slice_of(tensor, elements, end_));
    return question_.answers.back().offset;
  }

  json described(const tasks::TensorSpec& tensor) const {
    return {{"name", tensor.name},
            {"dtype", to_string(tensor.dtype)},
            {"shape", extents_of(task_, tensor, shape_)}};
  }

  ArenaSlice next_slice(const tasks::TensorSpec& tensor) { return slice_at(tensor, shape_, end_); }

  const tasks::Task& task_;
  tasks::Task view_;
  const tasks::Shape& shape_;
  std::optional<std::uint64_t> draw_;
  std::uint64_t end_ = 0;
  TorchQuestion question_;
};

} // namespace

TorchQuestion torch_question(const tasks::Task& task, const tasks::Shape& shape, std::uint64_t seed,
                             std::uint64_t capacity_bytes, std::optional<std::uint64_t> draw) {
  return Question(task, tasks::reference_view(task), shape, draw)
      .ask({{"do", "answer"},
            // PyTorch takes 63 bits, and each noisy run needs a seed
            {"seed", seed >> 8U},
            {"accumulate", to_string(task.tolerance.accumulate)}},
           capacity_bytes);
}

TorchQuestion torch_mutant(const tasks::Task& task, const tasks::Shape& shape,
                           const std::string& mutant, std::uint64_t capacity_bytes) {
  return Question(task, task, shape).ask({{"do", "mutant"}, {"mutant", mutant}}, capacity_bytes);
}

TorchQuestion torch_alternatives(const tasks::Task& task, const tasks::Shape& shape,
                                 std::uint64_t capacity_bytes) {
  TorchQuestion question =
      Question(task, task, shape).ask({{"do", "alternatives"}}, capacity_bytes);
  question.answers.clear();
  return question;
}

TorchQuestion torch_alternative(const tasks::Task& task, const tasks::Shape& shape,
                                const std::string& name, std::uint64_t capacity_bytes) {
  return Question(task, task, shape).ask({{"do", "alternative"}, {"name", name}}, capacity_bytes);
}

TorchQuestion torch_timing(const tasks::Task& task, const tasks::Shape& shape,
                           const std::vector<std::string>& names, const TorchSampling& sampling,
                           std::uint64_t capacity_bytes) {
  TorchQuestion question = Question(task, task, shape)
                               .ask({{"do", "time"},
                                     {"names", names},
                                     {"sampling",
                                      {{"warmup", sampling.warm_ups},
                                       {"min_samples", sampling.min_samples},
                                       {"max_samples", sampling.max_samples},
                                       {"budget_ns", sampling.budget.count()}}}},
                                    capacity_bytes);
  question.answers.clear();
  return question;
}

bool has_computed_inputs(const tasks::Task& task) {
  return std::any_of(task.tensors.begin(), task.tensors.end(), tasks::is_computed);
}

std::uint64_t bytes_of_computed_inputs(const tasks::Task& task) {
  std::uint64_t most = 0;
  for (const tasks::Shape& shape : task.shapes) {
    std::uint64_t end = 0;
    for (const tasks::TensorSpec& tensor : task.tensors) {
      if (tasks::is_computed(tensor)) {
        slice_at(tensor, shape, end);
      }
    }
    most = std::max(most, end);
  }
  return most;
}

std::vector<ArenaSlice> computed_inputs(const tasks::Task& task, const tasks::Shape& shape) {
  std::vector<ArenaSlice> slices;
  std::uint64_t end = 0;
  for (const tasks::TensorSpec& tensor : task.tensors) {
    if (tasks::is_computed(tensor)) {
      slices.push_back(slice_at(tensor, shape, end));
    }
  }
  return slices;
}

std::string torch_inputs(const tasks::Task& task, const tasks::Shape& shape, std::uint64_t seed,
                         const std::vector<ArenaSlice>& places,
                         std::optional<std::uint64_t> static_seed) {
  json inputs = json::array();
  int index = 0; // among the tensors of get_inputs()
  for (const tasks::TensorSpec& tensor : task.tensors) {
    const bool is_argument = tensor.role != tasks::Role::Output && tensor.state.empty();
    if (tasks::is_computed(tensor)) {
      const auto place = std::find_if(places.begin(), places.end(), [&](const ArenaSlice& slice) {
        return slice.tensor == tensor.name;
      });
      json item{{"name", tensor.name},
                {"dtype", to_string(tensor.dtype)},
                {"shape", extents_of(task, tensor, shape)},
                {"offset", place->offset}};
      if (is_argument) {
        item["index"] = index;
      } else {
        item["state"] = tensor.state;
      }
      inputs.push_back(std::move(item));
    }
    index += is_argument ? 1 : 0;
  }
  return inputs.empty() ? ""
                        : json_line({{"do", "inputs"},
                                     {"source", task.reference_python},
                                     {"axes", axes_of(task, shape)},
                                     {"mode", task.torch->training ? "train" : "eval"},
                                     {"seed", seed >> 1U}, // PyTorch takes 63 bits
                                     {"static_seed", static_seed.value_or(seed) >> 1U},
                                     {"inputs", inputs}}) +
                              "\n";
}

json scalar_json(const tasks::ScalarSpec& scalar, double value) {
  switch (scalar.dtype) {
  case tasks::DType::I32:
  case tasks::DType::I64:
    return static_cast<std::int64_t>(value);
  case tasks::DType::F32:
    return static_cast<double>(static_cast<float>(value));
  default:
    return value;
  }
}

std::vector<std::int64_t> extents_of(const tasks::Task& task, const tasks::TensorSpec& tensor,
                                     const tasks::Shape& shape) {
  tasks::Scope scope;
  tasks::bind_shape(task, shape, scope);
  std::vector<std::int64_t> extents;
  for (const tasks::Expression& extent : tensor.shape) {
    extents.push_back(extent.evaluate(scope));
  }
  return extents;
}

std::string torch_device(const DeviceReport& device) {
  return device.kind == "cpu" ? "cpu" : "cuda:0";
}

std::string visible_device(const DeviceReport& device) {
  if (device.kind == "cpu") {
    return "";
  }
  if (device.uuid.starts_with("GPU-") || device.uuid.starts_with("MIG-")) {
    return device.uuid;
  }
  return device.id.substr(std::min(device.id.find(':'), device.id.size() - 1) + 1);
}

} // namespace winnow::evaluators
