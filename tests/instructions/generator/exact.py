"""Reference arithmetic on bit patterns, exact: integers of any width, and IEEE 754 by fractions.

Nothing here uses the machine's floating point, so it is independent of every device that is tested against it.
"""

from fractions import Fraction
from math import isqrt


class Format:
    """An IEEE 754 binary format."""

    def __init__(self, bits, fraction):
        self.bits, self.fraction = bits, fraction
        self.bias = (1 << (bits - fraction - 2)) - 1
        self.sign = 1 << (bits - 1)
        self.infinity = (2 * self.bias + 1) << fraction
        self.smallest_normal = 1 << fraction
        self.quiet = 1 << (fraction - 1)
        # What NVIDIA hardware produces; comparisons take any NaN for any other unless they say so.
        self.nan = 0xFFF8 << 48 if bits == 64 else self.sign - 1

    def is_nan(self, bits):
        return bits & (self.sign - 1) > self.infinity

    def is_infinite(self, bits):
        return bits & (self.sign - 1) == self.infinity

    def negative(self, bits):
        return bool(bits & self.sign)

    def flush(self, bits):
        return bits & self.sign if bits & (self.sign - 1) < self.smallest_normal else bits

    def value(self, bits):
        """The number that finite bits stand for."""
        exponent, fraction = (bits & (self.sign - 1)) >> self.fraction, bits & (self.smallest_normal - 1)
        if exponent:
            fraction |= self.smallest_normal
        scale = max(exponent, 1) - self.bias - self.fraction
        magnitude = fraction * Fraction(2) ** scale
        return -magnitude if self.negative(bits) else magnitude

    def round(self, value, negative_zero=False, mode="rn"):
        """The bits that a number is rounded to by `.rn`, `.rz`, `.rm`, `.rp` or `.rna` (to nearest, ties away from zero).
        `negative_zero`: the sign if the number is zero."""
        sign = self.sign if value < 0 or (value == 0 and negative_zero) else 0
        value = abs(value)
        if value == 0:
            return sign
        # The exponent of the leading bit, then the unit in the last place.
        exponent = value.numerator.bit_length() - value.denominator.bit_length()
        if Fraction(2) ** exponent > value:
            exponent -= 1
        unit = max(exponent, 1 - self.bias) - self.fraction
        quotient = value / Fraction(2) ** unit
        number = quotient.numerator // quotient.denominator
        rest = quotient - number
        away = {
            "rn": rest > Fraction(1, 2) or (rest == Fraction(1, 2) and number & 1),
            "rna": rest >= Fraction(1, 2),
            "rz": False,
            "rm": rest and sign,
            "rp": rest and not sign,
        }[mode]
        # A carry out of the fraction walks into the exponent by itself.
        bits = ((unit + self.fraction + self.bias - 1) << self.fraction) + number + bool(away)
        if bits >= self.infinity:
            stays = mode == "rz" or mode == ("rp" if sign else "rm")
            bits = self.infinity - stays
        return sign | bits


F32 = Format(32, 23)
F64 = Format(64, 52)
FORMATS = {"f32": F32, "f64": F64}
F16 = Format(16, 10)
BF16 = Format(16, 7)
HALVES = {"f16": F16, "bf16": BF16}


def add(fmt, a, b, mode="rn"):
    if fmt.is_nan(a) or fmt.is_nan(b):
        return fmt.nan
    if fmt.is_infinite(a) or fmt.is_infinite(b):
        if fmt.is_infinite(a) and fmt.is_infinite(b) and a != b:
            return fmt.nan
        return a if fmt.is_infinite(a) else b
    return fmt.round(fmt.value(a) + fmt.value(b), sum_of_zeros(fmt.negative(a), fmt.negative(b), mode), mode)


def sum_of_zeros(a, b, mode):
    """Whether a sum that is zero is negative, from the addends' signs."""
    return a or b if mode == "rm" else a and b


def mul(fmt, a, b, mode="rn"):
    sign = (a ^ b) & fmt.sign
    if fmt.is_nan(a) or fmt.is_nan(b):
        return fmt.nan
    if fmt.is_infinite(a) or fmt.is_infinite(b):
        zero = (a & (fmt.sign - 1)) == 0 or (b & (fmt.sign - 1)) == 0
        return fmt.nan if zero else sign | fmt.infinity
    return fmt.round(fmt.value(a) * fmt.value(b), bool(sign), mode)


def fma(fmt, a, b, c, mode="rn"):
    if any(map(fmt.is_nan, (a, b, c))):
        return fmt.nan
    negative = bool((a ^ b) & fmt.sign)
    if fmt.is_infinite(a) or fmt.is_infinite(b) or fmt.is_infinite(c):
        product = mul(fmt, a, b) if fmt.is_infinite(a) or fmt.is_infinite(b) else 0
        return add(fmt, product, c)
    zero = sum_of_zeros(negative, fmt.negative(c), mode)
    return fmt.round(fmt.value(a) * fmt.value(b) + fmt.value(c), zero, mode)


def div(fmt, a, b, mode="rn"):
    sign = (a ^ b) & fmt.sign
    zero = lambda bits: bits & (fmt.sign - 1) == 0
    if fmt.is_nan(a) or fmt.is_nan(b) or (fmt.is_infinite(a) and fmt.is_infinite(b)) or (zero(a) and zero(b)):
        return fmt.nan
    if fmt.is_infinite(a) or zero(b):
        return sign | fmt.infinity
    if fmt.is_infinite(b):
        return sign
    return fmt.round(fmt.value(a) / fmt.value(b), bool(sign), mode)


def sqrt(fmt, a, mode="rn"):
    if fmt.is_nan(a) or (fmt.negative(a) and a != fmt.sign):
        return fmt.nan
    if fmt.is_infinite(a) or a & (fmt.sign - 1) == 0:
        return a
    # The root of the number times 4^shift, with a sticky bit below: enough digits to round from.
    shift = 4 * fmt.bits + 1100
    scaled = fmt.value(a) * Fraction(4) ** shift
    root = isqrt(scaled.numerator // scaled.denominator)
    sticky = root * root != scaled
    return fmt.round((2 * root + sticky) * Fraction(1, 2) / Fraction(2) ** shift, mode=mode)


def flush_product(fmt, function, values, result, mode="rn"):
    """The result of `mul` or `fma` as `.ftz` has it: zero if it is below the least normal number when rounded as if exponents
    had no lower bound."""
    if result & (fmt.sign - 1) != fmt.smallest_normal:
        return result if fmt.is_nan(result) else fmt.flush(result)
    # Again, far from where exponents end. Factors are small where the result is.
    up = (64 if fmt is F32 else 8) << fmt.fraction
    scaled = [value + up if index in (0, 2) and value & (fmt.sign - 1) else value for index, value in enumerate(values)]
    again = function(fmt, *scaled, mode=mode)
    return result if again & (fmt.sign - 1) >= fmt.smallest_normal + up else result & fmt.sign


def saturate(fmt, bits):
    """[0.0, 1.0]; NaN becomes +0.0."""
    if fmt.is_nan(bits) or fmt.negative(bits):
        return 0
    return min(bits, fmt.bias << fmt.fraction)


def round_integral(value, mode):
    """A number rounded to an integer by `.rni`, `.rzi`, `.rmi` or `.rpi`."""
    floor = value.numerator // value.denominator
    if mode == "rmi" or floor == value:
        return floor
    if mode == "rpi":
        return floor + 1
    if mode == "rzi":
        return floor if value > 0 else floor + 1
    rest = value - floor
    return floor + 1 if rest > Fraction(1, 2) or (rest == Fraction(1, 2) and floor & 1) else floor


def width(ty):
    return 1 if ty == "pred" else int(ty.lstrip("usbf"))


def signed(bits, width):
    return bits - (1 << width) if bits >> (width - 1) else bits


def number(bits, ty):
    """The integer that bits of a PTX type stand for."""
    return signed(bits, width(ty)) if ty[0] == "s" else bits


def wrap(value, ty):
    return value & ((1 << width(ty)) - 1)


def bounds(ty):
    bits = width(ty)
    return (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) if ty[0] == "s" else (0, (1 << bits) - 1)


def clamp(value, ty):
    low, high = bounds(ty)
    return min(max(value, low), high)
