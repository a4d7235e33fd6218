//! Pipelines that stay after their modules are unloaded.
//!
//! Frameworks load their own kernels again for each context, and their caches for pipelines spare drivers only a part of the work:
//! Mesa's CPU device compiles a second of machine code again and again.

use std::sync::{Arc, Mutex};

use crate::cache::Key;
use crate::sync::lock;

/// The number of pipelines that stay.
const MOST: usize = 64;
/// The number of bytes of SPIR-V that they were made from. Machine code grows with the SPIR-V.
const MOST_BYTES: usize = 8 << 20;

/// The pipelines that were made or asked for last, by everything that they depend on.
pub(crate) struct KeptPipelines<P> {
    /// The last one is the newest.
    kept: Mutex<Vec<Kept<P>>>,
}

struct Kept<P> {
    key: Key,
    pipeline: Arc<P>,
    spirv_bytes: usize,
}

impl<P> Default for KeptPipelines<P> {
    fn default() -> Self {
        Self { kept: Mutex::default() }
    }
}

impl<P> KeptPipelines<P> {
    /// The pipeline with this key, if it is there.
    pub fn find(&self, key: &Key) -> Option<Arc<P>> {
        let mut kept = lock(&self.kept);
        let index = kept.iter().position(|known| known.key == *key)?;
        let found = kept.remove(index);
        let pipeline = found.pipeline.clone();
        kept.push(found);
        Some(pipeline)
    }

    /// Keeps a pipeline, and returns those that have to go for it. The device may still be running them.
    pub fn keep(&self, key: Key, pipeline: Arc<P>, spirv_bytes: usize) -> Vec<Arc<P>> {
        let mut kept = lock(&self.kept);
        if kept.iter().any(|known| known.key == key) {
            // Another thread has made the same pipeline meanwhile.
            return Vec::new();
        }
        kept.push(Kept { key, pipeline, spirv_bytes });
        let bytes = |kept: &[Kept<P>]| kept.iter().map(|kept| kept.spirv_bytes).sum::<usize>();
        let mut leaving = 0;
        while kept.len() - leaving > MOST || bytes(&kept[leaving..]) > MOST_BYTES {
            leaving += 1;
        }
        kept.drain(..leaving).map(|kept| kept.pipeline).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(number: usize) -> Key {
        Key::new(&[&number.to_le_bytes()])
    }

    #[test]
    fn the_oldest_leave() {
        let kept = KeptPipelines::default();
        for number in 0..MOST {
            assert!(kept.keep(key(number), Arc::new(number), 1).is_empty());
        }
        assert_eq!(kept.find(&key(0)).as_deref(), Some(&0));
        assert_eq!(kept.keep(key(MOST), Arc::new(MOST), 1), [Arc::new(1)]);
        assert_eq!((kept.find(&key(1)), kept.find(&key(0)).as_deref()), (None, Some(&0)));
        // A large one takes the place of all others, and one that is too large doesn't stay.
        assert_eq!(kept.keep(key(100), Arc::new(100), MOST_BYTES).len(), MOST);
        assert_eq!(kept.find(&key(100)).as_deref(), Some(&100));
        assert_eq!(kept.keep(key(101), Arc::new(101), MOST_BYTES + 1), [Arc::new(100), Arc::new(101)]);
        assert_eq!(kept.find(&key(101)), None);
    }
}
