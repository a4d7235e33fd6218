//! The files beside the shaders: `NAME.json` describes a run, `NAME.expected.json` holds the results of devices.
//!
//! Both the test of the reference device and the program that records devices' results read them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::{fs, io};

use serde::{Deserialize, Serialize};

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Description {
    pub groups: [u32; 3],
    /// Specialization constants' bits by id. More than 32 bits belong to 64-bit constants.
    #[serde(default)]
    pub specialize: BTreeMap<u32, u64>,
    #[serde(default)]
    push: Vec<Push>,
    pub buffers: Vec<Buffer>,
    /// Buffers with results.
    pub results: Vec<Looked>,
    /// Whether Vulkan determines every bit of the results on a device with a given subgroup size.
    #[serde(default)]
    pub determined: bool,
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Push {
    Word(u32),
    /// The two words of a buffer's device address.
    Address {
        address: usize,
    },
}

#[derive(Debug, Deserialize)]
pub struct Buffer {
    #[serde(flatten)]
    content: Content,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Content {
    Words(Vec<u32>),
    /// This many zeroes.
    Zeros(u32),
    /// This many arbitrary words.
    Hash(u32),
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Looked {
    /// The buffer's number in [`Description::buffers`].
    pub buffer: usize,
    /// Width of its floats, if a tolerance applies.
    #[serde(default)]
    float: u32,
    /// Maximum error, relative to the greater of 1 and the expected value.
    #[serde(default)]
    tolerance: f64,
}

#[derive(Debug, Deserialize, Serialize)]
pub struct Recorded {
    /// Devices by their subgroup size.
    pub devices: BTreeMap<u32, String>,
    /// Words of each of [`Description::results`].
    pub results: Vec<Vec<u32>>,
}

impl Description {
    /// Words of the push constants.
    pub fn push_constants(&self, addresses: &[u64]) -> Vec<u32> {
        let words = |push: &Push| match push {
            Push::Word(word) => vec![*word],
            Push::Address { address } => vec![addresses[*address] as u32, (addresses[*address] >> 32) as u32],
        };
        self.push.iter().flat_map(words).collect()
    }

    /// The first unexpected result.
    pub fn difference(&self, found: &[Vec<u32>], expected: &[Vec<u32>]) -> Option<String> {
        let all = self.results.iter().zip(found.iter().zip(expected));
        all.into_iter().find_map(|(looked, (found, expected))| looked.difference(found, expected))
    }
}

impl Buffer {
    /// The initial content.
    pub fn words(&self) -> Vec<u32> {
        match &self.content {
            Content::Words(words) => words.clone(),
            Content::Zeros(count) => vec![0; *count as usize],
            Content::Hash(count) => (0..*count).map(hash).collect(),
        }
    }
}

// Murmur3's finalizer on multiples of the golden ratio.
fn hash(index: u32) -> u32 {
    let mut x = index.wrapping_add(1).wrapping_mul(0x9e37_79b9);
    x = (x ^ (x >> 16)).wrapping_mul(0x85eb_ca6b);
    x = (x ^ (x >> 13)).wrapping_mul(0xc2b2_ae35);
    x ^ (x >> 16)
}

impl Looked {
    /// The first unexpected element.
    fn difference(&self, found: &[u32], expected: &[u32]) -> Option<String> {
        if found.len() != expected.len() {
            return Some(format!("buffer {}: {} words, not {}", self.buffer, found.len(), expected.len()));
        }
        let words = (self.float / 32).max(1) as usize;
        found.chunks(words).zip(expected.chunks(words)).enumerate().find_map(|(index, (found, expected))| {
            let (a, b) = (self.float(found), self.float(expected));
            let near = self.float != 0 && (a - b).abs() <= self.tolerance * b.abs().max(1.0);
            (found != expected && !near).then(|| {
                let of =
                    |words: &[u32], float| if self.float == 0 { format!("{words:x?}") } else { format!("{float:e}") };
                format!("buffer {}[{index}]: {}, expected {}", self.buffer, of(found, a), of(expected, b))
            })
        })
    }

    fn float(&self, words: &[u32]) -> f64 {
        match *words {
            [low, high] => f64::from_bits(u64::from(low) | u64::from(high) << 32),
            [word] => f32::from_bits(word).into(),
            _ => 0.0,
        }
    }
}

/// A shader with all its files.
#[derive(Debug)]
pub struct Shader {
    /// The shader's file name without extension.
    pub name: String,
    pub spirv: Vec<u32>,
    /// The description of its run.
    pub description: Description,
    pub recorded: Vec<Recorded>,
}

/// All shaders of a directory by name.
pub fn read(directory: &Path) -> io::Result<Vec<Shader>> {
    let mut files: Vec<PathBuf> = fs::read_dir(directory)?.map(|entry| Ok(entry?.path())).collect::<io::Result<_>>()?;
    files.retain(|path| path.extension().is_some_and(|extension| extension == "spv"));
    files.sort();
    files.iter().map(|path| read_one(path)).collect()
}

fn read_one(path: &Path) -> io::Result<Shader> {
    let bytes = fs::read(path)?;
    let words = bytes.chunks_exact(4).map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3]]));
    let recorded = path.with_extension("expected.json");
    Ok(Shader {
        name: path.file_stem().unwrap_or_default().to_string_lossy().into_owned(),
        spirv: words.collect(),
        description: serde_json::from_slice(&fs::read(path.with_extension("json"))?)?,
        recorded: if recorded.exists() { serde_json::from_slice(&fs::read(recorded)?)? } else { Vec::new() },
    })
}
