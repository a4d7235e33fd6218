//! Translated modules with arbitrary descriptions, and arbitrary binaries.

use ptx2spv_fatbin::{Binary, Choice};
use ptx2spv_runtime::{Arg, Device, LaunchConfig, Module, read_programs};
use ptx2spv_translator::Interface;
use ptx2spv_translator::interface::{Bundle, Variant};

use super::draw;
use super::parts;
use crate::random::Random;

/// Maximum bytes of variables. A device has more memory, but takes long to fill it.
const MOST_VARIABLES: u64 = 1 << 24;

/// Loads a description with a module, or a bundle, into a reference device, and launches its kernels.
pub fn load(data: &[u8]) {
    let (json, words) = parts(data);
    let bundle = match serde_json::from_slice::<Bundle>(json) {
        Ok(bundle) => bundle,
        Err(_) => {
            let Ok(interface) = serde_json::from_slice::<Interface>(json) else { return };
            let spirv = words.as_chunks::<4>().0.iter().map(|word| u32::from_le_bytes(*word)).collect();
            Bundle::new([Variant { interface, spirv }])
        }
    };
    if bundle.variants.iter().any(|variant| variant.interface.variables.size > MOST_VARIABLES) {
        return;
    }
    let config = draw::reference(&mut Random::new(words.len() as u64)).config().expect("options that exist");
    let device = Device::reference(config);
    // SAFETY: the reference device checks modules and kernels.
    if let Ok(module) = unsafe { device.load_bundle(&bundle) } {
        for variant in &bundle.variants {
            launch_all(&device, &module, &variant.interface);
        }
    }
    for Variant { spirv, interface } in &bundle.variants {
        // SAFETY: as above.
        if let Ok(module) = unsafe { device.load_spirv(spirv, interface) } {
            launch_all(&device, &module, interface);
        }
    }
}

/// Launches one block of each kernel, with zeros for arguments.
fn launch_all(device: &Device, module: &Module, interface: &Interface) {
    for entry in interface.entries.iter().take(4) {
        let Ok(kernel) = module.kernel(&entry.name) else { continue };
        let zeros: Vec<Vec<u8>> = entry.params.iter().map(|param| vec![0; param.size.min(1 << 12) as usize]).collect();
        let args: Vec<Arg<'_>> = zeros.iter().map(|bytes| Arg::Bytes(bytes)).collect();
        let config = LaunchConfig::new([1; 3], entry.block.required.unwrap_or([4, 1, 1]));
        // SAFETY: as above.
        let _ = unsafe { kernel.launch(&config, &args) };
        let _ = device.synchronize();
    }
}

/// Reads data as each kind of binary, and extracts all contents.
pub fn binary(data: &[u8]) {
    for choice in [Choice::Newest, Choice::Exactly("sm_80".parse().expect("an architecture"))] {
        let _ = read_programs("fuzzed", data, choice);
    }
    for binary in [Binary::read(data), Binary::container(data)].into_iter().flatten() {
        for (number, entry) in binary.entries() {
            let _ = (entry.bytes(), entry.ptx(), entry.file_name("fuzzed", number));
        }
    }
}
