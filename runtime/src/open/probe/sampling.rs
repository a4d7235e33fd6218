//! Checks whether samplers read textures as NVIDIA's hardware does for CUDA: compares them with reads by loads, which do, at some
//! thousand places of textures of every format, filter and address mode.

use ptx2spv_translator::target::Facts;
use ptx2spv_translator::{Feature, Options, Program, Source, Target};
use rand_xoshiro::SplitMix64;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

use super::findings::{Attempt, Findings, stopped};
use super::instruction::Fact;
use crate::device::Device;
use crate::error::{Error, Result};
use crate::launch::args::LaunchConfig;
use crate::module::Module;
use crate::texel::format::{ChannelFormat, ReadMode, TexelFormat};
use crate::texel::shape::ArrayShape;
use crate::texture::{AddressMode, ArrayDescriptor, Filter, Texture, TextureDescriptor};

/// Threads of a block.
const BLOCK: u32 = 128;
/// Places in each texture.
const PLACES: u32 = 32 * BLOCK;

/// Each fact with the filter and the coordinates that it is about.
const FACTS: [(Fact, Filter, bool); 4] = [
    (|facts| &mut facts.sampled_points_exact, Filter::Point, false),
    (|facts| &mut facts.sampled_points_normalized_exact, Filter::Point, true),
    (|facts| &mut facts.sampled_filters_exact, Filter::Linear, false),
    (|facts| &mut facts.sampled_filters_normalized_exact, Filter::Linear, true),
];

/// The formats that samplers read, with numbers of channels.
const FORMATS: [(ChannelFormat, u32); 7] = [
    (ChannelFormat::U8, 4),
    (ChannelFormat::S8, 2),
    (ChannelFormat::U16, 1),
    (ChannelFormat::S16, 4),
    (ChannelFormat::F16, 2),
    (ChannelFormat::F32, 1),
    (ChannelFormat::F32, 4),
];

const PLANE: ArrayShape = ArrayShape::TwoD { width: 100, height: 37 };
const WIDE: ArrayShape = ArrayShape::TwoD { width: Facts::SAMPLED_EXTENT, height: 2 };
const VOLUME: ArrayShape = ArrayShape::ThreeD { width: 20, height: 13, depth: 9 };

/// A texture of the self-test.
#[derive(Clone, Copy, Debug)]
struct Case {
    shape: ArrayShape,
    format: (ChannelFormat, u32),
    filter: Filter,
    is_normalized: bool,
    modes: [AddressMode; 3],
    srgb: bool,
}

impl Case {
    /// All textures with a filter and coordinates, of sRGB or without.
    fn all(filter: Filter, is_normalized: bool, srgb: bool) -> Vec<Self> {
        use AddressMode::{Border, Clamp, Mirror, Wrap};
        let shapes: &[_] = if is_normalized {
            &[
                (PLANE, [Wrap, Clamp, Clamp]),
                (PLANE, [Mirror, Border, Clamp]),
                (PLANE, [Border, Wrap, Clamp]),
                (WIDE, [Clamp, Mirror, Clamp]),
                (VOLUME, [Clamp, Mirror, Wrap]),
                (VOLUME, [Wrap, Border, Mirror]),
            ]
        } else {
            &[(PLANE, [Clamp, Border, Clamp]), (PLANE, [Border, Clamp, Clamp]), (WIDE, [Clamp; 3])]
        };
        let formats = if srgb { &FORMATS[..1] } else { &FORMATS[..] };
        let of = |&format| {
            shapes.iter().map(move |&(shape, modes)| Self { shape, format, filter, is_normalized, modes, srgb })
        };
        formats.iter().flat_map(of).collect()
    }

    fn is_deep(self) -> bool {
        self.shape == VOLUME
    }

    /// The texture, with random texels; `None` if it has no image.
    fn texture(self, device: &Device, random: &mut SplitMix64) -> Result<Option<Texture>> {
        let (channel, channels) = self.format;
        let format = TexelFormat::new(channel, channels).map_err(|error| Error::Interface(error.to_string()))?;
        let array = device.array(&ArrayDescriptor::new(format, self.shape))?;
        let [width, height, depth] = array.size();
        let bytes = (width * height * depth * format.bytes()) as usize;
        let mut texels: Vec<u8> =
            std::iter::repeat_with(|| random.next_u64().to_le_bytes()).flatten().take(bytes).collect();
        // Reads by loads are exact for several slices if they are of similar size.
        match channel {
            ChannelFormat::F32 if self.is_deep() => texels.chunks_exact_mut(4).for_each(|texel| {
                texel[2] |= 0x80;
                texel[3] = 0x3f;
            }),
            ChannelFormat::F16 if self.is_deep() => {
                texels.chunks_exact_mut(2).for_each(|texel| texel[1] = 0x38 | texel[1] & 3);
            }
            _ => {}
        }
        array.write(&texels)?;
        let descriptor = TextureDescriptor {
            address_mode: self.modes,
            filter: self.filter,
            read_mode: ReadMode::NormalizedFloat,
            normalized_coordinates: self.is_normalized,
            srgb: self.srgb,
            ..TextureDescriptor::default()
        };
        let texture = device.texture(&(&array).into(), &descriptor)?;
        Ok(texture.has_image().then_some(texture))
    }

    /// Places within the texture and around, at edges of texels, and coordinates that are no ordinary numbers.
    fn places(self, random: &mut SplitMix64) -> Vec<[f32; 3]> {
        const CORNERS: [f32; 12] =
            [0.0, -0.0, 1.0, -1.0, 1e-40, -1e-40, 1e20, -1e20, f32::INFINITY, f32::NEG_INFINITY, f32::NAN, 0.5];
        let extents = match self.shape {
            ArrayShape::TwoD { width, height } => [width, height, 1],
            ArrayShape::ThreeD { width, height, depth } => [width, height, depth],
            _ => [1; 3],
        };
        let mut coordinate = |extent: u32| {
            let extent = extent as f32;
            let bits = random.next_u64();
            // From one extent before the texture to one after, in texels.
            let place = ((bits >> 40) as f32 / (1 << 24) as f32 * 3.0 - 1.0) * extent;
            let place = match bits % 8 {
                0 => place.round(),
                1 => (place * 512.0).round() / 512.0,
                2 => place.round().next_down(),
                3 => (place * 512.0).round().next_up() / 512.0,
                4 if bits >> 8 & 15 == 0 => return CORNERS[(bits >> 12) as usize % CORNERS.len()],
                _ => place,
            };
            if self.is_normalized { place / extent } else { place }
        };
        (0..PLACES).map(|_| extents.map(&mut coordinate)).collect()
    }
}

/// The kernels that read a texture, by samplers and by loads.
struct Readers {
    sampling: Module,
    loading: Module,
}

/// Finds out which facts about samplers hold.
///
/// # Errors
/// Those of launches. A stopped launch is a result, not an error.
pub(super) fn measure(device: &Device, findings: &mut Findings) -> Result {
    let clear = |facts: &mut Facts| FACTS.iter().for_each(|(fact, ..)| *fact(facts) = false);
    let trusted = findings.facts.clone();
    clear(&mut findings.facts);
    findings.facts.sampled_srgb_exact = false;
    let tables = [Feature::RuntimeDescriptorArray, Feature::ShaderSampledImageArrayNonUniformIndexing];
    if !tables.iter().all(|feature| device.target().has(*feature)) {
        return Ok(());
    }
    let Some(sampling) = module(device, &trusted)? else { return Ok(()) };
    let Some(loading) = module(device, &findings.facts)? else { return Ok(()) };
    let readers = Readers { sampling, loading };
    let mut srgb = None;
    for (fact, filter, is_normalized) in FACTS {
        match holds(device, &readers, &Case::all(filter, is_normalized, false))? {
            Attempt::Right => *fact(&mut findings.facts) = true,
            Attempt::Wrong(seen) => {
                findings.seen.push(seen);
                continue;
            }
            Attempt::Impossible => continue,
        }
        match holds(device, &readers, &Case::all(filter, is_normalized, true))? {
            Attempt::Right => srgb = Some(srgb.unwrap_or(true)),
            Attempt::Wrong(seen) => {
                findings.seen.push(seen);
                srgb = Some(false);
            }
            Attempt::Impossible => {}
        }
    }
    findings.facts.sampled_srgb_exact = srgb.unwrap_or(false);
    Ok(())
}

/// The kernels, translated with these facts; `None` if they can't be translated.
fn module(device: &Device, facts: &Facts) -> Result<Option<Module>> {
    let target = Target { facts: facts.clone(), ..device.target().clone() };
    let source = Source::new("self-test", include_str!("sampling.ptx"));
    let translated = Program::new(&source).and_then(|program| program.translate(&Options::new(&target)));
    let Ok(translation) = translated else { return Ok(None) };
    // SAFETY: the translation is unchanged.
    unsafe { device.load_translated(&translation) }.map(Some)
}

/// Whether samplers read these textures as loads do, as far as the textures have images.
fn holds(device: &Device, readers: &Readers, cases: &[Case]) -> Result<Attempt> {
    let mut random = SplitMix64::seed_from_u64(1);
    let mut holds = Attempt::Impossible;
    for case in cases {
        let Some(texture) = case.texture(device, &mut random)? else { continue };
        let places = case.places(&mut random);
        let input = device.upload(&places)?;
        let name = if case.is_deep() { "volume" } else { "plane" };
        let mut results = [const { Vec::new() }; 2];
        for (module, result) in [&readers.sampling, &readers.loading].into_iter().zip(&mut results) {
            let output = device.alloc(u64::from(PLACES) * 16)?;
            let args = [(&texture).into(), (&input).into(), (&output).into()];
            *result = vec![[0_u32; 4]; PLACES as usize];
            // SAFETY: each of the self-test's threads reads its own place and writes its own result.
            let run = unsafe { module.kernel(name)?.launch(&LaunchConfig::linear(PLACES, BLOCK), &args) }
                .and_then(|()| output.read(0, bytemuck::cast_slice_mut(result)));
            if let Some(error) = stopped(run)? {
                return Ok(Attempt::Wrong(format!("a sampler: {error}")));
            }
        }
        let [found, expected] = results;
        let wrong = places.iter().zip(found.iter().zip(&expected)).find(|(_, (found, expected))| found != expected);
        if let Some((place, (found, expected))) = wrong {
            return Ok(Attempt::Wrong(format!("{case:?} at {place:?}: {found:08x?} instead of {expected:08x?}")));
        }
        holds = Attempt::Right;
    }
    Ok(holds)
}
