//! The reference device accepts every translated kernel, with the target that it was translated for.

use std::fs;

use ptx2spv_target::Target;
use ptx2spv_translator::{Options, Program, Source};

use super::{compile_words, ptx_files};
use crate::code::Inst;

/// Bytes of local memory of the device.
const LOCAL_MEMORY: u32 = 512 << 10;

#[test]
fn translated_kernels_are_accepted() {
    let mut compiled = 0;
    for (file, first) in ptx_files().into_iter().zip((0..Target::PRESETS.len()).cycle()) {
        let text = fs::read_to_string(&file).expect("it can be read");
        let source = Source::new(file.display().to_string(), text);
        let Ok(program) = Program::new(&source) else { continue };
        // The presets are used in turn.
        for preset in Target::PRESETS.iter().cycle().skip(first).step_by(5).take(3) {
            let mut target = Target::preset(preset).expect("there is such a preset");
            // Like in the runtime, since a preset may have no limit for local memory.
            let most = target.quirks.local_memory.map_or(LOCAL_MEMORY, |bytes| bytes.min(LOCAL_MEMORY));
            target.quirks.local_memory = Some(most);
            let options = Options::new(&target).keep_going(true).line_info(true);
            let Ok(translation) = program.translate(&options) else { continue };
            for entry in translation.interface.entries.iter().map(|entry| &entry.name) {
                let code = compile_words(&translation.spirv, entry, &target)
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
