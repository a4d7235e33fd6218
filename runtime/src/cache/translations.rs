//! Translations in the cache. The key covers the PTX, the translator's version and all options.

use ptx2spv_translator::interface::Declaration;
use ptx2spv_translator::{CODE_VERSION, Interface, Options, Source};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::{Cache, Key};

const KIND: &str = "code";

/// The translations of one text.
pub(crate) struct Translations {
    cache: Cache,
    text: Key,
}

/// A description of a module that needs no translation of its kernels.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct Description {
    /// Names of its kernels.
    pub names: Vec<String>,
    /// The interface of a translation without kernels.
    pub interface: Interface,
    /// The kernels' declarations, known before the kernels are translated.
    pub declarations: Vec<Declaration>,
}

impl Translations {
    /// The translations of a source in a cache.
    pub fn new(cache: Cache, source: &Source) -> Self {
        let text = Key::new(&[CODE_VERSION.as_bytes(), source.name().as_bytes(), source.text().as_bytes()]);
        Self { cache, text }
    }

    /// The debug form of the options has all their contents, including the target's facts.
    fn key(&self, what: &str, options: &Options<'_>) -> Key {
        Key::new(&[self.text.bytes(), what.as_bytes(), format!("{options:?}").as_bytes()])
    }

    pub fn description(&self, options: &Options<'_>) -> Option<Description> {
        serde_json::from_slice(&self.cache.read(KIND, &self.key("description", options))?).ok()
    }

    pub fn keep_description(&self, options: &Options<'_>, description: &Description) {
        if let Ok(text) = serde_json::to_vec(description) {
            self.cache.write(KIND, &self.key("description", options), &text);
        }
    }

    /// The SPIR-V and the interface of a translation.
    pub fn translation(&self, options: &Options<'_>) -> Option<(Vec<u32>, Interface)> {
        split(&self.cache.read(KIND, &self.key("translation", options))?)
    }

    pub fn keep_translation(&self, options: &Options<'_>, spirv: &[u32], interface: &Interface) {
        if let Some(contents) = join(spirv, interface) {
            self.cache.write(KIND, &self.key("translation", options), &contents);
        }
    }
}

/// Packs the number of words, the words, and a description in JSON.
fn join(spirv: &[u32], description: &impl Serialize) -> Option<Vec<u8>> {
    let mut contents = (spirv.len() as u64).to_le_bytes().to_vec();
    contents.extend(spirv.iter().flat_map(|word| word.to_le_bytes()));
    serde_json::to_writer(&mut contents, description).ok()?;
    Some(contents)
}

fn split<T: DeserializeOwned>(contents: &[u8]) -> Option<(Vec<u32>, T)> {
    let (count, rest) = contents.split_first_chunk()?;
    let bytes = usize::try_from(u64::from_le_bytes(*count)).ok()?.checked_mul(4)?;
    let (words, description) = rest.split_at_checked(bytes)?;
    let word = |bytes: &[u8]| bytes.try_into().map_or(0, u32::from_le_bytes);
    Some((words.chunks_exact(4).map(word).collect(), serde_json::from_slice(description).ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contents_come_back_or_are_refused() {
        let contents = join(&[1, 0xffff_fffe], &"description").unwrap();
        assert_eq!(split(&contents), Some((vec![1, 0xffff_fffe], "description".to_owned())));
        for wrong in [&contents[..7], &contents[..12], &contents[..contents.len() - 1], &[0xff; 40]] {
            assert_eq!(split::<String>(wrong), None);
        }
    }
}
