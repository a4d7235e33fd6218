//! Fat binaries in all kinds of files, compressed in all ways.

mod packer;

use object::BinaryFormat;
use packer::{LTO, LZ4, Packed, ZSTD, container, library, machine_code, object, pack, ptx, several, windows_program};
use ptx2spv_fatbin::{Architecture, Binary, Choice, Compression, Error, Image, Kind, Module, fat_binary};

/// Text long enough that compression finds something, as different for each architecture.
fn text(arch: u32) -> String {
    format!(
        "\n// a comment\n.version 8.1\n.target sm_{arch}\n.address_size 64\n{}",
        ".visible .entry k() { ret; }\n".repeat(9)
    )
}

fn sample(arch: u32) -> Packed {
    ptx(arch, &text(arch))
}

/// The only module of the only program.
#[track_caller]
fn only(bytes: &[u8], choice: Choice) -> Module {
    let mut programs = Binary::read(bytes).unwrap().programs("file", choice).unwrap();
    assert_eq!((programs.len(), programs[0].modules.len()), (1, 1));
    programs[0].modules.remove(0)
}

#[test]
fn plain_and_compressed() {
    for (flags, expected) in [(0, Compression::None), (LZ4, Compression::Lz4), (ZSTD, Compression::Zstd)] {
        let bytes = pack(&[
            machine_code(80),
            Packed { options: "-O1  -maxrregcount=32 ", identifier: "k.cu", ..sample(80) }.with(flags),
        ]);
        let binary = Binary::read(&bytes).unwrap();
        let entry = &binary.containers[0].entries[1];
        assert_eq!((entry.kind, entry.version, entry.compression), (Kind::Ptx, (8, 1), expected));
        assert_eq!(entry.size as usize, text(80).len() + 1);
        assert_eq!(
            (entry.identifier.as_deref(), entry.options.as_deref()),
            (Some("k.cu"), Some("-O1  -maxrregcount=32"))
        );
        assert_eq!(only(&bytes, Choice::Newest), Module { name: "file.2.sm_80.ptx".to_owned(), ptx: text(80) });
    }
}

#[test]
fn several_payloads_in_one_entry() {
    for flags in [0, LZ4, ZSTD] {
        let list = [sample(75), Packed { identifier: "two.cu", options: "-g", ..sample(90) }];
        let bytes = container(&[several(&[machine_code(75), machine_code(90)], flags), several(&list, flags)]);
        let binary = Binary::read(&bytes).unwrap();
        let found: Vec<_> =
            binary.entries().map(|(number, entry)| (number, entry.kind, entry.architecture.number)).collect();
        assert_eq!(found, [(1, Kind::Elf, 75), (2, Kind::Elf, 90), (3, Kind::Ptx, 75), (4, Kind::Ptx, 90)]);
        assert_eq!(binary.containers[0].entries[3].identifier.as_deref(), Some("two.cu"));
        assert_eq!(binary.containers[0].entries[2].ptx().unwrap(), text(75));
        assert_eq!(only(&bytes, Choice::Newest).ptx, text(90));
    }
}

#[test]
fn files_of_all_kinds() {
    let one = pack(&[sample(80).with(ZSTD)]);
    let objects = [
        object(BinaryFormat::Elf, ".nv_fatbin", &one),
        object(BinaryFormat::Coff, ".nv_fatb", &one),
        object(BinaryFormat::Coff, ".nv_fatbin", &one),
        object(BinaryFormat::MachO, "__nv_fatbin", &one),
        object(BinaryFormat::MachO, "__fatbin", &one),
        windows_program(".nv_fatbin", &one),
        one.clone(),
    ];
    for bytes in &objects {
        assert!(Binary::is_binary(bytes));
        assert_eq!(only(bytes, Choice::Newest).ptx, text(80));
    }
    let members = [
        ("none.o", object(BinaryFormat::Elf, ".data", &one)),
        ("k.o", objects[0].clone()),
        ("notes.txt", b"text".to_vec()),
    ];
    let bytes = library(&members);
    assert_eq!(Binary::read(&bytes).unwrap().containers[0].member.as_deref(), Some("k.o"));
    assert_eq!(only(&bytes, Choice::Newest).ptx, text(80));
}

/// A universal file of two Mach-O slices.
#[test]
fn universal_files() {
    let slice = object(BinaryFormat::MachO, "__nv_fatbin", &pack(&[sample(80)]));
    let mut bytes = 0xcafe_babe_u32.to_be_bytes().to_vec();
    bytes.extend(1_u32.to_be_bytes());
    for word in [0x0100_0007, 3, 64, slice.len() as u32, 3] {
        bytes.extend(u32::to_be_bytes(word));
    }
    bytes.resize(64, 0);
    bytes.extend(slice);
    assert_eq!(only(&bytes, Choice::Newest).ptx, text(80));
}

#[test]
fn containers_follow_each_other() {
    let padding = vec![0; 40];
    let section =
        [pack(&[sample(70)]), padding.clone(), pack(&[machine_code(80)]), padding, pack(&[sample(90)])].concat();
    let bytes = object(BinaryFormat::Elf, ".nv_fatbin", &section);
    let programs = Binary::read(&bytes).unwrap().programs("a.out", Choice::Newest).unwrap();
    let names: Vec<_> =
        programs.iter().flat_map(|program| &program.modules).map(|module| module.name.as_str()).collect();
    assert_eq!(names, ["a.out.1.sm_70.ptx", "a.out.3.sm_90.ptx"]);
    assert!(programs.iter().all(|program| !program.relocatable));
    // What was compiled for the linker is one program.
    let bytes = object(BinaryFormat::Elf, "__nv_relfatbin", &section);
    let programs = Binary::read(&bytes).unwrap().programs("a.out", Choice::Newest).unwrap();
    assert_eq!((programs.len(), programs[0].modules.len(), programs[0].relocatable), (1, 2, true));
}

/// CUDA's library for launches from kernels is no part of a program, whatever it has PTX for.
#[test]
fn without_the_device_runtime() {
    let library = ".visible .func (.param .b32 r) __cudaCDP2LaunchDeviceV2(.param .b64 b, .param .b64 s) { ret; }";
    for arch in [52, 121] {
        let runtime = pack(&[machine_code(80), ptx(arch, library)]);
        let section = [pack(&[sample(80)]), runtime.clone()].concat();
        let bytes = object(BinaryFormat::Elf, "__nv_relfatbin", &section);
        assert_eq!(only(&bytes, Choice::For(86)).name, "file.1.sm_80.ptx");
        // By itself, in memory as in a file.
        for bytes in [runtime.clone(), object(BinaryFormat::Elf, "__nv_relfatbin", &runtime)] {
            assert_eq!(Binary::read(&bytes).unwrap().programs("file", Choice::For(86)), Ok(Vec::new()));
        }
    }
}

#[test]
fn which_architectures_run_where() {
    let runs = |name: &str, capability| name.parse::<Architecture>().unwrap().runs_on(capability);
    for (name, yes, no) in
        [("sm_80", [80, 90], [75, 52]), ("sm_90a", [90, 90], [100, 89]), ("sm_100f", [100, 103], [120, 90])]
    {
        assert!(yes.into_iter().all(|capability| runs(name, capability)), "{name}");
        assert!(!no.into_iter().any(|capability| runs(name, capability)), "{name}");
    }
}

#[test]
fn choosing() {
    let own = Packed { flags: 0x11 | 0x10_0000, ..sample(90) };
    let family = Packed { flags: 0x11 | 0x20_0000, ..sample(100) };
    let old = Packed { version: (7, 0), ..ptx(86, "older PTX") };
    let bytes = pack(&[machine_code(120), sample(75), own, family, old, sample(86)]);
    assert_eq!(only(&bytes, Choice::Newest).name, "file.6.sm_86.ptx");
    assert_eq!(only(&bytes, Choice::For(80)).name, "file.2.sm_75.ptx");
    // What is for one architecture or family alone runs there, but gives way to what runs everywhere.
    assert_eq!(only(&bytes, Choice::For(90)).name, "file.6.sm_86.ptx");
    let error = Binary::read(&bytes).unwrap().programs("file", Choice::For(70)).unwrap_err();
    assert!(error.to_string().starts_with("there is no PTX for sm_70 or older in it; it has PTX for"), "{error}");
    assert_eq!(only(&bytes, Choice::Exactly("sm_90a".parse().unwrap())).name, "file.3.sm_90a.ptx");
    assert_eq!(only(&bytes, Choice::Exactly("compute_100f".parse().unwrap())).name, "file.4.sm_100f.ptx");
    let plain = Choice::Exactly(Architecture { number: 90, suffix: None });
    let error = Binary::read(&bytes).unwrap().programs("file", plain).unwrap_err();
    assert!(
        error.to_string().starts_with("there is no PTX for sm_90 in it; it has PTX for sm_100f, PTX for sm_75"),
        "{error}"
    );
}

#[test]
fn files_without_ptx() {
    let lto = Packed { kind: LTO, ..sample(80) };
    let bytes = pack(&[machine_code(75), machine_code(90), lto]);
    let list = "code for the linker (LTO) for sm_80, machine code for sm_75, machine code for sm_90";
    // The error names no architecture, since no other one would do.
    for choice in [Choice::Newest, Choice::For(86), Choice::Exactly("sm_90".parse().unwrap())] {
        let error = Binary::read(&bytes).unwrap().programs("file", choice).unwrap_err();
        assert_eq!(error.to_string(), format!("there is no PTX in it; it has {list}"));
    }
    let none = object(BinaryFormat::Elf, ".data", b"12345678");
    assert_eq!(Binary::read(&none).unwrap_err(), Error::NoFatBinary);
    let mut cubin = none;
    cubin[18..20].copy_from_slice(&190_u16.to_le_bytes());
    assert_eq!(Binary::read(&cubin).unwrap_err(), Error::MachineCode);
    assert!(matches!(Binary::read(b".version 8.1\n"), Err(Error::Unknown(_))));
    assert!(!Binary::is_binary(b".version 8.1\n") && !Binary::is_binary(b""));
    assert_eq!(
        Binary::read(&object(BinaryFormat::Elf, ".nv_fatbin", &0x1ee5_5a01_u64.to_le_bytes())).unwrap_err(),
        Error::OldContainer
    );
}

/// A fat binary that was written is read again, whatever the length of the text.
#[test]
fn written() {
    for length in 0..9 {
        let images = [60, 80].map(|architecture| {
            let ptx = text(architecture) + &"/".repeat(length);
            Image { architecture, ptx: ptx.into_bytes() }
        });
        let bytes = fat_binary(&images);
        let binary = Binary::read(&bytes).unwrap();
        assert_eq!(bytes.len() % 8, 0);
        for Image { architecture: number, ptx } in &images {
            let programs =
                binary.programs("f", Choice::Exactly(Architecture { number: *number, suffix: None })).unwrap();
            assert_eq!(programs[0].modules[0].ptx.as_bytes(), ptx);
            assert!(!programs[0].relocatable);
        }
    }
}
