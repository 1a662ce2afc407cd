#include "tasks/plan/resolve/plan_access.h"

#include "base/text.h"
#include "tasks/plan/resolve/plan_buffers.h"

#include <fmt/format.h>

namespace winnow::tasks {
namespace {

bool is_output(const Buffer& buffer) {
  return buffer.kind == Buffer::Kind::Output || buffer.kind == Buffer::Kind::InOut;
}

std::string static_inputs(const Task& task) {
  std::vector<std::string> names;
  for (const TensorSpec& tensor : task.tensors) {
    if (tensor.is_static) {
      names.push_back(tensor.name);
    }
  }
  return names.empty() ? "no \"prepare\": this task has no static inputs"
                       : "static inputs only: " + join(names, ", ");
}

const std::string& buffer_of(const ResolvedArgument& argument) {
  return argument.tensor_map == nullptr ? argument.buffer : argument.tensor_map->buffer;
}

} // namespace

void BufferAccess::check_prepare(const Buffer& buffer, SourcePosition at) const {
  if (is_output(buffer)) {
    context_.fail(at, fmt::format("\"prepare\" uses output '{}'", buffer.name),
                  "static inputs and scratch buffers with \"keep\": true only");
  }
  if (buffer.kind == Buffer::Kind::Scratch && !buffer.keep) {
    context_.fail(at, fmt::format("\"prepare\" uses scratch '{}', which is not kept", buffer.name),
                  "\"keep\": true in that scratch buffer");
  }
  const TensorSpec* tensor = context_.task().find_tensor(buffer.name);
  if (tensor != nullptr && !tensor->is_static) {
    context_.fail(at,
                  fmt::format("\"prepare\" reads input '{}', which the task does not mark static",
                              buffer.name),
                  static_inputs(context_.task()));
  }
}

void BufferAccess::fail_kept(const Buffer& buffer, SourcePosition at) const {
  context_.fail(at, fmt::format("a launch writes the kept scratch '{}'", buffer.name),
                "a pointer to const: only \"prepare\" may write a buffer with \"keep\"");
}

void BufferAccess::read(Phase phase, const Buffer& buffer, SourcePosition at) {
  if (phase == Phase::Prepare) {
    check_prepare(buffer, at);
  }
  used(phase).bound.insert(buffer.name);
}

void BufferAccess::write(Phase phase, const Buffer& buffer, SourcePosition at) {
  read(phase, buffer, at);
  if (phase == Phase::Run && buffer.keep) {
    fail_kept(buffer, at);
  }
  used(phase).written.insert(buffer.name);
}

void BufferAccess::add(Phase phase, const LaunchStep& step, const std::vector<std::string>& written,
                       const KernelSignature* signature, const std::vector<Buffer>& buffers,
                       SourcePosition at) {
  for (std::size_t i = 0; i < step.arguments.size(); ++i) {
    const Buffer* buffer = find_named(buffers, buffer_of(step.arguments[i]));
    if (buffer == nullptr) {
      continue;
    }
    read(phase, *buffer, at);
    const bool changes = signature != nullptr &&
                         step.arguments[i].kind == ResolvedArgument::Kind::Pointer &&
                         !signature->parameters[i].pointee_const;
    if (phase == Phase::Run && buffer->keep && changes) {
      fail_kept(*buffer, at);
    }
  }
  used(phase).written.insert(written.begin(), written.end());
}

void BufferAccess::check_whole(const std::vector<Buffer>& buffers) const {
  const SourcePosition at = context_.file().plan.launches.front().at;
  for (const Buffer& buffer : buffers) {
    const bool bound = run_.bound.count(buffer.name) != 0;
    if (is_output(buffer) && run_.written.count(buffer.name) == 0) {
      context_.fail(
          at,
          fmt::format("output '{}' is {} for {}", buffer.name,
                      bound ? "bound only to pointers to const" : "not in the args of any launch",
                      context_.shape_text()),
          bound ? "a parameter that is a pointer to non-const"
                : fmt::format("\"{}\" in the args of the launch that writes it", buffer.name));
    }
    if (buffer.keep && bound && prepare_.written.count(buffer.name) == 0) {
      context_.fail(at,
                    fmt::format("\"prepare\" does not write the kept scratch '{}' for {}",
                                buffer.name, context_.shape_text()),
                    "a launch of \"prepare\" that writes the buffer at every shape at which a "
                    "launch uses it");
    }
  }
}

} // namespace winnow::tasks
