//! Parameters that a module's description calls pointers.

use ptx2spv_translator::{Options, Program, Source, Target};

#[test]
fn what_addresses_are_computed_from_is_a_pointer() {
    for preset in ["nvidia", "lavapipe"] {
        let source = Source::new("pointers.ptx", include_str!("pointers.ptx"));
        let target = Target::preset(preset).unwrap();
        let translation = Program::new(&source).unwrap().translate(&Options::new(&target)).unwrap();
        let params = &translation.interface.entry("k").unwrap().params;
        let pointers: Vec<&str> =
            params.iter().filter(|param| param.pointer).map(|param| param.name.as_str()).collect();
        // Either of `base` and `bytes` may be the pointer.
        assert_eq!(pointers, ["loaded", "stored", "declared"], "{preset}");
    }
}
