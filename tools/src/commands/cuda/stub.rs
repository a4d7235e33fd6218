//! Stubs for shared libraries: objects without code that have a name and a version, and depend on the library with the
//! functions. Programs look for `cudaMalloc` with version `libcudart.so.12` in a library of that name. The loader finds
//! the name and the version in the stub, and the function, which has no version, in the library.

use anyhow::{Result, bail};

/// The machine that programs are made for: class, byte order and machine type, from the header of one of their objects.
pub struct Machine {
    identification: [u8; 16],
    number: u16,
}

impl Machine {
    /// The machine of a 64-bit little-endian object. All machines with Vulkan are of this kind.
    pub fn of(object: &[u8]) -> Result<Self> {
        const IDENTIFICATION: [u8; 6] = [0x7f, b'E', b'L', b'F', 2, 1];
        let header = object.first_chunk::<20>().filter(|header| header.starts_with(&IDENTIFICATION));
        let Some([identification @ .., _, _, low, high]) = header else { bail!("no shared library of 64 bits") };
        Ok(Self { identification: *identification, number: u16::from_le_bytes([*low, *high]) })
    }
}

/// Bytes of the parts with a fixed size.
const HEADER: u64 = 64;
const PROGRAM_HEADER: u64 = 56;
const PROGRAM_HEADERS: u64 = 3;
const DYNAMIC_ENTRY: u64 = 16;
const DYNAMIC_ENTRIES: u64 = 13;
/// The null symbol.
const SYMBOL: u64 = 24;
/// A hash table with one bucket for one symbol.
const HASH: u64 = 16;
/// Two version definitions, each with a single name.
const DEFINITIONS: u64 = 2 * (20 + 8);

/// The maximum page size.
const PAGE: u64 = 1 << 16;

/// A string table: zero-terminated names.
struct Strings(Vec<u8>);

impl Strings {
    /// Adds a name, and returns its offset.
    fn add(&mut self, name: &str) -> u32 {
        let place = self.0.len() as u32;
        self.0.extend(name.as_bytes());
        self.0.push(0);
        place
    }
}

/// The hash of a version name, as defined by the System V ABI.
fn hash(name: &str) -> u32 {
    name.bytes().fold(0, |hash: u32, byte| {
        let hash = (hash << 4).wrapping_add(byte.into());
        let high = hash & 0xf000_0000;
        (hash ^ (high >> 24)) & !high
    })
}

/// The stub for a name, which is also its version, in front of a library in the same folder.
pub fn stub(machine: &Machine, name: &str, library: &str) -> Vec<u8> {
    let mut strings = Strings(vec![0]);
    let (own, needed, folder) = (strings.add(name), strings.add(library), strings.add("$ORIGIN"));
    let dynamic = HEADER + PROGRAM_HEADERS * PROGRAM_HEADER;
    let symbols = dynamic + DYNAMIC_ENTRIES * DYNAMIC_ENTRY;
    let hashes = symbols + SYMBOL;
    let definitions = hashes + HASH;
    // The version of the null symbol.
    let versions = definitions + DEFINITIONS;
    let names = versions + 2;
    let end = names + strings.0.len() as u64;

    let mut out = Vec::new();
    let half = |out: &mut Vec<u8>, value: u16| out.extend(value.to_le_bytes());
    let word = |out: &mut Vec<u8>, value: u32| out.extend(value.to_le_bytes());
    let long = |out: &mut Vec<u8>, value: u64| out.extend(value.to_le_bytes());

    // The header of a shared object without entry point, with program headers and without sections.
    const SHARED_OBJECT: u16 = 3;
    out.extend(machine.identification);
    half(&mut out, SHARED_OBJECT);
    half(&mut out, machine.number);
    word(&mut out, 1);
    [0, HEADER, 0].iter().for_each(|&value| long(&mut out, value));
    word(&mut out, 0);
    [HEADER as u16, PROGRAM_HEADER as u16, PROGRAM_HEADERS as u16, 0, 0, 0]
        .iter()
        .for_each(|&value| half(&mut out, value));

    // The whole file as writable memory, the dynamic section in it, and a stack that is not executable.
    const READ_AND_WRITE: u32 = 6;
    for (kind, start, len, align) in
        [(1, 0, end, PAGE), (2, dynamic, DYNAMIC_ENTRIES * DYNAMIC_ENTRY, 8), (0x6474_e551, 0, 0, 16)]
    {
        word(&mut out, kind);
        word(&mut out, READ_AND_WRITE);
        [start, start, start, len, len, align].iter().for_each(|&value| long(&mut out, value));
    }

    // The dynamic section: the needed library, the object's own name, the search folder, symbols, versions, and the
    // end.
    let entries: [(u64, u64); DYNAMIC_ENTRIES as usize] = [
        (1, needed.into()),
        (14, own.into()),
        (29, folder.into()),
        (4, hashes),
        (5, names),
        (6, symbols),
        (10, strings.0.len() as u64),
        (11, SYMBOL),
        (0x6fff_fff0, versions),
        (0x6fff_fffc, definitions),
        (0x6fff_fffd, 2),
        // Symbols are bound in any order; nothing depends on that.
        (30, 0),
        (0, 0),
    ];
    for (tag, value) in entries {
        long(&mut out, tag);
        long(&mut out, value);
    }
    out.resize(hashes as usize, 0);
    // One bucket, one symbol, and an empty bucket.
    [1, 1, 0, 0].iter().for_each(|&value| word(&mut out, value));
    // The object's own name, which is the first version, then the version.
    for (flags, index, next) in [(1, 1, 28), (0, 2, 0)] {
        [1, flags, index, 1].iter().for_each(|&value| half(&mut out, value));
        [hash(name), 20, next, own, 0].iter().for_each(|&value| word(&mut out, value));
    }
    half(&mut out, 0);
    out.extend(strings.0);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes() {
        // The System V ABI's example is "printf".
        assert_eq!((hash("printf"), hash("")), (0x0779_05a6, 0));
    }

    #[test]
    fn machines() {
        assert!(Machine::of(b"MZ").is_err() && Machine::of(&[0; 64]).is_err());
        let machine = Machine { identification: [7; 16], number: 62 };
        let header = stub(&machine, "a", "b");
        assert_eq!((&header[..16], &header[16..20]), (&[7; 16][..], &[3, 0, 62, 0][..]));
    }

    /// A program that was linked with another vendor's library, which has versions, runs with the stub in its place.
    #[cfg(target_os = "linux")]
    #[test]
    fn loader_takes_stubs() {
        use std::path::Path;
        use std::process::Command;

        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        let write = |name: &str, text: &str| std::fs::write(path(name), text).unwrap();
        let compile = |arguments: &[&str]| {
            let run = Command::new("cc").args(arguments).current_dir(folder.path()).output().unwrap();
            assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
        };
        write("theirs.c", "int answer(void) { return 1; }");
        write("versions", "libanswer.so.12 { global: answer; local: *; };");
        write("ours.c", "int answer(void) { return 7; }");
        write("program.c", "int answer(void); int main(void) { return answer(); }");
        std::fs::create_dir_all(path("with")).unwrap();
        let theirs = "libanswer.so.12";
        compile(&[
            "-shared",
            "-fPIC",
            "-Wl,-soname,libanswer.so.12",
            "-Wl,--version-script,versions",
            "theirs.c",
            "-o",
            theirs,
        ]);
        compile(&["-shared", "-fPIC", "-Wl,-soname,libours.so.1", "ours.c", "-o", "with/libours.so.1"]);
        compile(&["program.c", theirs, "-o", "program"]);
        let run = |libraries: &Path| {
            let run = Command::new(path("program")).env("LD_LIBRARY_PATH", libraries).output().unwrap();
            assert_eq!(String::from_utf8_lossy(&run.stderr), "");
            run.status.code()
        };
        assert_eq!(run(folder.path()), Some(1));
        let machine = Machine::of(&std::fs::read(path("program")).unwrap()).unwrap();
        std::fs::write(path("with").join(theirs), stub(&machine, theirs, "libours.so.1")).unwrap();
        assert_eq!(run(&path("with")), Some(7));
    }
}
