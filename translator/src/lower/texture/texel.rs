//! Conversion of a texel to four words of 32 bits, by its format.

use super::is_among;
use crate::diagnostic::{Diagnostic, Result};
use crate::ir::{Access, Builder, Compare, MemoryOrder, Space, Type, Value, Var};
use crate::lower::lowering::Lowering;
use crate::soft::{self, HALF};
use ptx2spv_interface::push_constant;
use ptx2spv_interface::texture::Texel;

/// Textures and surfaces may be written while a kernel runs, by this kernel or others.
const READ: Access = Access { space: Space::Global, bytes: 4, order: MemoryOrder::Weak, read_only: false };

/// Formats by the type of their channels.
const ALL: [Texel; 12] = [
    Texel::U8,
    Texel::S8,
    Texel::U16,
    Texel::S16,
    Texel::B32,
    Texel::F16,
    Texel::F32,
    Texel::Unorm8,
    Texel::Snorm8,
    Texel::Unorm16,
    Texel::Snorm16,
    Texel::Srgb8,
];

/// A bit set of formats.
fn formats(is: impl Fn(Texel) -> bool) -> u64 {
    ALL.into_iter().filter(|texel| is(*texel)).map(|texel| 1 << texel.code()).sum()
}

/// The layout of a record's texels in memory.
#[derive(Clone, Copy)]
pub(super) struct Format {
    texel: Value,
    /// Base-2 logarithm of a channel's bytes.
    channel: Value,
    /// Base-2 logarithm of a texel's bytes.
    pub(super) shift: Value,
}

impl Format {
    pub(super) fn of(l: &mut Lowering<'_, '_>, texel: Value, channels: Value) -> Format {
        let table = ALL.into_iter().map(|texel| (texel.bytes() / 2) << (2 * texel.code())).sum();
        let table = l.b.i32(table);
        let place = l.b.and_const(l.b.shl(texel, 1), 31);
        let channel = l.b.and_const(l.b.shr_by(table, place), 3);
        let shift = l.b.add(channel, l.b.shr(channels, 1));
        Format { texel, channel, shift: l.b.and_const(shift, 7) }
    }

    /// Whether `logarithm` is the base-2 logarithm of a channel's bytes.
    pub(super) fn is_channel(&self, l: &mut Lowering<'_, '_>, logarithm: u64) -> Value {
        l.b.compare_const(Compare::Equal, self.channel, logarithm)
    }

    /// Whether sRGB has encoded the second and third channel, and not only the first, as in texels of four bytes. The
    /// fourth channel is linear.
    pub(super) fn encodes_all(&self, b: &Builder<'_>) -> Value {
        b.compare_const(Compare::Equal, self.shift, 2)
    }

    pub(super) fn bytes(&self, l: &mut Lowering<'_, '_>, texels: Value) -> Value {
        l.b.shl_by(texels, self.shift)
    }

    /// Loads the channels of the texel at an address into variables, 0 for missing channels; fractions are at least -1.
    pub(super) fn fetch(&self, l: &mut Lowering<'_, '_>, address: Value, into: [Var; 4]) -> Result {
        self.load(l, address, into)?;
        let signed = formats(|texel| matches!(texel, Texel::Snorm8 | Texel::Snorm16));
        let is_signed = is_among(l, self.texel, signed);
        for var in into {
            l.b.set(var, at_least_minus_one(&l.b, is_signed, l.b.get(var)));
        }
        Ok(())
    }

    /// Loads the channels in the form for filters.
    pub(super) fn load(&self, l: &mut Lowering<'_, '_>, address: Value, into: [Var; 4]) -> Result {
        let shift = self.shift;
        let is_word = self.is_channel(l, 2);
        let words = |l: &mut Lowering<'_, '_>| {
            load_words(&l.b, address, into, shift);
            Ok(())
        };
        l.if_else(is_word, words, |l| self.load_parts(l, address, into))
    }

    /// Loads channels that are parts of one or two words.
    fn load_parts(&self, l: &mut Lowering<'_, '_>, address: Value, into: [Var; 4]) -> Result {
        let words = [Type::I32; 2].map(|ty| l.b.var(ty));
        let shift = self.shift;
        let is_double = l.b.compare_const(Compare::Equal, shift, 3);
        l.b.if_else(is_double, |b| load(b, address, &words), |b| load_narrow(b, address, words[0], shift));
        let words = words.map(|var| l.b.get(var));
        let channels = self.split(l, words);
        for (var, channel) in into.into_iter().zip(channels) {
            l.b.set(var, channel);
        }
        self.convert(l, into)
    }

    /// Splits words into channels.
    fn split(&self, l: &mut Lowering<'_, '_>, [first, second]: [Value; 2]) -> [Value; 4] {
        let is_byte = l.b.is_zero(self.channel);
        let part = |word: Value, at: u32, bits: u32| l.b.and_const(l.b.shr(word, at), (1 << bits) - 1);
        let bytes = [0, 8, 16, 24].map(|at| part(first, at, 8));
        let shorts = [part(first, 0, 16), part(first, 16, 16), part(second, 0, 16), part(second, 16, 16)];
        let mut channels = shorts;
        for (channel, byte) in channels.iter_mut().zip(bytes) {
            *channel = l.b.select(is_byte, byte, *channel);
        }
        channels
    }

    /// Converts narrower channels to 32 bits.
    fn convert(&self, l: &mut Lowering<'_, '_>, channels: [Var; 4]) -> Result {
        let whole = formats(|texel| matches!(texel, Texel::U8 | Texel::U16 | Texel::B32 | Texel::F32));
        let is_whole = is_among(l, self.texel, whole);
        let changes = l.b.not(is_whole);
        let (texel, channel) = (self.texel, self.channel);
        let signed = formats(|texel| matches!(texel, Texel::S8 | Texel::S16 | Texel::Snorm8 | Texel::Snorm16));
        let is_signed = is_among(l, texel, signed);
        let floats = formats(|texel| texel.code() >= Texel::Unorm8.code());
        let is_normalised = is_among(l, texel, floats);
        let Some(table) = l.layout.srgb_table() else {
            return Err(Diagnostic::internal("a texture without the table of sRGB", None));
        };
        l.b.if_(changes, |b| {
            let is_half = b.compare_const(Compare::Equal, texel, Texel::F16.code().into());
            b.if_else(
                is_half,
                |b| {
                    for var in channels {
                        let bits = b.get(var);
                        // Texture units keep NaNs, which a device's conversion may not.
                        b.set(var, b.bits(soft::widen_bits(b, HALF, bits)));
                    }
                },
                |b| {
                    b.if_(is_signed, |b| extend(b, channel, channels));
                    let is_srgb = b.compare_const(Compare::Equal, texel, Texel::Srgb8.code().into());
                    let [red, green, blue, alpha] = channels;
                    let is_srgb_all = b.and(is_srgb, self.encodes_all(b));
                    b.if_(is_normalised, |b| {
                        for (is_encoded, channels) in [(is_srgb, &[red][..]), (is_srgb_all, &[green, blue])] {
                            b.if_else(
                                is_encoded,
                                |b| channels.iter().for_each(|var| decode_srgb(b, table, *var)),
                                |b| normalise(b, channel, is_signed, channels),
                            );
                        }
                        normalise(b, channel, is_signed, &[alpha]);
                    });
                },
            );
        });
        Ok(())
    }
}

pub(super) fn load(b: &Builder<'_>, address: Value, words: &[Var]) {
    let loaded = b.load(READ, address, words.len());
    for (var, word) in words.iter().zip(loaded) {
        b.set(*var, word);
    }
}

/// Loads channels of a word each, and zeros for missing ones.
fn load_words(b: &Builder<'_>, address: Value, into: [Var; 4], shift: Value) {
    let zero = b.i32(0);
    into.into_iter().for_each(|var| b.set(var, zero));
    let is_one = b.compare_const(Compare::Equal, shift, 2);
    b.if_else(
        is_one,
        |b| load(b, address, &into[..1]),
        |b| {
            let is_two = b.compare_const(Compare::Equal, shift, 3);
            b.if_else(is_two, |b| load(b, address, &into[..2]), |b| load(b, address, &into));
        },
    );
}

/// Loads a texel of at most four bytes.
fn load_narrow(b: &Builder<'_>, address: Value, into: Var, shift: Value) {
    for (logarithm, bytes) in [(0, 1), (1, 2), (2, 4)] {
        let is_size = b.compare_const(Compare::Equal, shift, logarithm);
        b.if_(is_size, |b| {
            let word = b.load_one(Access { bytes, ..READ }, address);
            b.set(into, word);
        });
    }
}

/// Sign-extends narrow channels.
fn extend(b: &Builder<'_>, channel: Value, channels: [Var; 4]) {
    let is_byte = b.is_zero(channel);
    let [twenty_four, sixteen] = [b.i32(24), b.i32(16)];
    let above = b.select(is_byte, twenty_four, sixteen);
    for var in channels {
        let bits = b.sar_by(b.shl_by(b.get(var), above), above);
        b.set(var, bits);
    }
}

/// A fraction; signed fractions below -1 become -1.
pub(super) fn at_least_minus_one(b: &Builder<'_>, is_signed: Value, bits: Value) -> Value {
    let value = b.bitcast(bits, Type::F32);
    let least = b.f32(-1.0);
    let is_less = b.and(is_signed, b.flt(value, least));
    b.select(is_less, b.bits(least), bits)
}

/// Divides integers by the greatest of their type. The least signed integer gives less than -1.
fn normalise(b: &Builder<'_>, channel: Value, is_signed: Value, channels: &[Var]) {
    let is_byte = b.is_zero(channel);
    let largest = |byte: f32, short: f32| {
        let (byte, short) = (b.f32(byte), b.f32(short));
        b.select(is_byte, byte, short)
    };
    let signed = largest(127.0, 32767.0);
    let unsigned = largest(255.0, 65535.0);
    let largest = b.select(is_signed, signed, unsigned);
    for var in channels {
        let fraction = b.fdiv(b.unary(crate::ir::Unary::SignedToFloat(Type::F32), b.get(*var)), largest);
        b.set(*var, b.bits(fraction));
    }
}

/// The intensity of an sRGB channel, from the table at an offset in the module's variables.
pub(super) fn decode_srgb(b: &Builder<'_>, table: u64, channel: Var) {
    let base = b.add_const(b.push_constant(Type::I64, push_constant::VARIABLES_ADDRESS), table);
    let offset = b.zero_extend(b.shl(b.get(channel), 2));
    let address = b.add(base, offset);
    let intensity = b.load_one(Access { read_only: true, ..READ }, address);
    b.set(channel, intensity);
}
