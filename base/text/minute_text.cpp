#include "base/text/minute_text.h"

namespace winnow {

std::string minute_text(std::string time) {
  constexpr std::size_t kMinutes = 16;
  constexpr std::size_t kSeparator = 10;
  if (time.size() > kMinutes && time[kSeparator] == 'T') {
    time.resize(kMinutes);
    time[kSeparator] = ' ';
  }
  return time;
}

} // namespace winnow
