//! The format of cache files: a mark, the key, a hash of the contents, the contents.

use sha2::{Digest, Sha256};

/// Changes with the format.
const MARK: &[u8; 8] = b"ptx2spv1";

const HASH: usize = 32;

/// The key of a file: a hash of everything that the contents depend on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Key([u8; HASH]);

impl Key {
    /// The key of a list of parts. Their boundaries count too.
    pub fn new(parts: &[&[u8]]) -> Self {
        let mut hasher = Sha256::new();
        for part in parts {
            hasher.update((part.len() as u64).to_le_bytes());
            hasher.update(part);
        }
        Self(hasher.finalize().into())
    }

    pub fn bytes(&self) -> &[u8] {
        &self.0
    }

    /// Half of the key in hexadecimal, for a file's name.
    pub fn name(&self) -> String {
        self.0[..HASH / 2].iter().map(|byte| format!("{byte:02x}")).collect()
    }
}

/// Packs contents into a file.
pub(super) fn pack(key: &Key, contents: &[u8]) -> Vec<u8> {
    [&MARK[..], &key.0, &Sha256::digest(contents), contents].concat()
}

/// The contents of a file, if the file is complete and has this key.
pub(super) fn unpack(key: &Key, mut file: Vec<u8>) -> Option<Vec<u8>> {
    let rest = file.strip_prefix(&MARK[..])?.strip_prefix(&key.0[..])?;
    let (hash, contents) = rest.split_at_checked(HASH)?;
    if Sha256::digest(contents)[..] != *hash {
        return None;
    }
    let length = contents.len();
    file.drain(..file.len() - length);
    Some(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_damage_is_seen() {
        let key = Key::new(&[b"a", b"bc"]);
        assert_ne!(key, Key::new(&[b"ab", b"c"]));
        let file = pack(&key, b"contents");
        assert_eq!(unpack(&key, file.clone()).as_deref(), Some(&b"contents"[..]));
        assert_eq!(unpack(&Key::new(&[b"x"]), file.clone()), None);
        for at in 0..file.len() {
            let mut damaged = file.clone();
            damaged[at] ^= 1;
            assert_eq!(unpack(&key, damaged), None, "byte {at}");
            assert_eq!(unpack(&key, file[..at].to_vec()), None, "{at} bytes");
        }
        assert_eq!(unpack(&key, pack(&key, b"")).as_deref(), Some(&b""[..]));
    }
}
