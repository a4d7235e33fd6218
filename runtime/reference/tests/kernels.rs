//! Translated PTX kernels on the reference device, in all its modes: correct ones have no findings, incorrect ones
//! have.

#![allow(clippy::result_large_err, reason = "it is the device's own error")]

use ptx2spv_reference::{Config, Device, Dispatch, Finding, FindingKind, Mode};
use ptx2spv_translator::interface::{push_constant, spec_id};
use ptx2spv_translator::{Options, Program, Source, Target};

const SAXPY: &str = include_str!("../../../tests/kernels/saxpy.ptx");
const BLOCK_REDUCE: &str = include_str!("../../../tests/kernels/block_reduce.ptx");

/// Plain, checked, and with some seeds.
fn modes() -> impl Iterator<Item = Mode> {
    let seeded = (0..6).map(|seed| Mode { check: seed % 2 == 0, seed: Some(seed) });
    [Mode::default(), Mode { check: true, seed: None }].into_iter().chain(seeded)
}

fn device(mode: Mode, subgroup_size: u32) -> Device {
    let mut target = Target::reference();
    target.subgroups.size = subgroup_size;
    Device::new(Config { target, mode, threads: 2, ..Config::default() })
}

/// A buffer of floats, and its address.
fn upload(device: &Device, values: &[f32]) -> u64 {
    let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
    let address = device.allocate(bytes.len() as u64).unwrap();
    device.write(address, &bytes).unwrap();
    address
}

fn download(device: &Device, address: u64, count: usize) -> Vec<f32> {
    let mut bytes = vec![0; 4 * count];
    device.read(address, &mut bytes).unwrap();
    bytes.chunks(4).map(|word| f32::from_le_bytes(word.try_into().unwrap())).collect()
}

struct Launch<'a> {
    ptx: &'a str,
    entry: &'a str,
    block: u32,
    grid: u32,
    shared_bytes: u32,
    /// The kernel's parameters, each with its size.
    params: &'a [(u64, u32)],
}

impl Launch<'_> {
    fn run(&self, device: &Device) -> Result<(), Finding> {
        let source = Source::new("kernel.ptx", self.ptx.to_owned());
        let target = &device.config().target;
        let options = Options::new(target).line_info(true);
        let translation = Program::new(&source).unwrap().translate(&options).unwrap();
        let shader = device.shader(&translation.spirv).unwrap();
        let sizes = [
            (spec_id::BLOCK_X, u64::from(self.block)),
            (spec_id::BLOCK_X + 1, 1),
            (spec_id::BLOCK_X + 2, 1),
            (spec_id::SHARED_BYTES, u64::from(self.shared_bytes.next_multiple_of(16))),
        ];
        let pipeline = device.pipeline(&shader, self.entry, &sizes, None).unwrap();
        let entry = translation.interface.entry(self.entry).unwrap();
        let mut constants = vec![0; entry.push_constant_size as usize];
        let grid = [self.grid, 1, 1];
        for (at, extent) in (push_constant::GRID_SIZE..).step_by(4).zip(grid) {
            let at = at as usize;
            if let Some(place) = constants.get_mut(at..at + 4) {
                place.copy_from_slice(&extent.to_le_bytes());
            }
        }
        for (param, (value, size)) in entry.params.iter().zip(self.params) {
            assert_eq!(param.size, *size);
            let at = (push_constant::PARAMS + param.offset) as usize;
            constants[at..at + *size as usize].copy_from_slice(&value.to_le_bytes()[..*size as usize]);
        }
        device.dispatch(&pipeline, &Dispatch { groups: grid, push_constants: &constants })
    }
}

fn saxpy(device: &Device, x: u64, y: u64, count: u64) -> Result<(), Finding> {
    let params = &[(2_f32.to_bits().into(), 4), (x, 8), (y, 8), (count, 4)];
    Launch { ptx: SAXPY, entry: "saxpy", block: 32, grid: 3, shared_bytes: 0, params }.run(device)
}

#[test]
fn saxpy_is_right() {
    for mode in modes() {
        for size in [1, 8, 32, 128] {
            let device = device(mode, size);
            let values: Vec<f32> = (0..500_u16).map(f32::from).collect();
            let (x, y) = (upload(&device, &values), upload(&device, &values));
            saxpy(&device, x, y, 500).unwrap();
            assert_eq!(device.take_findings(), []);
            assert!(download(&device, y, 500).iter().zip(&values).all(|(y, x)| *y == 3.0 * x), "{mode:?}");
        }
    }
}

fn block_reduce(device: &Device, ptx: &str) -> (Result<(), Finding>, Vec<f32>) {
    let values: Vec<f32> = (0..250_u16).map(f32::from).collect();
    let (input, sums) = (upload(device, &values), upload(device, &[-1.0; 4]));
    let params = &[(input, 8), (sums, 8), (250, 4)];
    let launch = Launch { ptx, entry: "block_reduce", block: 64, grid: 4, shared_bytes: 256, params };
    (launch.run(device), download(device, sums, 4))
}

#[test]
fn block_reduce_is_right() {
    // The sum of 0, 1, … 249 in blocks of 64.
    let expected = [2016.0, 6112.0, 10208.0, 12789.0];
    for mode in modes() {
        for size in [1, 8, 32, 128] {
            let device = device(mode, size);
            let (result, sums) = block_reduce(&device, BLOCK_REDUCE);
            assert_eq!((result, device.take_findings()), (Ok(()), vec![]), "{mode:?}, size {size}");
            assert_eq!(sums, expected, "{mode:?}, size {size}");
        }
    }
}

#[test]
fn a_missing_barrier_is_a_race() {
    let broken = BLOCK_REDUCE.replace("bar.sync", "// bar.sync");
    let device = device(Mode { check: true, seed: None }, 32);
    let (result, _) = block_reduce(&device, &broken);
    assert_eq!(result, Ok(()));
    let findings = device.take_findings();
    let race = findings.iter().find(|finding| finding.kind == FindingKind::Race).unwrap();
    let line = |site: &ptx2spv_reference::Site| {
        let (file, line) = site.line.clone().unwrap();
        assert_eq!(file, "kernel.ptx");
        broken.lines().nth(line as usize - 1).unwrap().to_owned()
    };
    assert!(line(&race.site).contains(".shared."), "{race}");
    assert!(line(race.other.as_ref().unwrap()).contains(".shared."), "{race}");
}

#[test]
fn a_buffer_that_is_too_small_is_named() {
    for mode in modes() {
        let device = device(mode, 32);
        let (x, y) = (upload(&device, &[0.0; 500]), upload(&device, &[0.0; 499]));
        let finding = saxpy(&device, x, y, 500).unwrap_err();
        assert_eq!(finding.kind, FindingKind::OutOfBounds, "{finding}");
        assert!(finding.message.contains("0 bytes past the end of allocation 2 (1996 bytes"), "{finding}");
        let (_, line) = finding.site.line.unwrap();
        assert!(SAXPY.lines().nth(line as usize - 1).unwrap().contains("ld.global"), "line {line}");
        assert_eq!(finding.site.entry, "saxpy");
    }
}
