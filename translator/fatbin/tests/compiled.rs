//! Fat binaries of nvcc, made with the options that change their form: see `nvcc/build.sh`.

use std::fs;
use std::path::Path;

use ptx2spv_fatbin::{Binary, Choice, Compression, Entry, Kind};

/// The entries of a file, with their kinds, architectures and compressions.
#[track_caller]
fn check(name: &str, expected: &[(Kind, &str, Compression)]) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/nvcc").join(format!("{name}.fatbin"));
    let bytes = fs::read(path).unwrap();
    let binary = Binary::read(&bytes).unwrap();
    let describe = |entry: &Entry<'_>| (entry.kind, entry.architecture.to_string(), entry.compression);
    let found: Vec<_> = binary.entries().map(|(_, entry)| describe(entry)).collect();
    let expected: Vec<_> = expected.iter().map(|(kind, arch, how)| (*kind, (*arch).to_owned(), *how)).collect();
    assert_eq!(found, expected, "{name}");
    for (_, entry) in binary.entries() {
        assert_eq!(entry.bytes().unwrap().len() as u64, entry.size, "{name}");
        if entry.kind == Kind::Ptx {
            let text = entry.ptx().unwrap();
            assert!(
                text.contains(&format!(".target {}", entry.architecture)) && text.trim_end().ends_with('}'),
                "{name}"
            );
            assert_eq!(entry.version, (9, 5), "{name}");
        }
    }
    let has_ptx = expected.iter().any(|(kind, ..)| *kind == Kind::Ptx);
    assert_eq!(binary.programs(name, Choice::Newest).is_ok(), has_ptx, "{name}");
}

#[test]
fn by_nvcc() {
    use Compression::{Lz4, None, Zstd};
    use Kind::{Elf, Lto, Ptx};
    check("default", &[(Ptx, "sm_80", Zstd)]);
    check("size", &[(Ptx, "sm_80", Zstd)]);
    check("speed", &[(Ptx, "sm_80", Lz4)]);
    check("none", &[(Ptx, "sm_80", None)]);
    check("relocatable", &[(Ptx, "sm_80", Zstd)]);
    check("debug", &[(Ptx, "sm_80", Zstd)]);
    let all = [(Ptx, "sm_80", Zstd), (Ptx, "sm_75", Zstd), (Ptx, "sm_90a", Zstd), (Ptx, "sm_100f", Zstd)];
    check("several", &all);
    check("concatenated", &all[..3]);
    check("concatenated_speed", &[(Ptx, "sm_80", Lz4), (Ptx, "sm_75", Lz4)]);
    check("machine_code", &[(Elf, "sm_80", Zstd)]);
    check("linker_code", &[(Lto, "sm_80", None)]);
}
