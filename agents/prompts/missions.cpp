#include "agents/prompts/missions.h"

#include "base/error.h"

#include <algorithm>

#include <fmt/format.h>

namespace winnow::agents {

const std::vector<Mission>& missions() {
  static const std::vector<Mission> all{
      // Changes of a kernel.
      {"fewer bytes", "DRAM bandwidth", false,
       "Move fewer bytes through memory: keep on the chip what is read twice, do not write what is "
       "read back, and let each access of a thread be as wide as the data allow."},
      {"reuse nearby", "L2 bandwidth", false,
       "Use each loaded value more often before it leaves the registers or the shared memory: "
       "larger tiles for a block or a thread, another order of the tiles."},
      {"another layout", "shared memory", false,
       "Let the data lie differently in shared memory and registers: no bank conflicts, vector "
       "accesses, fewer trips between the two."},
      {"hide latency", "latency", false,
       "Hide latency: begin the loads of the next part before the work on this one, with several "
       "buffers and more independent loads in flight."},
      {"more at once", "occupancy", false,
       "Change what a block and a thread need (registers, shared memory, threads), so that the "
       "device has more independent work at once; or the opposite, more work for each thread."},
      {"fewer instructions", "FP pipes", false,
       "Execute fewer instructions for each element: fold index arithmetic out of the loops, use "
       "packed or fused operations, and drop conversions and work that is done twice."},
      {"feed the tensor cores", "tensor cores", false,
       "Keep the units for matrix products busy: larger instructions, operands that arrive "
       "earlier, an epilogue that overlaps with the next tile."},
      {"fewer waits", "", false,
       "Let threads wait less for one another: fewer barriers, exchanges inside of a warp, sums in "
       "parts that are joined at the end."},
      {"other launches", "launch", false,
       "Change the number of launches: join phases into one kernel, or divide one so that no part "
       "of the device idles."},
      {"even work", "", false,
       "Divide the work more evenly: blocks that stay and take the next tile, no last wave that is "
       "nearly empty, long dimensions cut into parts."},
      {"a fast path", "", false,
       "Give the common case a path of its own (whole tiles, aligned rows) without tests inside of "
       "its loops, and keep the edges apart."},
      {"another algorithm", "", false,
       "Look for another algorithm with the same result: fewer passes over the data, fewer "
       "operations, or a form that suits this device better."},
      // Kernels with a structure of their own.
      {"vectors of a thread", "", true,
       "The structure to try: each thread works on short vectors of elements, all in registers, "
       "and threads exchange as little as possible."},
      {"a warp for each part", "", true,
       "The structure to try: a warp owns a row, a tile or another part, and its threads exchange "
       "values by shuffles. No barrier of the block."},
      {"tiles in shared memory", "", true,
       "The structure to try: a block stages tiles in shared memory, and each thread computes "
       "several results from them in registers.",
       "shared memory up to"},
      {"blocks that stay", "", true,
       "The structure to try: as many blocks as the device holds at once; each takes one part of "
       "the work after the other."},
      {"a ring of buffers", "", true,
       "The structure to try: asynchronous copies fill a ring of buffers, and some warps may do "
       "nothing but copy, while others compute.",
       "cp.async"},
      {"parts and a sum", "", true,
       "The structure to try: the long dimension is divided among blocks, and a second step, or "
       "atomic operations, joins their parts."},
      {"other units", "", true,
       "The structure to try: do the main work on units that the plain way does not use, such as "
       "tensor cores or packed operations, with the precision that the task asks for.",
       "mma"},
      {"all on the chip", "", true,
       "The structure to try: one launch and one pass; what it needs again stays in registers and "
       "shared memory until the result is written."},
      {"simple steps", "", true,
       "The structure to try: several small kernels, each as simple and as fast as it can be.",
       " kernels"},
      {"large work for a thread", "", true,
       "The structure to try: few threads with much independent work each, in registers, unrolled, "
       "so that instructions overlap without many warps."},
  };
  return all;
}

std::string mission_words(std::string_view name, int repeats) {
  const auto found = std::find_if(missions().begin(), missions().end(),
                                  [&](const Mission& mission) { return mission.name == name; });
  if (found == missions().end()) {
    throw Error(fmt::format("no mission has the name '{}'", name),
                "the run was made by another version of Winnow; begin a new run");
  }
  const std::string words(found->words);
  if (repeats == 0) {
    return words;
  }
  const std::string others =
      repeats == 1
          ? "One other call has this direction, too: leave to it the idea that comes to mind "
            "first, and take the next one."
          : fmt::format("{} other calls have this direction, too: leave to them the {} ideas "
                        "that come to mind first, and take the next one.",
                        repeats, repeats);
  return words + '\n' + others;
}

} // namespace winnow::agents
