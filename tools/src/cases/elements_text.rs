//! The elements of buffers and images in the form of the command line: `1,2,3`, `iota`, `random(7)`, `@file.bin`.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, anyhow, bail};
use rand_xoshiro::SplitMix64;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

use super::Scalar;

/// The bytes of one number.
pub fn element(ty: Scalar, text: &str) -> Result<impl Iterator<Item = u8> + use<>> {
    let bits = ty.parse(text).map_err(|message| anyhow!(message))?;
    Ok(ty.to_bytes(bits))
}

/// The bytes of a buffer: a list, one number for all elements, `iota`, `random` or a file; without a text, zeros.
pub fn buffer(ty: Scalar, len: Option<usize>, init: Option<&str>) -> Result<Vec<u8>> {
    let init = init.unwrap_or("0");
    if let Some(file) = init.strip_prefix('@') {
        return checked(ty, len, fs::read(Path::new(file)).with_context(|| file.to_owned())?);
    }
    if let Some(parameters) = call(init, "random") {
        return random(ty, needed(len)?, parameters);
    }
    if let Some(step) = call(init, "iota") {
        let step = step.parse().ok().with_context(|| format!("`{step}` is not a step"))?;
        return iota(ty, needed(len)?, step);
    }
    match (init, len) {
        ("iota", _) => iota(ty, needed(len)?, 1),
        (number, Some(len)) if !number.contains(',') => Ok(element(ty, number)?.collect::<Vec<u8>>().repeat(len)),
        ("", None) => Ok(Vec::new()),
        (list, _) => {
            let numbers = list.split(',').map(|number| element(ty, number.trim()));
            checked(ty, len, numbers.collect::<Result<Vec<_>>>()?.into_iter().flatten().collect())
        }
    }
}

fn needed(len: Option<usize>) -> Result<usize> {
    len.context("expected a length between the brackets")
}

fn checked(ty: Scalar, len: Option<usize>, bytes: Vec<u8>) -> Result<Vec<u8>> {
    if !bytes.len().is_multiple_of(ty.size()) {
        bail!("{} bytes are not a whole number of {ty} elements", bytes.len());
    }
    let elements = bytes.len() / ty.size();
    match len {
        Some(len) if len != elements => bail!("expected {len} elements, found {elements}"),
        _ => Ok(bytes),
    }
}

/// The text between the parentheses of `name(…)`.
fn call<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    text.strip_prefix(name)?.strip_prefix('(')?.strip_suffix(')')
}

fn iota(ty: Scalar, len: usize, step: u64) -> Result<Vec<u8>> {
    let numbers = (0..len as u128).map(|index| element(ty, &(index * u128::from(step)).to_string()));
    Ok(numbers.collect::<Result<Vec<_>>>()?.into_iter().flatten().collect())
}

/// `SEED`, or `SEED,LOW,HIGH`: the same numbers on every machine, from the generator SplitMix64.
fn random(ty: Scalar, len: usize, parameters: &str) -> Result<Vec<u8>> {
    let parts: Vec<&str> = parameters.split(',').map(str::trim).collect();
    let (seed, range) = match parts[..] {
        [seed] => (seed, ty.is_float().then_some((-1.0, 1.0))),
        [seed, low, high] => {
            let bound = |text: &str| ty.parse(text).map(|bits| ty.to_f64(bits)).map_err(|message| anyhow!(message));
            (seed, Some((bound(low)?, bound(high)?)))
        }
        _ => bail!("expected random(SEED) or random(SEED,LOW,HIGH)"),
    };
    if range.is_some_and(|(low, high)| !(low < high && (high - low).is_finite())) {
        bail!("`{parameters}` is not a range");
    }
    let seed = seed.parse().ok().with_context(|| format!("`{seed}` is not a seed"))?;
    let mut generator = SplitMix64::seed_from_u64(seed);
    let mut bytes = Vec::with_capacity(len.saturating_mul(ty.size()));
    for _ in 0..len {
        let word = generator.next_u64();
        let bits = match range {
            // 24 bits, which f32 holds exactly, so that rounding never reaches the end of the range.
            Some((low, high)) => ty.round((word >> 40) as f64 / f64::from(1 << 24) * (high - low) + low),
            None => word,
        };
        bytes.extend(ty.to_bytes(bits));
    }
    Ok(bytes)
}
