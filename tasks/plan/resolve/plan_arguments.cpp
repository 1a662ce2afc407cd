#include "tasks/plan/resolve/plan_arguments.h"

#include "base/text.h"

#include <limits>

#include <fmt/format.h>

namespace winnow::tasks {
namespace {

using ParameterKind = ParameterType::Kind;

constexpr int kTensorMapBytes = 128; // sizeof(CUtensorMap)

std::string integer_type(int size_bytes, bool is_signed) {
  const std::string name = size_bytes == 1   ? "char"
                           : size_bytes == 2 ? "short"
                           : size_bytes == 4 ? "int"
                                             : "long long";
  return is_signed ? (size_bytes == 1 ? "signed char" : name) : "unsigned " + name;
}

std::string float_type(int size_bytes) {
  return size_bytes == 8   ? "double"
         : size_bytes == 4 ? "float"
                           : fmt::format("{}-byte float", size_bytes);
}

std::string type_text(const ParameterType& parameter) {
  switch (parameter.kind) {
  case ParameterKind::Pointer:
    return fmt::format("{}{}*", parameter.pointee_const ? "const " : "",
                       parameter.pointee_float
                           ? float_type(parameter.pointee_size_bytes)
                           : fmt::format("{}-byte", parameter.pointee_size_bytes));
  case ParameterKind::SignedInteger:
    return integer_type(parameter.size_bytes, true);
  case ParameterKind::UnsignedInteger:
    return integer_type(parameter.size_bytes, false);
  case ParameterKind::Float:
    return float_type(parameter.size_bytes);
  case ParameterKind::Bool:
    return "bool";
  case ParameterKind::Other:
    return fmt::format("{}-byte struct", parameter.size_bytes);
  }
  return "?";
}

std::string with_name(const ParameterType& parameter) {
  return type_text(parameter) + (parameter.name.empty() ? "" : " " + parameter.name);
}

SourcePosition position(const Argument& argument) {
  const auto at = [](const auto& of) {
    if constexpr (requires { of.at; }) {
      return of.at;
    } else {
      return of.value.at;
    }
  };
  return std::visit(at, argument);
}

std::string buffer_text(const BufferReference& reference) {
  auto names =
      each<std::string>(reference.pick, [&](const auto& name) { return name.value_or("null"); });
  const bool pick = !reference.by.expression.empty();
  return (pick ? "pick " : "") + join(names, "|");
}

std::string argument_text(const Argument& argument) {
  if (std::holds_alternative<NullArgument>(argument)) {
    return "null";
  }
  if (const auto* integer = std::get_if<IntegerArgument>(&argument)) {
    return truncate_text(integer->value.expression.text(), 60);
  }
  if (const auto* real = std::get_if<FloatArgument>(&argument)) {
    return fmt::format("float {}", truncate_text(real->value.expression.text(), 60));
  }
  if (const auto* map = std::get_if<TensorMapArgument>(&argument)) {
    return fmt::format("tensor map {}", truncate_text(map->map, 60));
  }
  return buffer_text(std::get<BufferReference>(argument));
}

constexpr const char* kNoStructs = "no structs by value: pass their members as parameters";

bool takes_tensor_map(const ParameterType& parameter) {
  return parameter.kind == ParameterKind::Other && parameter.size_bytes == kTensorMapBytes;
}

struct IntegerLimits {
  std::int64_t low;
  std::int64_t high;
};

IntegerLimits limits(const ParameterType& parameter) {
  constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
  const int bits = parameter.size_bytes * 8;
  if (parameter.kind == ParameterKind::Bool) {
    return {0, 1};
  }
  if (parameter.kind == ParameterKind::UnsignedInteger) {
    return {0, bits >= 64 ? kMax : (std::int64_t{1} << bits) - 1};
  }
  return {bits >= 64 ? -kMax - 1 : -(std::int64_t{1} << (bits - 1)),
          bits >= 64 ? kMax : (std::int64_t{1} << (bits - 1)) - 1};
}

class ArgumentResolver {
public:
  ArgumentResolver(const PlanContext& context, const KernelLaunch& launch, SourcePosition at,
                   const Scope& scope, const std::vector<Buffer>& buffers, TensorMaps& tensor_maps,
                   const KernelSignature* signature)
      : context_(context), launch_(launch), at_(at), scope_(scope), buffers_(buffers),
        tensor_maps_(tensor_maps), signature_(signature) {}

  ResolvedArguments resolve() {
    check_count();
    for (index_ = 0; index_ < launch_.arguments.size(); ++index_) {
      ResolvedArgument value = resolve_one(launch_.arguments[index_]);
      if (parameter() != nullptr) {
        value.size_bytes = parameter()->size_bytes;
      }
      result_.arguments.push_back(std::move(value));
    }
    return std::move(result_);
  }

private:
  const ParameterType* parameter() const {
    return signature_ == nullptr ? nullptr : &signature_->parameters[index_];
  }

  std::string parameter_name() const {
    const std::string name = parameter() == nullptr ? "" : parameter()->name;
    return name.empty() ? fmt::format("parameter {}", index_ + 1)
                        : fmt::format("parameter {} '{}'", index_ + 1, name);
  }

  // For instance "the parameters are (const float* x, int n), the args (x, eps)".
  std::string lists() const {
    auto parameters =
        each<std::string>(signature_->parameters,
                          [&](const ParameterType& parameter) { return with_name(parameter); });
    auto arguments = each<std::string>(
        launch_.arguments, [&](const Argument& argument) { return argument_text(argument); });
    return fmt::format("the parameters are ({}), the args ({})", join(parameters, ", "),
                       join(arguments, ", "));
  }

  [[noreturn]] void mismatch(const std::string& given, const std::string& expected) const {
    context_.fail(position(launch_.arguments[index_]),
                  fmt::format("{} of kernel '{}' is {}, but its argument is {}; {}",
                              parameter_name(), launch_.kernel, type_text(*parameter()), given,
                              lists()),
                  expected);
  }

  bool is_pointer(const Argument& argument) const {
    const auto* integer = std::get_if<IntegerArgument>(&argument);
    return std::holds_alternative<NullArgument>(argument) ||
           std::holds_alternative<BufferReference>(argument) ||
           (integer != nullptr &&
            find_named(buffers_, integer->value.expression.text()) != nullptr);
  }

  void check_count() const {
    if (signature_ == nullptr || signature_->parameters.size() == launch_.arguments.size()) {
      return;
    }
    const auto& parameters = signature_->parameters;
    std::size_t first = 0;
    while (first < parameters.size() && first < launch_.arguments.size() &&
           is_pointer(launch_.arguments[first]) ==
               (parameters[first].kind == ParameterKind::Pointer)) {
      ++first;
    }
    const std::string mismatch_text =
        first >= parameters.size()
            ? fmt::format("argument {} has no parameter", first + 1)
            : fmt::format("the first mismatch is parameter {} '{}' ({})", first + 1,
                          parameters[first].name, type_text(parameters[first]));
    context_.fail(first < launch_.arguments.size() ? position(launch_.arguments[first]) : at_,
                  fmt::format("kernel '{}' has {} parameters and {} args: {}; {}", launch_.kernel,
                              parameters.size(), launch_.arguments.size(), mismatch_text, lists()),
                  is_struct(first) ? kNoStructs : "one argument for each parameter");
  }

  bool is_struct(std::size_t at) const {
    const auto& parameters = signature_->parameters;
    return at < parameters.size() && parameters[at].kind == ParameterKind::Other &&
           !takes_tensor_map(parameters[at]);
  }

  ResolvedArgument resolve_one(const Argument& argument) {
    if (const auto* map = std::get_if<TensorMapArgument>(&argument)) {
      return tensor_map(*map);
    }
    if (parameter() != nullptr && parameter()->kind == ParameterKind::Other) {
      mismatch(argument_text(argument),
               takes_tensor_map(*parameter())
                   ? "{\"tensor_map\": ...} for a CUtensorMap; no other structs by value"
                   : kNoStructs);
    }
    if (std::holds_alternative<NullArgument>(argument)) {
      return pointer({}, {});
    }
    if (const auto* reference = std::get_if<BufferReference>(&argument)) {
      return pointer(resolve_buffer(context_, *reference, scope_, buffers_), reference->at);
    }
    if (const auto* real_argument = std::get_if<FloatArgument>(&argument)) {
      return real(context_.real(real_argument->value, scope_, argument_name()));
    }
    const PlanExpression& value = std::get<IntegerArgument>(argument).value;
    if (const Buffer* buffer = find_named(buffers_, value.expression.text())) {
      return pointer({buffer, 0}, value.at);
    }
    const Value* named = scope_.find(value.expression.text());
    if (named != nullptr && std::holds_alternative<double>(*named)) {
      return real(std::get<double>(*named));
    }
    return integer(value);
  }

  ResolvedArgument tensor_map(const TensorMapArgument& argument) {
    if (parameter() != nullptr && !takes_tensor_map(*parameter())) {
      mismatch(argument_text(launch_.arguments[index_]),
               parameter()->kind == ParameterKind::Pointer
                   ? "a parameter \"const __grid_constant__ CUtensorMap\": tensor maps go by value"
                   : "a parameter \"const __grid_constant__ CUtensorMap\"");
    }
    ResolvedArgument result;
    result.kind = ResolvedArgument::Kind::TensorMap;
    result.tensor_map = tensor_maps_.find(argument.map, argument.at, scope_);
    result.size_bytes = kTensorMapBytes;
    if (find_named(buffers_, result.tensor_map->buffer)->kind != Buffer::Kind::Input) {
      result_.written.push_back(result.tensor_map->buffer); // maps do not tell reads from writes
    }
    return result;
  }

  std::string argument_name() const { return fmt::format("args[{}]", index_); }

  ResolvedArgument pointer(const BufferPlace& place, SourcePosition at) {
    if (parameter() != nullptr && parameter()->kind != ParameterKind::Pointer) {
      mismatch(fmt::format("a pointer ({})", argument_text(launch_.arguments[index_])),
               "a number: an axis, scalar or expression");
    }
    ResolvedArgument result;
    result.kind = ResolvedArgument::Kind::Pointer;
    if (place.buffer == nullptr) {
      return result;
    }
    result.buffer = place.buffer->name;
    result.offset_bytes = place.offset * static_cast<std::int64_t>(size_bytes(place.buffer->dtype));
    check_pointee(*place.buffer, at);
    return result;
  }

  void check_pointee(const Buffer& buffer, SourcePosition at) {
    if (parameter() == nullptr || !parameter()->pointee_const) {
      result_.written.push_back(buffer.name);
    }
    if (parameter() == nullptr) {
      return;
    }
    if (buffer.kind == Buffer::Kind::Input && !parameter()->pointee_const) {
      warn(at,
           fmt::format("input '{}' is bound to {} of kernel '{}', which is not a pointer to const",
                       buffer.name, parameter_name(), launch_.kernel),
           fmt::format("const {}: inputs must not change", type_text(*parameter())));
    }
    const auto stored = static_cast<int>(size_bytes(buffer.dtype));
    if (parameter()->pointee_float && is_floating(buffer.dtype) &&
        parameter()->pointee_size_bytes != stored) {
      warn(at,
           fmt::format("'{}' has {}-byte elements ({}), but {} of kernel '{}' is {}", buffer.name,
                       stored, to_string(buffer.dtype), parameter_name(), launch_.kernel,
                       type_text(*parameter())),
           fmt::format("{}*", device_type_name(buffer.dtype)));
    }
  }

  void warn(SourcePosition at, const std::string& what, const std::string& expected) {
    result_.warnings.push_back({context_.file().file, at, what, expected});
  }

  ResolvedArgument real(double value) const {
    if (parameter() != nullptr && parameter()->kind != ParameterKind::Float) {
      mismatch(fmt::format("a float ({})", argument_text(launch_.arguments[index_])),
               parameter()->kind == ParameterKind::Pointer ? "a tensor, scratch buffer or null"
                                                           : "an integer, or a float parameter");
    }
    ResolvedArgument result;
    result.kind = ResolvedArgument::Kind::Float;
    result.real = value;
    return result;
  }

  ResolvedArgument integer(const PlanExpression& value) const {
    if (parameter() != nullptr && parameter()->kind == ParameterKind::Pointer) {
      mismatch(fmt::format("a number ({})", value.expression.text()),
               "a tensor, scratch buffer or null");
    }
    ResolvedArgument result;
    result.integer = context_.integer(value, scope_, argument_name());
    if (parameter() != nullptr && parameter()->kind == ParameterKind::Float) {
      result.kind = ResolvedArgument::Kind::Float;
      result.real = static_cast<double>(result.integer);
      result.integer = 0;
    } else if (parameter() != nullptr) {
      check_range(value, result.integer);
    }
    return result;
  }

  void check_range(const PlanExpression& value, std::int64_t result) const {
    const IntegerLimits range = limits(*parameter());
    if (result >= range.low && result <= range.high) {
      return;
    }
    const bool narrow = parameter()->kind != ParameterKind::Bool && parameter()->size_bytes < 8;
    context_.fail(
        value.at,
        fmt::format("{}; it does not fit {} of kernel '{}' ({})",
                    context_.statement(value, scope_, argument_name(), std::to_string(result)),
                    parameter_name(), launch_.kernel, type_text(*parameter())),
        fmt::format(
            "{} to {}{}", range.low, range.high,
            narrow ? ": use long long, for the parameter and for products of indices above 2^31"
                   : ""));
  }

  const PlanContext& context_;
  const KernelLaunch& launch_;
  SourcePosition at_;
  const Scope& scope_;
  const std::vector<Buffer>& buffers_;
  TensorMaps& tensor_maps_;
  const KernelSignature* signature_;
  std::size_t index_ = 0;
  ResolvedArguments result_;
};

} // namespace

ResolvedArguments resolve_arguments(const PlanContext& context, const KernelLaunch& launch,
                                    SourcePosition at, const Scope& scope,
                                    const std::vector<Buffer>& buffers, TensorMaps& tensor_maps,
                                    const KernelSignature* signature) {
  return ArgumentResolver(context, launch, at, scope, buffers, tensor_maps, signature).resolve();
}

} // namespace winnow::tasks
