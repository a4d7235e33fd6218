//! Files whose sizes and places are wrong: an answer or an error, in bounded time and memory.

mod packer;

use object::BinaryFormat;
use packer::{LZ4, ZSTD, container, library, machine_code, object, pack, ptx, several, windows_program};
use ptx2spv_fatbin::{Binary, Choice, Error};

/// Reads all that a file has.
fn read(bytes: &[u8]) -> Result<usize, Error> {
    let binary = Binary::read(bytes)?;
    let _ = binary.programs("file", Choice::Newest);
    let sizes = binary.entries().map(|(_, entry)| entry.bytes().map(|bytes| bytes.len()));
    sizes.sum()
}

/// Small files of every form.
fn seeds() -> Vec<Vec<u8>> {
    let text = ".version 8.1\n.target sm_80\n".repeat(4);
    let list = [ptx(80, &text), ptx(90, &text)];
    let mut seeds: Vec<Vec<u8>> =
        [0, LZ4, ZSTD].map(|flags| pack(&[machine_code(80), ptx(80, &text).with(flags)])).into();
    seeds.extend([0, LZ4, ZSTD].map(|flags| container(&[several(&list, flags)])));
    let one = pack(&[ptx(80, &text).with(LZ4)]);
    let elf = object(BinaryFormat::Elf, ".nv_fatbin", &one);
    seeds.extend([
        object(BinaryFormat::Coff, ".nv_fatb", &one),
        object(BinaryFormat::MachO, "__nv_fatbin", &one),
        windows_program(".nv_fatbin", &one),
        library(&[("k.o", elf.clone())]),
        elf,
    ]);
    seeds
}

/// Each word of a file in turn is replaced by numbers that overflow, reach past the end or back to the start.
#[test]
fn wrong_words() {
    for seed in seeds() {
        assert!(read(&seed).is_ok());
        for at in (0..seed.len().saturating_sub(8)).step_by(2) {
            for word in [0, 1, 7, 0x7f, 0xff, 0xffff, 0x7fff_ffff, 0xffff_fff8, 0xffff_ffff] {
                let mut bytes = seed.clone();
                bytes[at..at + 4].copy_from_slice(&u32::to_le_bytes(word));
                let _ = read(&bytes);
                bytes[at + 4..at + 8].copy_from_slice(&u32::to_le_bytes(word));
                let _ = read(&bytes);
            }
        }
    }
}

#[test]
fn cut_off() {
    for seed in seeds() {
        for length in 0..seed.len() {
            let _ = read(&seed[..length]);
        }
    }
}

/// The entry's field at an offset of its header set to a number.
fn with_field(mut bytes: Vec<u8>, field: usize, value: u64, size: usize) -> Result<usize, Error> {
    let at = 16 + field;
    bytes[at..at + size].copy_from_slice(&value.to_le_bytes()[..size]);
    read(&bytes)
}

#[test]
fn wrong_fields_are_named() {
    let plain = || pack(&[ptx(80, "text")]);
    let damaged = |what: &'static str| Err(Error::Damaged { at: 16, what });
    let sizes = "the sizes of an entry don't fit its container";
    assert_eq!(with_field(plain(), 4, 56, 4), damaged(sizes));
    assert_eq!(with_field(plain(), 4, 68, 4), damaged(sizes));
    assert_eq!(with_field(plain(), 8, u64::MAX, 8), damaged(sizes));
    assert_eq!(with_field(plain(), 8, 16, 8), damaged(sizes));
    assert_eq!(with_field(plain(), 36, 4000, 4), damaged("the header of an entry points outside of itself"));
    assert_eq!(with_field(plain(), 20, 4000, 4), damaged("the header of an entry points outside of itself"));
    let packed = |flags| pack(&[ptx(80, &"text ".repeat(50)).with(flags)]);
    assert_eq!(with_field(packed(LZ4), 16, 4000, 4), damaged("an entry is compressed to more than there is"));
    let table = container(&[several(&[ptx(80, "text"), ptx(90, "text")], 0)]);
    for (field, value) in [(64, 3), (64, u64::from(u32::MAX)), (68, 100), (76, 4000), (80, 4000)] {
        assert_eq!(with_field(table.clone(), field, value, 4), damaged("a table of payloads isn't as it should be"));
    }
    assert_eq!(
        read(&[&0xba55_ed50_u32.to_le_bytes()[..], &[2, 0, 16, 0], &[0; 8]].concat()),
        Err(Error::Damaged { at: 0, what: "a container of an unknown version" })
    );
}

/// A size that nothing of that length decompresses to takes no memory; a wrong one is an error.
#[test]
fn sizes_of_decompressed_payloads() {
    let text = "text ".repeat(50);
    for flags in [LZ4, ZSTD] {
        let packed = || pack(&[ptx(80, &text).with(flags)]);
        assert_eq!(with_field(packed(), 56, 1 << 40, 8), Err(Error::TooLarge(1 << 40)));
        for size in [1, 250, 252, 500, 1 << 20, 1 << 29] {
            assert!(matches!(with_field(packed(), 56, size, 8), Err(Error::Compression(_))), "{size}");
        }
        // Both the size of a mebibyte of zeros and its lie are small in the file.
        let bomb = pack(&[packer::Packed { payload: vec![0; 1 << 20], ..ptx(80, "") }.with(flags)]);
        assert_eq!(read(&bomb), Ok(1 << 20));
        assert!(matches!(with_field(bomb, 56, 1000, 8), Err(Error::Compression(_))));
    }
}
