//! The reference device accepts every translated kernel, with the target that it was translated for.

use ptx2spv_target::Target;

use super::{compile_words, parse, ptx_files, translate};
use crate::code::Inst;

/// Bytes of local memory of the device.
const LOCAL_MEMORY: u32 = 512 << 10;

#[test]
fn translated_kernels_are_accepted() {
    let mut compiled = 0;
    for (file, first) in ptx_files().into_iter().zip((0..Target::PRESETS.len()).cycle()) {
        let Some(program) = parse(&file) else { continue };
        // The presets are used in turn.
        for preset in Target::PRESETS.iter().cycle().skip(first).step_by(5).take(3) {
            let mut target = Target::preset(preset).expect("there is such a preset");
            // Like in the runtime, since a preset may have no limit for local memory.
            let most = target.quirks.local_memory.map_or(LOCAL_MEMORY, |bytes| bytes.min(LOCAL_MEMORY));
            target.quirks.local_memory = Some(most);
            let Some((spirv, entries)) = translate(&program, &target) else { continue };
            for entry in entries {
                let code = compile_words(&spirv, &entry, &target)
                    .unwrap_or_else(|refusal| panic!("{} for {preset}, {entry}: {refusal}", file.display()));
                assert_eq!(code.insts.len(), code.places.len());
                assert!(code.places.iter().any(|place| place.line.is_some()), "{}: no lines", file.display());
                assert!(code.insts.iter().any(|inst| matches!(inst, Inst::Return)));
                compiled += 1;
            }
        }
    }
    assert!(compiled > 300, "{compiled} kernels");
}
