// Generates input elements with identical bits on hosts and devices. The text of this file goes
// into device code, directly after tasks/inputs/dtype_core.h.
#pragma once

#include "tasks/inputs/dtype_core.h"

namespace winnow::tasks {

/// The sparse matrix, in CSR form, whose structure CsrRows and CsrColumns draw.
struct CsrMatrix {
  unsigned long long rows = 0;    ///< at most 2^31
  unsigned long long columns = 0; ///< at most 2^31
  /// hash_name() of the tensor of row pointers: both tensors draw from the stream of this tensor.
  unsigned long long pointers_hash = 0;
};

/// A parameter of a generator: a number, or a range from which drawn() takes one.
struct NumberRange {
  double low = 0;
  double high = 0;

  NumberRange() = default;
  TASKS_ANYWHERE constexpr NumberRange(double number) // NOLINT(*-explicit-*): a number is a range
      : low(number), high(number) {}
  TASKS_ANYWHERE constexpr NumberRange(double from, double to) : low(from), high(to) {}
  TASKS_ANYWHERE constexpr bool varies() const { return low != high; }
};

/// How the elements of a tensor are drawn. drawn() makes numbers of the ranges: for each launch
/// others, so that no kernel knows the distribution.
struct GeneratorSpec {
  enum class Kind : unsigned char {
    Normal,        ///< mean `a` +- `b` * `c`, standard deviation `b`
    Uniform,       ///< in [a, b), signed by default: [-1, 1)
    HeavyTail,     ///< normal with standard deviation `b`; one in `a` is `c` times larger
    SmallIntegers, ///< whole numbers in [a, b]: sums are exact
    Index,         ///< whole numbers in [0, a), with the skew `b`: for gathers
    Constant,      ///< `a`
    LogUniform,    ///< +-2^e * [1, 2), e a whole number in [a, b): every octave alike
    Sparse,        ///< normal with standard deviation `b` in a share `a` of the places, else 0
    Ties,          ///< one of `a` values, `b` apart, around `c`
    Permutation,   ///< every `a` elements in a row are 0 to a - 1 in another order
    OneHot,        ///< of every `a` elements in a row one is 1, the others 0
    Denormal,      ///< in (-a, a), `a` the smallest normal number of the type
    Special,       ///< standard normal; a share `a` is infinite or, with `b` = 1, NaN as well
    Reference,     ///< computed by the PyTorch module's get_inputs(); the generator gives 0
    CsrRows,       ///< row pointers of a sparse matrix of `a` entries and the skew `b`
    CsrColumns,    ///< its column indices: in each row all differ and ascend
  };
  Kind kind = Kind::Normal;
  NumberRange a = 0;
  NumberRange b = 1;
  CsrMatrix csr = {};  ///< CsrRows and CsrColumns only
  NumberRange c = 0.0; ///< 0 with HeavyTail: as `a`
};

/// A GeneratorSpec whose ranges are numbers; only drawn() makes one.
struct DrawnGenerator {
  GeneratorSpec::Kind kind = GeneratorSpec::Kind::Normal;
  double a = 0, b = 0, c = 0;
  CsrMatrix csr = {};
};

namespace core {

// A fused multiply-add would change the last bit from device to device. So times() and plus() round
// separately. (Hosts compile input_generator.cpp with -ffp-contract=off.)
#if defined(__clang__)
#define TASKS_UNFUSED _Pragma("clang fp contract(off)")
#else
#define TASKS_UNFUSED
#endif
TASKS_ANYWHERE inline double times(double x, double y) {
#if defined(__CUDACC_RTC__) || defined(WINNOW_CPU_DEVICE)
  return __dmul_rn(x, y);
#else
  TASKS_UNFUSED
  return x * y;
#endif
}
TASKS_ANYWHERE inline double plus(double x, double y) {
#if defined(__CUDACC_RTC__) || defined(WINNOW_CPU_DEVICE)
  return __dadd_rn(x, y);
#else
  TASKS_UNFUSED
  return x + y;
#endif
}

struct RandomWords {
  unsigned word[4];
};

/// Philox 4x32-10 (Salmon et al., SC 2011): ten rounds of multiply and xor over a counter.
TASKS_ANYWHERE inline RandomWords philox(RandomWords counter, Bits64 key) {
  constexpr Bits64 kMultiplier0 = 0xD2511F53U;
  constexpr Bits64 kMultiplier1 = 0xCD9E8D57U;
  constexpr unsigned kWeyl0 = 0x9E3779B9U;
  constexpr unsigned kWeyl1 = 0xBB67AE85U;
  auto key0 = static_cast<unsigned>(key);
  auto key1 = static_cast<unsigned>(key >> 32U);
  for (int round = 0; round < 10; ++round) {
    const Bits64 product0 = kMultiplier0 * counter.word[0];
    const Bits64 product1 = kMultiplier1 * counter.word[2];
    counter = {static_cast<unsigned>(product1 >> 32U) ^ counter.word[1] ^ key0,
               static_cast<unsigned>(product1),
               static_cast<unsigned>(product0 >> 32U) ^ counter.word[3] ^ key1,
               static_cast<unsigned>(product0)};
    key0 += kWeyl0;
    key1 += kWeyl1;
  }
  return counter;
}

/// The random numbers of one tensor under one seed.
struct RandomStream {
  Bits64 seed;
  Bits64 name_hash; ///< of the tensor's name: hash_name() in input_generator.h

  TASKS_ANYWHERE RandomWords words(Bits64 index) const { return bits(index, name_hash); }
  /// Random numbers that are independent of words(index).
  TASKS_ANYWHERE RandomWords second_words(Bits64 index) const { return bits(index, ~name_hash); }
  /// What the upper 32 bits of the seed decide. They are the same for all contestants of a turn
  /// (launch_seed() in evaluators/messages/protocol.h), so no race is decided by what they draw.
  TASKS_ANYWHERE RandomStream parameters() const { return {seed >> 32U, name_hash}; }

private:
  TASKS_ANYWHERE RandomWords bits(Bits64 index, Bits64 stream) const {
    return philox({static_cast<unsigned>(index), static_cast<unsigned>(index >> 32U),
                   static_cast<unsigned>(stream), static_cast<unsigned>(stream >> 32U)},
                  seed);
  }
};

/// A multiple of 2^-53 in [0, 1).
TASKS_ANYWHERE inline double uniform(const RandomWords& random) {
  const Bits64 bits = (static_cast<Bits64>(random.word[0]) << 32U) | random.word[1];
  return times(static_cast<double>(bits >> 11U), 0x1p-53);
}

/// The first index of a stream whose numbers decide parameters; those of elements are below 2^40.
inline constexpr Bits64 kParameters = 1ULL << 63U;

/// Mean 0, variance 1: the sum of eight 16-bit uniform numbers. Only the last step is not exact.
TASKS_ANYWHERE inline double normal(const RandomWords& random) {
  // 1 / sqrt(8 * (65536^2 - 1) / 12), rounded to double
  constexpr double kScale = 1.8688123650118534e-05;
  unsigned sum = 0;
  for (int i = 0; i < 4; ++i) {
    sum += (random.word[i] & 0xffffU) + (random.word[i] >> 16U);
  }
  constexpr int kTwiceMean = 8 * 65535;
  const int twice_centred = 2 * static_cast<int>(sum) - kTwiceMean;
  return times(static_cast<double>(twice_centred), kScale / 2);
}

/// A whole number in [low, low + count). `count` is 1 to 2^54.
TASKS_ANYWHERE inline double whole(const RandomWords& random, double low, double count) {
  const auto step = static_cast<double>(static_cast<Bits64>(times(uniform(random), count)));
  return plus(low, step < count ? step : plus(count, -1)); // the product may round up to `count`
}

TASKS_ANYWHERE inline double between(const RandomWords& random, double low, double high) {
  const double value = plus(low, times(plus(high, -low), uniform(random)));
  return value < high ? value : low;
}

TASKS_ANYWHERE inline double heavy_tail(const RandomStream& stream, Bits64 index, double tail,
                                        double scale, double factor) {
  const unsigned one_in_tail = 0xffffffffU / static_cast<unsigned>(tail);
  const double value = times(scale, normal(stream.words(index)));
  return stream.second_words(index).word[0] < one_in_tail ? times(factor, value) : value;
}

TASKS_ANYWHERE inline double signed_like(const RandomWords& random, double magnitude) {
  return (random.word[3] & 1U) != 0 ? -magnitude : magnitude;
}

TASKS_ANYWHERE inline double log_uniform(const RandomStream& stream, Bits64 index, double low,
                                         double high) {
  const RandomWords random = stream.words(index);
  const auto exponent = static_cast<int>(whole(stream.second_words(index), low, high - low));
  return signed_like(random, times(plus(1, uniform(random)), power_of_two(exponent)));
}

/// True for a fraction `share` of the indices.
TASKS_ANYWHERE inline bool chosen(const RandomStream& stream, Bits64 index, double share) {
  return uniform(stream.second_words(index)) < share;
}

/// The image of `place` under a random permutation of [0, count), with count from 1 to 2^40. A
/// Feistel network of four rounds permutes the next even number of bits. The network runs again
/// until the result is below `count` (cycle walking: Black and Rogaway, CT-RSA 2002).
TASKS_ANYWHERE inline Bits64 permuted(const RandomStream& stream, Bits64 group, Bits64 place,
                                      Bits64 count) {
  unsigned half_bits = 1;
  while ((1ULL << (2U * half_bits)) < count) {
    ++half_bits;
  }
  const unsigned mask = (1U << half_bits) - 1U;
  const RandomWords keys = stream.words(group);
  Bits64 value = place;
  do {
    auto left = static_cast<unsigned>(value >> half_bits) & mask;
    auto right = static_cast<unsigned>(value) & mask;
    for (unsigned round = 0; round < 4; ++round) {
      unsigned mixed = (right ^ keys.word[round]) * 0x9E3779B1U;
      mixed = (mixed ^ (mixed >> 15U)) * 0x85EBCA77U;
      const unsigned next = left ^ ((mixed ^ (mixed >> 13U)) & mask);
      left = right;
      right = next;
    }
    value = (static_cast<Bits64>(left) << half_bits) | right;
  } while (value >= count);
  return value;
}

/// A whole number in [0, count). With probability `skew`, again and again, only half of the numbers
/// remain; the upper half of the seed decides which.
TASKS_ANYWHERE inline double skewed_index(const RandomStream& stream, Bits64 index, double count,
                                          double skew) {
  double left = count;
  const double luck = uniform(stream.second_words(index));
  for (double rest = skew; left >= 1 && luck < rest; rest = times(rest, skew)) {
    left = times(left, 0.5);
  }
  const double rank = whole(stream.words(index), 0, left < 1 ? 1 : left);
  return skew > 0
             ? static_cast<double>(permuted(stream.parameters(), kParameters,
                                            static_cast<Bits64>(rank), static_cast<Bits64>(count)))
             : rank;
}

TASKS_ANYWHERE inline double special(const RandomStream& stream, Bits64 index, double share,
                                     bool with_nan) {
  const RandomWords random = stream.words(index);
  if (!chosen(stream, index, share)) {
    return normal(random);
  }
  const double infinity = __builtin_bit_cast(double, 0x7ff0000000000000ULL);
  const double nan = __builtin_bit_cast(double, 0x7ff8000000000000ULL);
  return with_nan && random.word[0] % 3U == 0 ? nan : signed_like(random, infinity);
}

/// A run of rows of a sparse matrix: rows [first, first + rows) have the entries [before, before +
/// entries).
struct CsrSpan {
  Bits64 first, rows, before, entries;
};

/// How many entries of the span are in its first `left_rows` rows: at a skew of 0 their equal
/// share, at 1 any share alike. No row gets more entries than the matrix has columns.
TASKS_ANYWHERE inline Bits64 csr_left_entries(const DrawnGenerator& spec,
                                              const RandomStream& stream, const CsrSpan& span,
                                              Bits64 left_rows) {
  const Bits64 right_rows = span.rows - left_rows;
  const RandomWords random = stream.words(span.first + left_rows);
  const double equal = static_cast<double>(left_rows) / static_cast<double>(span.rows);
  const double share = plus(times(plus(1, -spec.b), equal), times(spec.b, uniform(random)));
  const double rounding = uniform({random.word[2], random.word[3], 0, 0});
  const auto entries =
      static_cast<Bits64>(plus(times(static_cast<double>(span.entries), share), rounding));
  const Bits64 right_most = right_rows * spec.csr.columns, left_most = left_rows * spec.csr.columns;
  const Bits64 least = span.entries > right_most ? span.entries - right_most : 0;
  const Bits64 most = span.entries < left_most ? span.entries : left_most;
  return entries < least ? least : entries > most ? most : entries;
}

struct CsrHalves {
  CsrSpan left, right;
};

/// The halves of a span of at least two rows. `stream`: csr_stream().
TASKS_ANYWHERE inline CsrHalves csr_halves(const DrawnGenerator& spec, const RandomStream& stream,
                                           const CsrSpan& span) {
  const Bits64 left_rows = span.rows / 2;
  const Bits64 left_entries = csr_left_entries(spec, stream, span, left_rows);
  return {{span.first, left_rows, span.before, left_entries},
          {span.first + left_rows, span.rows - left_rows, span.before + left_entries,
           span.entries - left_entries}};
}

TASKS_ANYWHERE inline RandomStream csr_stream(const DrawnGenerator& spec, Bits64 seed) {
  return RandomStream{seed, spec.csr.pointers_hash}.parameters();
}

TASKS_ANYWHERE inline CsrSpan csr_matrix(const DrawnGenerator& spec) {
  return {0, spec.csr.rows, 0, static_cast<Bits64>(spec.a)};
}

/// The row `target` or, with `by_entry`, the row that has the entry `target`. Halves the matrix
/// again and again, and each half gets a random share of the entries, as in R-MAT (Chakrabarti,
/// Zhan and Faloutsos, SDM 2004). So some rows are very long, and some are empty.
///
/// The stream of parameters() decides. So all contestants of a turn get the same row pointers. The
/// time of many kernels follows from the longest row and its place, and both are a matter of luck.
TASKS_ANYWHERE inline CsrSpan csr_row(const DrawnGenerator& spec, Bits64 seed, Bits64 target,
                                      bool by_entry) {
  const RandomStream stream = csr_stream(spec, seed);
  CsrSpan span = csr_matrix(spec);
  while (span.rows > 1) {
    const CsrHalves halves = csr_halves(spec, stream, span);
    const Bits64 end = by_entry ? halves.right.before : halves.right.first;
    span = target < end ? halves.left : halves.right;
  }
  return span;
}

TASKS_ANYWHERE inline double csr_pointer(const DrawnGenerator& spec, Bits64 seed, Bits64 index) {
  return index < spec.csr.rows ? static_cast<double>(csr_row(spec, seed, index, false).before)
                               : spec.a;
}

/// Cuts the columns into as many equal ranges as the row has entries. Each entry is in a random
/// column of its range.
TASKS_ANYWHERE inline double csr_column(const DrawnGenerator& spec, const RandomStream& stream,
                                        const CsrSpan& row, Bits64 index) {
  if (row.entries == 0) {
    return 0; // the index is not below the number of entries
  }
  const Bits64 place = index - row.before;
  const Bits64 low = place * spec.csr.columns / row.entries;
  const Bits64 high = (place + 1) * spec.csr.columns / row.entries;
  return whole(stream.words(index), static_cast<double>(low), static_cast<double>(high - low));
}

/// log2 of a number above 0, but a straight line in each octave: without a library's rounding.
TASKS_ANYWHERE inline double octave_of(double number) {
  constexpr Bits64 kOne = 1023ULL << 52U;
  const auto bits = __builtin_bit_cast(Bits64, number);
  const double mantissa = __builtin_bit_cast(double, (bits & ((1ULL << 52U) - 1U)) | kOne);
  return plus(static_cast<double>(static_cast<int>(bits >> 52U) - 1023), plus(mantissa, -1));
}

/// The inverse of octave_of().
TASKS_ANYWHERE inline double at_octave(double octave) {
  auto whole_part = static_cast<int>(octave);
  whole_part -= static_cast<double>(whole_part) > octave ? 1 : 0;
  const double rest = plus(octave, -static_cast<double>(whole_part));
  return times(plus(1, rest), power_of_two(whole_part));
}

/// A number of the range: evenly, or evenly in the logarithm if the range is above 0.
TASKS_ANYWHERE inline double drawn_number(const NumberRange& range, const RandomWords& random) {
  double number = between(random, range.low, range.high);
  if (range.low > 0) {
    number = at_octave(between(random, octave_of(range.low), octave_of(range.high)));
  }
  return number < range.low ? range.low : number > range.high ? range.high : number;
}

/// A whole number of the range, in the same way.
TASKS_ANYWHERE inline double drawn_whole(const NumberRange& range, const RandomWords& random) {
  if (range.low > 0) {
    const double number = drawn_number({range.low, plus(range.high, 1)}, random);
    const auto below = static_cast<double>(static_cast<Bits64>(number));
    return below > range.high ? range.high : below;
  }
  return whole(random, range.low, plus(plus(range.high, -range.low), 1));
}

/// The `place`th parameter of a generator.
TASKS_ANYWHERE inline double drawn_parameter(GeneratorSpec::Kind kind, unsigned place,
                                             const NumberRange& range, const RandomStream& stream) {
  using Kind = GeneratorSpec::Kind;
  const RandomWords random = stream.words(kParameters + place);
  if (!range.varies()) {
    return range.low;
  }
  if (kind == Kind::LogUniform) { // the numbers are exponents
    return whole(random, range.low, plus(plus(range.high, -range.low), 1));
  }
  const bool is_count = place == 1 && (kind == Kind::HeavyTail || kind == Kind::Ties);
  return is_count || kind == Kind::SmallIntegers ? drawn_whole(range, random)
                                                 : drawn_number(range, random);
}

/// The distribution of one launch. Both tensors of a sparse matrix draw as its row pointers do.
TASKS_ANYWHERE inline DrawnGenerator drawn(const GeneratorSpec& spec, Bits64 seed,
                                           Bits64 name_hash) {
  const bool is_csr =
      spec.kind == GeneratorSpec::Kind::CsrRows || spec.kind == GeneratorSpec::Kind::CsrColumns;
  const RandomStream stream =
      RandomStream{seed, is_csr ? spec.csr.pointers_hash : name_hash}.parameters();
  DrawnGenerator result{spec.kind, drawn_parameter(spec.kind, 1, spec.a, stream),
                        drawn_parameter(spec.kind, 2, spec.b, stream),
                        drawn_parameter(spec.kind, 3, spec.c, stream), spec.csr};
  if (spec.kind == GeneratorSpec::Kind::HeavyTail && result.c == 0) {
    result.c = result.a;
  }
  if (spec.kind == GeneratorSpec::Kind::Normal) {
    result.a =
        plus(result.a, signed_like(stream.words(kParameters + 3), times(result.b, result.c)));
  }
  return result;
}

TASKS_ANYWHERE inline double generate(const DrawnGenerator& spec, const RandomStream& stream,
                                      Bits64 index) {
  switch (spec.kind) {
  case GeneratorSpec::Kind::Normal:
    return plus(spec.a, times(spec.b, normal(stream.words(index))));
  case GeneratorSpec::Kind::Uniform:
    return between(stream.words(index), spec.a, spec.b);
  case GeneratorSpec::Kind::HeavyTail:
    return heavy_tail(stream, index, spec.a, spec.b, spec.c);
  case GeneratorSpec::Kind::SmallIntegers:
    return whole(stream.words(index), spec.a, plus(plus(spec.b, -spec.a), 1));
  case GeneratorSpec::Kind::Index:
    return skewed_index(stream, index, spec.a, spec.b);
  case GeneratorSpec::Kind::Constant:
    return spec.a;
  case GeneratorSpec::Kind::LogUniform:
    return log_uniform(stream, index, spec.a, spec.b);
  case GeneratorSpec::Kind::Sparse:
    return chosen(stream, index, spec.a) ? times(spec.b, normal(stream.words(index))) : 0;
  case GeneratorSpec::Kind::Ties: {
    // NOLINTNEXTLINE(bugprone-integer-division): the middle is an integer
    const double middle = static_cast<double>(static_cast<Bits64>(spec.a) / 2U);
    return plus(times(plus(whole(stream.words(index), 0, spec.a), -middle), spec.b), spec.c);
  }
  case GeneratorSpec::Kind::Permutation: {
    const auto count = static_cast<Bits64>(spec.a);
    return static_cast<double>(permuted(stream, index / count, index % count, count));
  }
  case GeneratorSpec::Kind::OneHot: {
    const auto count = static_cast<Bits64>(spec.a);
    const auto hot = static_cast<Bits64>(whole(stream.words(index / count), 0, spec.a));
    return index % count == hot ? 1 : 0;
  }
  case GeneratorSpec::Kind::Denormal:
    return signed_like(stream.words(index), times(uniform(stream.words(index)), spec.a));
  case GeneratorSpec::Kind::Special:
    return special(stream, index, spec.a, spec.b != 0);
  case GeneratorSpec::Kind::Reference:
    return 0;
  case GeneratorSpec::Kind::CsrRows:
    return csr_pointer(spec, stream.seed, index);
  case GeneratorSpec::Kind::CsrColumns:
    return csr_column(spec, stream, csr_row(spec, stream.seed, index, true), index);
  }
  return 0;
}

} // namespace core
} // namespace winnow::tasks
