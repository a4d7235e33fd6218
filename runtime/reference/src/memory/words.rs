//! Bytes that several host threads may access at the same time. They are atomic words, so that racing kernels only
//! affect each other.

use std::ops::Deref;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

/// A bounded range of bytes. Accesses of 1, 2, 4 or 8 bytes may be at any offset; those within one word are atomic.
#[derive(Debug, Default)]
pub(crate) struct Words {
    words: Storage,
    bytes: u64,
}

#[derive(Debug)]
enum Storage {
    Own(Box<[AtomicU32]>),
    /// Words shared with the host.
    Lent(&'static [AtomicU32]),
}

impl Default for Storage {
    fn default() -> Self {
        Self::Own(Box::default())
    }
}

impl Deref for Storage {
    type Target = [AtomicU32];

    #[inline(always)]
    fn deref(&self) -> &[AtomicU32] {
        match self {
            Self::Own(words) => words,
            Self::Lent(words) => words,
        }
    }
}

impl Words {
    /// Zeroed memory; `None` if the host has too little. Large memory only uses host memory where it is touched.
    pub fn zeroed(bytes: u64) -> Option<Self> {
        let count = usize::try_from(bytes.div_ceil(4)).ok()?;
        let words = bytemuck::allocation::try_zeroed_slice_box(count).ok()?;
        Some(Self { words: Storage::Own(words), bytes })
    }

    /// Memory in words shared with the host; `None` if there are too few.
    pub fn lent(words: &'static [AtomicU32], bytes: u64) -> Option<Self> {
        (bytes.div_ceil(4) <= words.len() as u64).then_some(Self { words: Storage::Lent(words), bytes })
    }

    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Whether `count` bytes from `offset` on are in range.
    #[inline(always)]
    pub fn contains(&self, offset: u64, count: u64) -> bool {
        count <= self.bytes && offset <= self.bytes - count
    }

    /// The little-endian number of `bytes` (at most 8) bytes at an offset; `None` if out of range.
    #[inline(always)]
    pub fn load(&self, offset: u64, bytes: u8) -> Option<u64> {
        if !self.contains(offset, bytes.into()) {
            return None;
        }
        let first = (offset / 4) as usize;
        if bytes == 4 && offset.is_multiple_of(4) {
            return Some(self.words[first].load(Relaxed).into());
        }
        let shift = 8 * (offset % 4) as u32;
        let end = (offset + u64::from(bytes)).div_ceil(4) as usize;
        let whole = (self.words[first..end].iter().rev())
            .fold(0_u128, |high, word| high << 32 | u128::from(word.load(Relaxed)));
        Some((whole >> shift) as u64 & mask(8 * u32::from(bytes)))
    }

    /// Stores the low `bytes` (at most 8) bytes of a number at an offset. Returns whether that changed anything; `None`
    /// if out of range.
    #[inline(always)]
    pub fn store(&self, offset: u64, bytes: u8, value: u64) -> Option<bool> {
        if !self.contains(offset, bytes.into()) {
            return None;
        }
        let first = (offset / 4) as usize;
        if bytes == 4 && offset.is_multiple_of(4) {
            return Some(put(&self.words[first], u32::MAX, value as u32));
        }
        let shift = 8 * (offset % 4) as u32;
        let end = (offset + u64::from(bytes)).div_ceil(4) as usize;
        let mut where_to = u128::from(mask(8 * u32::from(bytes))) << shift;
        let mut what = u128::from(value) << shift;
        let mut changed = false;
        for word in &self.words[first..end] {
            changed |= put(word, where_to as u32, what as u32);
            where_to >>= 32;
            what >>= 32;
        }
        Some(changed)
    }

    /// Replaces the number of `bytes` bytes at an offset by the result of `f`, and returns the old and the new number;
    /// `None` if out of range. Atomic within one word; for 8 bytes, the caller makes sure that only one thread updates
    /// them at a time.
    pub fn update(&self, offset: u64, bytes: u8, mut f: impl FnMut(u64) -> u64) -> Option<(u64, u64)> {
        if !self.contains(offset, bytes.into()) {
            return None;
        }
        let within = offset % 4;
        if within + u64::from(bytes) > 4 {
            let old = self.load(offset, bytes)?;
            let new = f(old);
            self.store(offset, bytes, new)?;
            return Some((old, new));
        }
        let word = &self.words[(offset / 4) as usize];
        let shift = 8 * within as u32;
        let mask = mask(8 * u32::from(bytes)) as u32;
        let mut before = word.load(Relaxed);
        loop {
            let old = before >> shift & mask;
            let new = f(old.into()) as u32 & mask;
            match word.compare_exchange_weak(before, before & !(mask << shift) | new << shift, Relaxed, Relaxed) {
                Ok(_) => return Some((old.into(), new.into())),
                Err(now) => before = now,
            }
        }
    }

    /// Copies bytes out; `None` if out of range.
    pub fn read(&self, offset: u64, bytes: &mut [u8]) -> Option<()> {
        for (at, chunk) in self.words_of(offset, bytes.len())? {
            let value = self.load(offset + at as u64, chunk as u8)?;
            bytes[at..at + chunk].copy_from_slice(&value.to_le_bytes()[..chunk]);
        }
        Some(())
    }

    /// Copies bytes in; `None` if out of range.
    pub fn write(&self, offset: u64, bytes: &[u8]) -> Option<()> {
        for (at, chunk) in self.words_of(offset, bytes.len())? {
            let mut value = [0; 8];
            value[..chunk].copy_from_slice(&bytes[at..at + chunk]);
            self.store(offset + at as u64, chunk as u8, u64::from_le_bytes(value))?;
        }
        Some(())
    }

    /// Fills `count` bytes; `None` if out of range.
    pub fn fill(&self, offset: u64, count: u64, byte: u8) -> Option<()> {
        let value = u64::from_le_bytes([byte; 8]);
        for (at, chunk) in self.words_of(offset, usize::try_from(count).ok()?)? {
            self.store(offset + at as u64, chunk as u8, value)?;
        }
        Some(())
    }

    /// Splits `count` bytes from `offset` on into runs of at most 4, aligned except for the first and the last: each
    /// with its position after `offset`, and its length. `None` if out of range.
    fn words_of(&self, offset: u64, count: usize) -> Option<impl Iterator<Item = (usize, usize)> + use<>> {
        let head = (offset.wrapping_neg() % 4) as usize;
        let mut at = 0;
        let next = move || {
            let chunk = (if at == 0 && head > 0 { head } else { 4 }).min(count - at);
            let begin = at;
            at += chunk;
            (chunk > 0).then_some((begin, chunk))
        };
        self.contains(offset, count as u64).then(|| std::iter::from_fn(next))
    }
}

/// Sets the bits of a word selected by `mask`. Returns whether they changed.
#[inline(always)]
fn put(word: &AtomicU32, mask: u32, value: u32) -> bool {
    let before = word.load(Relaxed);
    if (before ^ value) & mask == 0 {
        return false;
    }
    if mask == u32::MAX {
        word.store(value, Relaxed);
        return true;
    }
    let mut now = before;
    while let Err(other) = word.compare_exchange_weak(now, now & !mask | value & mask, Relaxed, Relaxed) {
        now = other;
    }
    true
}

/// The lowest `bits` bits, at most 64.
#[inline(always)]
fn mask(bits: u32) -> u64 {
    u64::MAX >> (64 - bits)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loads_and_stores_at_any_alignment() {
        for bytes in [1_u8, 2, 4, 8] {
            for offset in 0..8 {
                let words = Words::zeroed(16).unwrap();
                words.fill(0, 16, 0xee).unwrap();
                let value = 0x8877_6655_4433_2211;
                assert_eq!(words.store(offset, bytes, value), Some(true));
                assert_eq!(words.store(offset, bytes, value), Some(false), "nothing changes the second time");
                let mut expected = [0xee; 16];
                let at = offset as usize;
                expected[at..at + usize::from(bytes)].copy_from_slice(&value.to_le_bytes()[..bytes.into()]);
                let mut all = [0; 16];
                words.read(0, &mut all).unwrap();
                assert_eq!(all, expected, "{bytes} bytes at {offset}");
                let mut back = [0; 8];
                back[..bytes.into()].copy_from_slice(&value.to_le_bytes()[..bytes.into()]);
                assert_eq!(words.load(offset, bytes), Some(u64::from_le_bytes(back)));
                let (old, new) = words.update(offset, bytes, |old| !old).unwrap();
                assert_eq!(old, u64::from_le_bytes(back));
                assert_eq!(words.load(offset, bytes).unwrap(), (!old) & mask(8 * u32::from(bytes)), "{new:x}");
            }
        }
    }

    #[test]
    fn nothing_lies_outside() {
        let words = Words::zeroed(6).unwrap();
        assert_eq!(words.load(4, 2), Some(0));
        assert_eq!(words.load(4, 4), None, "the last word is only half there");
        assert_eq!(words.load(5, 2), None);
        assert_eq!(words.load(u64::MAX, 1), None);
        assert_eq!(words.store(u64::MAX - 3, 8, 1), None);
        assert_eq!(words.update(6, 1, |x| x), None);
        assert_eq!(words.write(3, &[0; 4]), None);
        assert_eq!(words.read(7, &mut []), None);
        assert_eq!(words.fill(0, u64::MAX, 0), None);
        assert!(std::hint::black_box(Words::zeroed(u64::MAX / 8)).is_none());
    }

    #[test]
    fn lent_words_are_the_hosts() {
        static LENT: [AtomicU32; 2] = [const { AtomicU32::new(0) }; 2];
        let words = Words::lent(&LENT, 7).unwrap();
        words.write(3, &[1, 2, 3, 4]).unwrap();
        assert_eq!(LENT.each_ref().map(|word| word.load(Relaxed)), [0x0100_0000, 0x0004_0302]);
        LENT[0].store(7, Relaxed);
        assert_eq!(words.load(0, 1), Some(7));
        assert_eq!(words.write(4, &[0; 4]), None);
        assert!(Words::lent(&LENT, 9).is_none());
    }

    #[test]
    fn copies_of_odd_lengths() {
        let words = Words::zeroed(64).unwrap();
        let data: Vec<u8> = (1..=40).collect();
        for offset in 0..5 {
            for count in [0, 1, 2, 3, 5, 17, 40] {
                words.fill(0, 64, 0).unwrap();
                words.write(offset, &data[..count]).unwrap();
                let mut all = [0; 64];
                words.read(0, &mut all).unwrap();
                let at = offset as usize;
                assert_eq!(all[at..at + count], data[..count]);
                assert!(all[..at].iter().chain(&all[at + count..]).all(|&byte| byte == 0));
                let mut part = vec![0; count];
                words.read(offset, &mut part).unwrap();
                assert_eq!(part, data[..count]);
            }
        }
    }
}
