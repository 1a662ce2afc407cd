#include "base/random_bits.h"

#include "base/error.h"

#include <cerrno>
#include <cstring>

#include <sys/random.h>

namespace winnow {

std::uint64_t random_bits() {
  std::uint64_t bits = 0;
  if (getrandom(&bits, sizeof(bits), 0) != static_cast<ssize_t>(sizeof(bits))) {
    throw Error(std::string("getrandom: ") + std::strerror(errno),
                "allow the system call getrandom(2), for example in the profile of the container");
  }
  return bits;
}

} // namespace winnow
