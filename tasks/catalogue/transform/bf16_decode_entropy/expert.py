"""What a good user of PyTorch would try for bf16_decode_entropy."""
import torch

STEPS = 16  # symbols of a chunk that one compiled call decodes
CODE_BITS = (2, 2, 3, 3, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 12)


def compiled(function):
    return torch.compile(function, mode="max-autotune-no-cudagraphs", dynamic=False)


def joined(exponents, sign_mantissa):
    """The bits of the numbers."""
    rest = sign_mantissa.int()
    numbers = (rest & 128) << 8 | exponents << 7 | rest & 127
    return numbers.to(torch.int16)


class Code:
    """What 12 bits begin with: the number of a symbol and of its bits. No input changes that."""

    def __init__(self, device):
        bits = torch.tensor(CODE_BITS, device=device)
        symbol = torch.arange(15, device=device)
        self.symbol = torch.repeat_interleave(symbol, 2 ** (12 - bits))
        self.bits = bits.int().index_select(0, self.symbol)

    def table(self, symbols):
        """exponent * 16 + bits."""
        return symbols.index_select(0, self.symbol).int() << 4 | self.bits


def window(codes, at):
    """The 12 bits from bit `at` on."""
    byte = at >> 3
    last = len(codes) - 1
    one, two, three = (
        codes.index_select(0, (byte + i).clamp(max=last).view(-1)).int() for i in range(3)
    )
    return (one << 16 | two << 8 | three) >> (12 - (at & 7)) & 4095


def symbol_by_symbol(code, begins, length, finish):
    """All chunks at once, one symbol after the other."""

    def few(codes, table, at, steps):
        found = []
        for _ in range(steps):
            entry = table.index_select(0, window(codes, at))
            found.append(entry >> 4)
            at = at + (entry & 15)
        return torch.stack(found), at

    steps_of, join = finish(few), finish(lambda parts, rest: joined(parts.t(), rest))

    def call(codes, sign_mantissa, symbols):
        table, at, parts = code.table(symbols), begins, []
        for start in range(0, length, STEPS):
            exponents, at = steps_of(codes, table, at, min(STEPS, length - start))
            parts.append(exponents)
        return join(torch.cat(parts), sign_mantissa)

    return call


def by_jumps(code, begins, length):
    """From each bit the place of the next code; such jumps are doubled until they end a chunk."""

    def call(codes, sign_mantissa, symbols):
        every = torch.arange(8 * len(codes), dtype=torch.int32, device=codes.device)
        found = code.table(symbols).index_select(0, window(codes, every))
        jump = (every + (found & 15)).clamp(max=len(every) - 1)
        at = begins.unsqueeze(1)
        while True:
            known = at.shape[1]
            more = min(known, length - known)
            if more == 0:
                break
            ahead = jump.index_select(0, at[:, :more].reshape(-1)).view(-1, more)
            at = torch.cat([at, ahead], dim=1)
            if at.shape[1] < length:
                jump = jump.index_select(0, jump)
        exponents = found.index_select(0, at.reshape(-1)).view_as(at) >> 4
        return joined(exponents, sign_mantissa)

    return call


def alternatives(model, codes, sign_mantissa, symbols):
    """{name: function}. The begins of chunks depend on the shape only."""
    chunks, length = sign_mantissa.shape
    code = Code(codes.device)
    slot = (3 * length + 31) // 32 * 32
    begins = torch.arange(chunks, dtype=torch.int32, device=codes.device) * slot
    calls = {
        "symbol by symbol, lookups of 12 bits": symbol_by_symbol(
            code, begins, length, lambda function: function
        ),
        "jumps from every bit, doubled": by_jumps(code, begins, length),
    }
    if hasattr(torch, "compile"):
        calls["compiled, 16 symbols at once"] = symbol_by_symbol(code, begins, length, compiled)
        calls["compiled, jumps from every bit, doubled"] = compiled(by_jumps(code, begins, length))
    return calls
