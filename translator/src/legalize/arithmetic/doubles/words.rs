//! Unsigned integers of 64 and 128 bits as words of 32 bits. Emulated floats are computed on these and not on `I64`: most
//! devices without 64-bit floats have no 64-bit integers in hardware either, and shifts of several words together cost
//! less than shifts of each half.

use crate::ir::{Builder, Type, Value};

/// An integer of `N` words, lowest first. `N` is a power of two.
#[derive(Clone, Copy)]
pub(crate) struct Words<const N: usize>(pub(crate) [Value; N]);

/// A 64-bit integer.
pub(crate) type Pair = Words<2>;

impl Pair {
    /// The words of an `I64`.
    pub(crate) fn of(b: &Builder<'_>, long: Value) -> Pair {
        let (low, high) = b.halves(long);
        Words([low, high])
    }

    /// The `I64` of these words.
    pub(crate) fn joined(self, b: &Builder<'_>) -> Value {
        b.join(self.low(), self.high())
    }

    /// The lower word.
    pub(crate) fn low(self) -> Value {
        self.0[0]
    }

    pub(crate) fn high(self) -> Value {
        self.0[1]
    }

    pub(crate) fn constant(b: &Builder<'_>, bits: u64) -> Pair {
        #[allow(clippy::cast_possible_truncation)] // its halves
        Words([b.i32(bits as u32), b.i32((bits >> 32) as u32)])
    }

    /// The low 64 bits of the product with a word.
    pub(crate) fn times(self, b: &Builder<'_>, factor: Value) -> Pair {
        let low = b.mul(self.low(), factor);
        let carried = b.mul_high_unsigned(self.low(), factor);
        let high = b.mul(self.high(), factor);
        Words([low, b.add(carried, high)])
    }

    /// The whole 128-bit product with another pair.
    pub(crate) fn product(self, b: &Builder<'_>, other: Pair) -> Words<4> {
        // The product of two words plus two words fits in 64 bits.
        let [x0, x1] = self.0;
        let [y0, y1] = other.0;
        let lowest = b.mul(x0, y0);
        let cross = multiply_add(b, x1, y0, b.mul_high_unsigned(x0, y0));
        let other_cross = multiply_add(b, x0, y1, cross.low());
        let top = multiply_add(b, x1, y1, cross.high());
        let top = top.plus_word(b, other_cross.high());
        Words([lowest, other_cross.low(), top.low(), top.high()])
    }

    /// Number of leading zeros, in `I32`; 64 for zero.
    pub(crate) fn leading_zeros(self, b: &Builder<'_>) -> Value {
        let is_low = b.is_zero(self.high());
        let highest = b.find_high_bit(b.select(is_low, self.low(), self.high()));
        let [of_low, of_high] = [b.i32(63), b.i32(31)];
        b.sub(b.select(is_low, of_low, of_high), highest)
    }

    /// Whether the number is less than another pair.
    pub(crate) fn is_less(self, b: &Builder<'_>, other: Pair) -> Value {
        let high = b.ult(self.high(), other.high());
        let equal = b.eq(self.high(), other.high());
        let low = b.and(equal, b.ult(self.low(), other.low()));
        b.or(high, low)
    }
}

/// `x * y + z` of words.
fn multiply_add(b: &Builder<'_>, x: Value, y: Value, z: Value) -> Pair {
    let product = Words([b.mul(x, y), b.mul_high_unsigned(x, y)]);
    product.plus_word(b, z)
}

/// 1 if a sum of words carried, given one of the addends.
fn carry(b: &Builder<'_>, sum: Value, addend: Value) -> Value {
    b.bool_to(Type::I32, b.ult(sum, addend))
}

impl<const N: usize> Words<N> {
    /// Each word on its own.
    pub(crate) fn map(self, change: impl FnMut(Value) -> Value) -> Self {
        Words(self.0.map(change))
    }

    /// `condition ? then : otherwise`.
    pub(crate) fn select(b: &Builder<'_>, condition: Value, then: Self, otherwise: Self) -> Self {
        then.zip(otherwise, |then, otherwise| b.select(condition, then, otherwise))
    }

    /// Combines each word with the other's word at the same place.
    pub(crate) fn zip(self, other: Self, mut combine: impl FnMut(Value, Value) -> Value) -> Self {
        Words(std::array::from_fn(|i| combine(self.0[i], other.0[i])))
    }

    /// The sum with a word.
    pub(crate) fn plus_word(self, b: &Builder<'_>, addend: Value) -> Self {
        let mut addend = addend;
        self.map(|word| {
            let sum = b.add(word, addend);
            addend = carry(b, sum, addend);
            sum
        })
    }

    /// The sum with another integer and with 0 or 1.
    pub(crate) fn plus(self, b: &Builder<'_>, other: Self, one: Value) -> Self {
        let mut carried = one;
        self.zip(other, |x, y| {
            let partial = b.add(x, y);
            let first = b.ult(partial, y);
            let sum = b.add(partial, carried);
            // Both additions together carry at most once.
            let second = b.ult(sum, carried);
            carried = b.bool_to(Type::I32, b.or(first, second));
            sum
        })
    }

    /// The difference `self - other`.
    pub(crate) fn minus(self, b: &Builder<'_>, other: Self) -> Self {
        let mut borrowed: Option<Value> = None;
        self.zip(other, |x, y| {
            let partial = b.sub(x, y);
            let first = b.ult(x, y);
            let (difference, borrows) = match borrowed {
                None => (partial, first),
                Some(borrow) => {
                    let second = b.ult(partial, borrow);
                    (b.sub(partial, borrow), b.or(first, second))
                }
            };
            borrowed = Some(b.bool_to(Type::I32, borrows));
            difference
        })
    }

    /// The negated number if `sign` is all ones, the number itself if `sign` is zero.
    pub(crate) fn negated_if(self, b: &Builder<'_>, sign: Value) -> Self {
        let one = b.and_const(sign, 1);
        self.map(|word| b.xor(word, sign)).plus_word(b, one)
    }

    pub(crate) fn is_zero(self, b: &Builder<'_>) -> Value {
        b.is_zero(self.any(b))
    }

    /// A word that is zero exactly if the number is.
    fn any(self, b: &Builder<'_>) -> Value {
        let [first, rest @ ..] = self.0.as_slice() else { return b.i32(0) };
        rest.iter().fold(*first, |any, word| b.or(any, *word))
    }

    /// Sets the lowest bit if a word isn't zero, so that rounding takes the lost bits into account.
    pub(crate) fn stick(mut self, b: &Builder<'_>, lost: Value) -> Self {
        self.0[0] = b.or(self.0[0], b.bool_to(Type::I32, b.is_nonzero(lost)));
        self
    }

    /// The word at an index, zero outside.
    fn word(self, b: &Builder<'_>, index: Option<usize>) -> Value {
        index.and_then(|index| self.0.get(index).copied()).unwrap_or_else(|| b.i32(0))
    }

    /// Shifted left by a constant below its width.
    pub(crate) fn shl(self, b: &Builder<'_>, amount: u32) -> Self {
        let (skipped, amount) = ((amount / 32) as usize, amount % 32);
        Words(std::array::from_fn(|i| {
            let from = i.checked_sub(skipped);
            let own = self.word(b, from);
            if amount == 0 {
                return own;
            }
            let below = self.word(b, from.and_then(|i| i.checked_sub(1)));
            b.or(b.shl(own, amount), b.shr(below, 32 - amount))
        }))
    }

    /// Shifted right by a constant below its width.
    pub(crate) fn shr(self, b: &Builder<'_>, amount: u32) -> Self {
        let (skipped, amount) = ((amount / 32) as usize, amount % 32);
        Words(std::array::from_fn(|i| {
            let own = self.word(b, Some(i + skipped));
            if amount == 0 {
                return own;
            }
            let above = self.word(b, Some(i + skipped + 1));
            b.or(b.shr(own, amount), b.shl(above, 32 - amount))
        }))
    }

    /// Shifted left by an amount modulo its width.
    pub(crate) fn shl_by(self, b: &Builder<'_>, amount: Value) -> Self {
        let mut shifted = self;
        let mut step = N / 2;
        while step > 0 {
            let moves = b.is_nonzero(b.and_const(amount, 32 * step as u64));
            let moved = Words(std::array::from_fn(|i| shifted.word(b, i.checked_sub(step))));
            shifted = Self::select(b, moves, moved, shifted);
            step /= 2;
        }
        shifted.shl_within(b, amount)
    }

    /// Shifted left by an amount modulo 32.
    pub(crate) fn shl_within(self, b: &Builder<'_>, amount: Value) -> Self {
        let amount = b.and_const(amount, 31);
        let rest = b.xor_const(amount, 31);
        Words(std::array::from_fn(|i| {
            let own = b.shl_by(self.0[i], amount);
            let Some(below) = i.checked_sub(1) else { return own };
            b.or(own, b.shr_by(b.shr(self.0[below], 1), rest))
        }))
    }

    /// Shifted right by an amount below its width; the lowest bit is sticky for the bits lost.
    pub(crate) fn shr_sticking(self, b: &Builder<'_>, amount: Value) -> Self {
        let (shifted, lost) = self.shr_by(b, amount);
        shifted.stick(b, lost)
    }

    /// Shifted right by an amount modulo its width, and a word that isn't zero if nonzero bits were lost.
    pub(crate) fn shr_by(self, b: &Builder<'_>, amount: Value) -> (Self, Value) {
        let mut shifted = self;
        let mut lost = b.i32(0);
        let mut step = N / 2;
        let zero = lost;
        while step > 0 {
            let moves = b.is_nonzero(b.and_const(amount, 32 * step as u64));
            let dropped = shifted.0.into_iter().take(step).reduce(|any, word| b.or(any, word)).unwrap_or(zero);
            lost = b.or(lost, b.select(moves, dropped, zero));
            let moved = Words(std::array::from_fn(|i| shifted.word(b, Some(i + step))));
            shifted = Self::select(b, moves, moved, shifted);
            step /= 2;
        }
        let amount = b.and_const(amount, 31);
        let rest = b.xor_const(amount, 31);
        let carried = shifted.map(|word| b.shl_by(b.shl(word, 1), rest));
        lost = b.or(lost, carried.0[0]);
        let result = Words(std::array::from_fn(|i| {
            let own = b.shr_by(shifted.0[i], amount);
            match carried.0.get(i + 1) {
                Some(carried) => b.or(own, *carried),
                None => own,
            }
        }));
        (result, lost)
    }

    /// Shifted left until its highest bit is one, and by how much; zero stays zero, with a highest word of zero.
    pub(crate) fn normalised(self, b: &Builder<'_>) -> (Self, Value) {
        let mut shifted = self;
        let mut amount = b.i32(0);
        let zero = amount;
        let mut step = N / 2;
        while step > 0 {
            let top = shifted.0.into_iter().skip(N - step).reduce(|any, word| b.or(any, word)).unwrap_or(zero);
            let moves = b.is_zero(top);
            let moved = Words(std::array::from_fn(|i| shifted.word(b, i.checked_sub(step))));
            shifted = Self::select(b, moves, moved, shifted);
            let distance = b.select(moves, b.i32(32 * step as u32), zero);
            amount = b.add(amount, distance);
            step /= 2;
        }
        let highest = b.find_high_bit(shifted.0[N - 1]);
        let zeros = b.sub(b.i32(31), highest);
        (shifted.shl_within(b, zeros), b.add(amount, zeros))
    }
}
