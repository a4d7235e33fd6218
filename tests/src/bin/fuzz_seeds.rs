//! Writes the seed inputs of the fuzzers, made of the tests' files, into one folder per target: `fuzz_seeds FOLDER`.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail};
use object::write::Object;
use object::{Architecture, BinaryFormat, Endianness, SectionKind};
use ptx2spv::cases::find;
use ptx2spv_tests::files;
use ptx2spv_translator::interface::{Bundle, Variant};
use ptx2spv_translator::{Options, Program, Source, Target};

/// Longest PTX seed: fuzzers get further with many short inputs.
const LONGEST_PTX: usize = 12_000;
const LONGEST_CASE: usize = 6_000;

const TARGETS: [&str; 5] = ["parse", "translate", "load", "binary", "launch"];

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [folder] = &arguments[..] else { bail!("expected a folder") };
    let folder = Path::new(folder);
    for target in TARGETS {
        fs::create_dir_all(folder.join(target))?;
    }
    let write = |target: &str, name: &str, bytes: &[u8]| {
        let path = folder.join(target).join(name.replace('/', "-"));
        fs::write(&path, bytes).with_context(|| path.display().to_string())
    };
    for target in TARGETS {
        for file in fs::read_dir(files::root().join("fuzzed").join(target))? {
            let file = file?.path();
            write(target, &files::short_name(&file), &fs::read(&file)?)?;
        }
    }
    for (number, file) in (0_u64..).zip(files::valid_ptx()?) {
        let name = files::short_name(&file);
        let text = fs::read_to_string(&file)?;
        if text.len() > LONGEST_PTX {
            continue;
        }
        write("parse", &name, text.as_bytes())?;
        write(
            "translate",
            &name,
            format!("// {:016x}\n{text}", number.wrapping_mul(0x9e37_79b9_7f4a_7c15)).as_bytes(),
        )?;
        for (kind, bytes) in translated(&name, &text)? {
            write("load", &format!("{name}.{kind}"), &bytes)?;
        }
    }
    for file in fs::read_dir(files::root().join("../translator/fatbin/tests/nvcc"))? {
        let file = file?.path();
        let name = files::short_name(&file);
        if file.extension().is_some_and(|extension| extension == "fatbin") {
            let bytes = fs::read(&file)?;
            write("binary", &name, &bytes)?;
            for (kind, bytes) in objects(&bytes)? {
                write("binary", &format!("{name}.{kind}"), &bytes)?;
            }
        }
    }
    for case in find(&files::case_directories())?.cases {
        let Ok(ptx) = fs::read_to_string(case.file.with_file_name(&case.spec.ptx)) else { continue };
        let json = serde_json::to_string(&case.spec)?;
        if json.len() <= LONGEST_CASE && ptx.len() <= LONGEST_PTX {
            write(
                "launch",
                &format!("{}-{}", files::short_name(&case.file), case.spec.name),
                format!("{json}\0{ptx}").as_bytes(),
            )?;
        }
    }
    Ok(())
}

/// A module's first kernel, as a pair of files and as a bundle.
fn translated(name: &str, text: &str) -> Result<Vec<(&'static str, Vec<u8>)>> {
    let source = Source::new(name, text);
    let target = Target::reference();
    let Ok(program) = Program::new(&source) else { return Ok(Vec::new()) };
    let first: Vec<String> = program.entries().into_iter().take(1).map(str::to_owned).collect();
    let Ok(made) = program.translate(&Options::new(&target).entries(Some(&first))) else {
        return Ok(Vec::new());
    };
    let words: Vec<u8> = made.spirv.iter().flat_map(|word| word.to_le_bytes()).collect();
    let pair = [serde_json::to_vec(&made.interface)?, vec![0], words].concat();
    let bundle = serde_json::to_vec(&Bundle::new([Variant::from(made)]))?;
    Ok(vec![("pair", pair), ("bundle", bundle)])
}

/// Objects with a fat binary in them.
fn objects(content: &[u8]) -> Result<Vec<(&'static str, Vec<u8>)>> {
    let formats = [
        ("elf", BinaryFormat::Elf, ".nv_fatbin"),
        ("coff", BinaryFormat::Coff, ".nv_fatb"),
        ("mach-o", BinaryFormat::MachO, "__nv_fatbin"),
    ];
    let object = |(name, format, section): (_, _, &str)| {
        let mut object = Object::new(format, Architecture::X86_64, Endianness::Little);
        let segment = if format == BinaryFormat::MachO { b"__NV_CUDA".to_vec() } else { Vec::new() };
        let section = object.add_section(segment, section.as_bytes().to_vec(), SectionKind::Data);
        object.append_section_data(section, content, 8);
        Ok((name, object.write()?))
    };
    formats.into_iter().map(object).collect()
}
