#include "base/error.h"
#include "evaluators/device/cpu/compile/compile_protocol.h"
#include "evaluators/device/elf_reader.h"
#include "evaluators/evaluator.h"
#include "evaluators/process/sandbox.h"

#include <exception>
#include <iostream>
#include <iterator>
#include <string>

#include <nlohmann/json.hpp>

namespace winnow::evaluators {

int compile_worker_main(std::vector<std::string> arguments) {
  enter_sandbox(arguments);
  CompileAnswer answer;
  try {
    const std::string input{std::istreambuf_iterator<char>(std::cin), {}};
    answer = compile_job(nlohmann::json::parse(input).get<CompileJob>());
  } catch (const ElfError& error) {
    answer.verdict = tasks::Verdict::CompileError;
    answer.detail = std::string("the compiled module cannot be used: ") + error.what();
  } catch (const std::bad_alloc&) {
    answer.verdict = tasks::Verdict::OverLimit;
    answer.detail = "the source needs more memory than a compile may use";
  } catch (const std::exception& error) {
    answer.verdict = tasks::Verdict::Infrastructure;
    answer.detail = error.what();
  }
  std::cout << nlohmann::json(answer).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace)
            << std::endl;
  return 0;
}

} // namespace winnow::evaluators
