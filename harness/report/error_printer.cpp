#include "harness/report/error_printer.h"

#include "base/json_dump.h"
#include "base/text.h"
#include "harness/report/visible_output.h"

#include <iostream>

#include <nlohmann/json.hpp>

namespace winnow::harness {

int ErrorPrinter::failure(const std::string& what, const std::string& remedy, ExitCode code) const {
  std::cerr << "error: " << what << '\n';
  if (!remedy.empty()) {
    std::cerr << "remedy: " << remedy << '\n';
  }
  print_json(what, remedy, code);
  return to_int(code);
}

int ErrorPrinter::misuse(const std::string& what, const std::string& command) const {
  std::cerr << "error: " << what << "\nsee: " << command << " --help\n";
  print_json(what, "see `" + command + " --help`", ExitCode::Usage);
  return to_int(ExitCode::Usage);
}

void ErrorPrinter::print_json(const std::string& what, const std::string& remedy,
                              ExitCode code) const {
  if (json_ && !output_.has_begun()) {
    std::cout << json_document({{"schema", "winnow.error"},
                                {"version", 1},
                                {"error", to_valid_utf8(what)},
                                {"remedy", to_valid_utf8(remedy)},
                                {"exit_code", to_int(code)}})
              << std::flush;
  }
}

} // namespace winnow::harness
