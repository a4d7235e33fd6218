//! Checks whether the device's matrix units compute what NVIDIA's do, and have the elements where those have them: products of the kernel in
//! `matrices.ptx` are compared with those that integer arithmetic gives on the same device.

use ptx2spv_translator::target::{Facts, MatrixTypes};

use super::findings::{Findings, stopped};
use super::{BLOCK, probe};
use crate::device::Device;
use crate::error::{Error, Result};
use crate::launch::args::LaunchConfig;

/// Blocks of four warps.
const BLOCKS: u32 = 256;
/// Words of a thread's fragments.
const WORDS: usize = 10;

/// Types whose units are judged together.
struct Kind {
    fact: fn(&mut Facts) -> &mut bool,
    /// Each with its instruction's modifiers, and how many registers hold a sum.
    products: &'static [(MatrixTypes, &'static str, usize)],
    /// Elements of factors for a warp, from random words.
    factor: fn(warp: u32, random: u32) -> u32,
    /// The same for what is added.
    addend: fn(warp: u32, random: u32) -> u32,
}

const KINDS: [Kind; 3] = [
    Kind {
        fact: |facts| &mut facts.matrix_f16_exact,
        products: &[
            (MatrixTypes::F16, "m16n8k16.row.col.f32.f16.f16.f32", 4),
            (MatrixTypes::F16Alone, "m16n8k16.row.col.f16.f16.f16.f16", 2),
        ],
        factor: halves,
        addend: |warp, random| if warp.is_multiple_of(2) { halves(warp / 2, random) } else { single(warp / 2, random) },
    },
    Kind {
        fact: |facts| &mut facts.matrix_bf16_exact,
        products: &[(MatrixTypes::Bf16, "m16n8k16.row.col.f32.bf16.bf16.f32", 4)],
        factor: bfloats,
        addend: single,
    },
    Kind {
        fact: |facts| &mut facts.matrix_bytes_exact,
        products: &[
            (MatrixTypes::S8, "m16n8k32.row.col.s32.s8.s8.s32", 4),
            (MatrixTypes::U8, "m16n8k32.row.col.s32.u8.u8.s32", 4),
        ],
        factor: |_, random| random,
        addend: |_, random| random,
    },
];

/// Two f16 of a kind that the warp's number chooses: any, near one, near the largest, subnormal, and such with many zeros.
fn halves(warp: u32, random: u32) -> u32 {
    match warp % 5 {
        0 => random,
        1 => random & 0x8fff_8fff | 0x3000_3000,
        2 => random & 0xbfff_bfff | 0x4000_4000,
        3 => random & 0x83ff_83ff,
        _ if random & 0x300 != 0 => random & 0x8000_8000,
        _ => random & 0xc7ff_c7ff | 0x2000_2000,
    }
}

/// Two bf16: any, near one, such whose products are near the largest number or near the least, such with many zeros, and many subnormal ones.
fn bfloats(warp: u32, random: u32) -> u32 {
    match warp % 6 {
        0 => random,
        1 => random & 0x81ff_81ff | 0x3e00_3e00,
        2 => random & 0xdfff_dfff | 0x5000_5000,
        3 => random & 0x81ff_81ff | 0x1c00_1c00,
        4 if random & 0x300 != 0 => random & 0x8000_8000,
        4 => random & 0xc7ff_c7ff | 0x3000_3000,
        _ if random & 7 != 0 => random & 0x807f_807f,
        _ => random & 0x87ff_87ff | 0x4000_4000,
    }
}

/// An f32 of a kind as of [`halves`].
fn single(warp: u32, random: u32) -> u32 {
    match warp % 5 {
        0 => random,
        1 => random & 0x81ff_ffff | 0x3e00_0000,
        2 => random & 0x87ff_ffff | 0x4000_0000,
        3 => random & 0xb0ff_ffff,
        _ => random & 0x8000_0000,
    }
}

/// Runs the probe.
///
/// # Errors
/// Those of launches. Facts about units that the device doesn't have don't hold.
pub(super) fn measure(device: &Device, findings: &mut Findings) -> Result {
    for kind in KINDS {
        let has_all = kind.products.iter().all(|(types, ..)| device.target().matrix_units.contains(types));
        *(kind.fact)(&mut findings.facts) = has_all && is_right(device, &kind, findings)?;
    }
    Ok(())
}

fn is_right(device: &Device, kind: &Kind, findings: &mut Findings) -> Result<bool> {
    for &(_, modifiers, registers) in kind.products {
        let [c, d] = ["%c0, %c1, %c2, %c3", "%d0, %d1, %d2, %d3"]
            .map(|all| all.split(", ").take(registers).collect::<Vec<_>>().join(", "));
        let product = format!("mma.sync.aligned.{modifiers} {{{d}}}, {{%a0, %a1, %a2, %a3}}, {{%b0, %b1}}, {{{c}}}");
        let results = [true, false].map(|by_unit| {
            let mut facts = findings.facts.clone();
            *(kind.fact)(&mut facts) = by_unit;
            // Without this one, no sum is left to the device's floats.
            facts.convert_f32_exact &= by_unit;
            run(device, &facts, kind, &product)
        });
        let [by_unit, by_integers] = results;
        let (by_unit, by_integers) = (by_unit?, by_integers?);
        let Some((found, right)) = by_unit.zip(by_integers) else { return Ok(false) };
        let (found, right) = match (found, right) {
            (Ok(found), Ok(right)) => (found, right),
            (Err(error), _) | (_, Err(error)) => {
                findings.seen.push(format!("`{product}`: {error}"));
                return Ok(false);
            }
        };
        if let Some(wrong) = found.iter().zip(&right).position(|(found, right)| found != right) {
            let (found, right) = (found[wrong], right[wrong]); // both have that word
            findings.seen.push(format!("`{product}` by the matrix unit: 0x{found:08x} instead of 0x{right:08x}"));
            return Ok(false);
        }
    }
    Ok(true)
}

/// The products, the error of a stopped kernel, or nothing if the device can't run them.
fn run(device: &Device, facts: &Facts, kind: &Kind, product: &str) -> Result<Option<Result<Vec<u32>, Error>>> {
    let ptx = include_str!("matrices.ptx").replace("PRODUCT", product);
    let Some(kernel) = probe(device, facts, ptx)? else { return Ok(None) };
    let threads = BLOCKS * BLOCK;
    let mut random = 0x9e37_79b9_u32;
    let mut words = Vec::with_capacity(threads as usize * WORDS);
    for thread in 0..threads {
        for word in 0..WORDS {
            // Xorshift.
            random ^= random << 13;
            random ^= random >> 17;
            random ^= random << 5;
            let of = if word < 6 { kind.factor } else { kind.addend };
            words.push(of(thread / 32, random));
        }
    }
    let (input, output) = (device.upload(&words)?, device.alloc(u64::from(threads) * 16)?);
    // SAFETY: each of the threads reads its ten words of one buffer, and writes its four of the other.
    unsafe { kernel.launch(&LaunchConfig::new([BLOCKS, 1, 1], [BLOCK, 1, 1]), &[(&input).into(), (&output).into()]) }?;
    let mut results = vec![0_u32; threads as usize * 4];
    let stop = stopped(output.read(0, bytemuck::cast_slice_mut(&mut results)))?;
    Ok(Some(stop.map_or(Ok(results), Err)))
}
