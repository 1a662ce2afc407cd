#pragma once

#include "harness/import/import_modules.h"

namespace winnow::harness {

/// What an import ended with.
struct ImportReport {
  std::string device; ///< "cpu", "cuda:0"
  std::string torch;  ///< version of PyTorch
  std::size_t jobs = 1;
  double seconds = 0;
  std::vector<Imported> imported;
};

/// Schema "winnow.import", version 1.
nlohmann::json import_json(const ImportReport& report);

/// A line for each module that is no plain task, and a table by folder.
std::string import_text(const ImportReport& report);

} // namespace winnow::harness
