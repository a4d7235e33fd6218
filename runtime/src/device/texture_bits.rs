//! Images that are read as exactly as textures are by loads, and the image bits that all textures of a device have in common.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use ptx2spv_translator::interface::texture::{AddressMode, Filter, Kind, Record, Texel, flag, image};
use ptx2spv_translator::target::Facts;

use crate::sync::lock;

/// Whether the sampler of a texture's image reads as NVIDIA's hardware reads the texture.
pub(crate) fn is_exact(facts: &Facts, record: &Record) -> bool {
    let reads = match (record.filter, is_normalized(record)) {
        (Filter::Point, false) => facts.sampled_points_exact,
        (Filter::Point, true) => facts.sampled_points_normalized_exact,
        (Filter::Linear, false) => facts.sampled_filters_exact,
        (Filter::Linear, true) => facts.sampled_filters_normalized_exact,
    };
    reads && (record.texel != Texel::Srgb8 || facts.sampled_srgb_exact)
}

/// Whether simple loads read the texture: see [`image::IS_PLAIN`].
pub(crate) fn is_plain(record: &Record) -> bool {
    let has_words = matches!(record.texel, Texel::F32 | Texel::B32);
    let is_clamped = record.address_mode == [AddressMode::Clamp; 3];
    let is_memory = !matches!(record.kind, Kind::None | Kind::Linear);
    let is_single = record.levels == 0 && record.filter == Filter::Point;
    has_words && is_clamped && is_memory && is_single && !is_normalized(record)
}

fn is_normalized(record: &Record) -> bool {
    record.flags & flag::NORMALIZED != 0
}

/// The bits of a record's word about its image that say something about the texture.
const BITS: u32 = image::IS_PLAIN | image::IS_PLANE | image::IS_VOLUME | image::IS_EXACT;

/// The image bits in the records of all living textures of a device.
#[derive(Default)]
pub(crate) struct TextureBits {
    /// Number of textures with each combination of bits.
    counts: Mutex<BTreeMap<u32, usize>>,
}

impl TextureBits {
    /// Counts a texture as long as the result lives.
    pub fn count(self: &Arc<Self>, word: u32) -> Counted {
        let bits = word & BITS;
        *lock(&self.counts).entry(bits).or_default() += 1;
        Counted { bits, all: self.clone() }
    }

    /// The bits that all textures have. None if there are no textures.
    pub fn common(&self) -> u32 {
        lock(&self.counts).keys().copied().reduce(|all, bits| all & bits).unwrap_or(0)
    }
}

/// A living texture among [`TextureBits`].
pub(crate) struct Counted {
    bits: u32,
    all: Arc<TextureBits>,
}

impl Drop for Counted {
    fn drop(&mut self) {
        let mut counts = lock(&self.all.counts);
        if let Some(count) = counts.get_mut(&self.bits) {
            *count -= 1;
            if *count == 0 {
                counts.remove(&self.bits);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bit_that_one_texture_lacks_is_not_common() {
        let all = Arc::new(TextureBits::default());
        assert_eq!(all.common(), 0);
        let exact = all.count(image::IS_PLANE | image::IS_EXACT | 7);
        assert_eq!(all.common(), image::IS_PLANE | image::IS_EXACT);
        let others = [all.count(image::IS_PLANE), all.count(image::IS_PLANE | 1)];
        assert_eq!(all.common(), image::IS_PLANE);
        let none = all.count(0);
        assert_eq!(all.common(), 0);
        drop(none);
        assert_eq!(all.common(), image::IS_PLANE);
        drop(others);
        assert_eq!(all.common(), image::IS_PLANE | image::IS_EXACT);
        drop(exact);
        assert_eq!(all.common(), 0);
    }

    #[test]
    fn facts_are_about_filters_coordinates_and_formats() {
        let record = Record { texel: Texel::F32, ..Record::default() };
        let smooth = Record { filter: Filter::Linear, ..record };
        let normalized = Record { flags: flag::NORMALIZED, ..record };
        let srgb = Record { texel: Texel::Srgb8, ..record };
        let all = [record, smooth, normalized, Record { flags: flag::NORMALIZED, ..smooth }, srgb];
        let found = |facts: Facts| all.map(|record| is_exact(&facts, &record));
        let none = Facts::default();
        assert_eq!(found(none.clone()), [false; 5]);
        assert_eq!(found(Facts { sampled_srgb_exact: true, ..none.clone() }), [false; 5]);
        assert_eq!(found(Facts { sampled_points_exact: true, ..none.clone() }), [true, false, false, false, false]);
        let points = Facts { sampled_points_exact: true, sampled_srgb_exact: true, ..none.clone() };
        assert_eq!(found(points), [true, false, false, false, true]);
        assert_eq!(found(Facts { sampled_filters_exact: true, ..none.clone() }), [false, true, false, false, false]);
        let points = Facts { sampled_points_normalized_exact: true, ..none.clone() };
        assert_eq!(found(points), [false, false, true, false, false]);
        let filters = Facts { sampled_filters_normalized_exact: true, ..none };
        assert_eq!(found(filters), [false, false, false, true, false]);
    }
}
