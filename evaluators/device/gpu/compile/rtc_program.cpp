#include "evaluators/device/gpu/compile/rtc_program.h"

#include "base/error.h"
#include "base/function_finder.h"
#include "base/text.h"

#include <new>

#include <fmt/format.h>

namespace winnow::evaluators {
namespace {

// Values of nvrtcResult and hiprtcResult.
constexpr int kSuccess = 0;
constexpr int kOutOfMemory = 1;
constexpr int kErrorCompilation = 6;

constexpr std::size_t kMaxQuotedLog = 2000;

} // namespace

std::string find_rtc_functions(void* library, const std::string& prefix, const std::string& image,
                               RtcFunctions& functions) {
  functions.prefix = prefix;
  FunctionFinder finder(library);
  finder.find(prefix + "GetErrorString", functions.error_string);
  finder.find(prefix + "CreateProgram", functions.create_program);
  finder.find(prefix + "DestroyProgram", functions.destroy_program);
  finder.find(prefix + "AddNameExpression", functions.add_name_expression);
  finder.find(prefix + "CompileProgram", functions.compile_program);
  finder.find(prefix + "GetLoweredName", functions.lowered_name);
  finder.find(prefix + "GetProgramLogSize", functions.log_size);
  finder.find(prefix + "GetProgramLog", functions.log);
  finder.find(prefix + image + "Size", functions.image_size);
  finder.find(prefix + image, functions.image);
  return finder.missing();
}

std::vector<std::string> include_options(const RuntimeCompileJob& job) {
  std::vector<std::string> options;
  for (const std::string& directory : job.include_directories) {
    options.push_back("-I" + directory);
  }
  return options;
}

RtcProgram::RtcProgram(const RtcFunctions& functions, const RuntimeCompileJob& job)
    : functions_(functions) {
  check(functions_.create_program(&program_, job.source.c_str(), job.file.c_str(), 0, nullptr,
                                  nullptr),
        "CreateProgram");
  for (const std::string& expression : job.instantiated) {
    check(functions_.add_name_expression(program_, expression.c_str()), "AddNameExpression");
  }
}

RtcProgram::~RtcProgram() {
  functions_.destroy_program(&program_);
}

bool RtcProgram::compile(const std::vector<std::string>& options) const {
  std::vector<const char*> pointers;
  pointers.reserve(options.size());
  for (const std::string& option : options) {
    pointers.push_back(option.c_str());
  }
  const int result =
      functions_.compile_program(program_, static_cast<int>(pointers.size()), pointers.data());
  if (result == kErrorCompilation) {
    return false;
  }
  if (result != kSuccess && result != kOutOfMemory) {
    throw Error(fmt::format("{}CompileProgram: {}: {}", functions_.prefix,
                            functions_.error_string(result), truncate_text(log(), kMaxQuotedLog)));
  }
  check(result, "CompileProgram");
  return true;
}

std::string RtcProgram::text(Size size, Bytes get) const {
  std::size_t bytes = 0;
  if (size(program_, &bytes) != kSuccess || bytes == 0) {
    return {};
  }
  std::string out(bytes, '\0');
  if (get(program_, out.data()) != kSuccess) {
    return {};
  }
  out.resize(out.find('\0') == std::string::npos ? bytes : out.find('\0'));
  return out;
}

void RtcProgram::read_image(const RuntimeCompileJob& job, RuntimeCompileOutput& output) const {
  std::size_t bytes = 0;
  check(functions_.image_size(program_, &bytes), "GetSize");
  output.image.resize(bytes);
  check(functions_.image(program_, reinterpret_cast<char*>(output.image.data())), "GetCode");
  for (const std::string& expression : job.instantiated) {
    const char* name = nullptr;
    check(functions_.lowered_name(program_, expression.c_str(), &name), "GetLoweredName");
    output.symbols[expression] = name;
  }
}

void RtcProgram::check(int result, const char* call) const {
  if (result == kOutOfMemory) {
    throw std::bad_alloc();
  }
  if (result != kSuccess) {
    throw Error(fmt::format("{}{}: {}", functions_.prefix, call, functions_.error_string(result)));
  }
}

} // namespace winnow::evaluators
