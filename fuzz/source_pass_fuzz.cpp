#include "evaluators/device/cpu/compile/source_pass.h"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

// Device code comes from a model and may contain anything. The code for the compiler must include
// nothing but device headers.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace winnow::evaluators;
  const std::string source(reinterpret_cast<const char*>(data), size);
  const TranslatedSource result =
      run_source_pass({source, {{"N", 4}}, {"k<4>"}, {}, {{"math.h"}, {}, {}}});
  for (const Token& token : winnow::tasks::tokenize(result.translated)) {
    if (token.kind == Token::Kind::Directive && directive_name(token) == "include") {
      const std::string header = directive_arguments(token);
      if (header != "<math.h>" && header != "\"winnow_cpu.h\"" && header != "\"winnow_entry.h\"") {
        std::abort();
      }
    }
  }
  return 0;
}
