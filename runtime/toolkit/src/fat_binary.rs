//! The command line of NVIDIA's `fatbinary`, which clang calls to put PTX into objects.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fmt::Write;
use std::path::PathBuf;

use ptx2spv_fatbin::{Image, WRAPPER_MAGIC, fat_binary};

use crate::clang::Error;
use crate::used::{with_one_name_of_statics, without_list_for_host};

/// A parsed command line of `fatbinary`.
#[derive(Debug)]
pub struct FatBinary {
    output: PathBuf,
    images: Vec<(u32, PathBuf)>,
}

impl FatBinary {
    /// Reads the arguments: `--create OUT` and `--image=profile=compute_75,file=IN`, or `--image3=kind=ptx,sm=75,file=IN` of later clangs.
    /// Images of machine code come from our ptxas, have the same PTX again, and are left out.
    ///
    /// # Errors
    /// [`Error::FatBinary`]
    pub fn parse(arguments: &[OsString]) -> Result<Self, Error> {
        let (mut output, mut images) = (None, Vec::new());
        let mut rest = arguments.iter();
        while let Some(argument) = rest.next() {
            let text = argument.to_string_lossy();
            if text == "--create" {
                output = rest.next().map(PathBuf::from);
            } else if let Some(path) = text.strip_prefix("--create=") {
                output = Some(path.into());
            } else if let Some((_, image)) = text.strip_prefix("--image").and_then(|rest| rest.split_once('=')) {
                let field = |name: &str| image.split(',').find_map(|part| part.strip_prefix(name)?.strip_prefix('='));
                let profile = field("profile").and_then(|profile| profile.strip_prefix("compute_"));
                let virtual_architecture = profile.or_else(|| field("sm").filter(|_| field("kind") == Some("ptx")));
                let Some(name) = virtual_architecture else { continue };
                let number = name.trim_end_matches(|c: char| c.is_ascii_alphabetic()).parse();
                let number = number.map_err(|_| Error::FatBinary(format!("no architecture: {image}")))?;
                let file = field("file").ok_or_else(|| Error::FatBinary(format!("no file: {image}")))?;
                images.push((number, file.into()));
            }
        }
        let output = output.ok_or_else(|| Error::FatBinary("--create is missing".to_owned()))?;
        Ok(Self { output, images })
    }

    /// Writes the file.
    ///
    /// # Errors
    /// A file can't be read or written.
    pub fn write(&self) -> Result<(), Error> {
        let read = |(architecture, path): &(u32, PathBuf)| {
            let ptx = std::fs::read_to_string(path).map_err(Error::file(path))?;
            let ptx = with_one_name_of_statics(&without_list_for_host(&ptx));
            Ok(Image { architecture: *architecture, ptx: ptx.into_bytes() })
        };
        let images = self.images.iter().map(read).collect::<Result<Vec<_>, Error>>()?;
        std::fs::write(&self.output, fat_binary(&images)).map_err(Error::file(&self.output))
    }
}

/// The functions of each object. The first call of `add` registers the program, since the order of constructors isn't known.
const FUNCTIONS: &str = "
extern void **__cudaRegisterFatBinary(const void *);
extern void __cudaRegisterFatBinaryEnd(void **);
extern void __cudaUnregisterFatBinary(void **);
extern int atexit(void (*)(void));
static void **handle;
static void end(void) { __cudaUnregisterFatBinary(handle); }
static void add(void (*add_contents)(void **)) {
    if (!handle) {
        handle = __cudaRegisterFatBinary(&wrapper);
        atexit(end);
    }
    add_contents(handle);
    __cudaRegisterFatBinaryEnd(handle);
}
";

/// C source with a fat binary, the program that was linked, and with these functions. Each gets a function that registers the contents of
/// an object for the program's handle.
pub fn registration(fat_binary: &[u8], functions: &BTreeSet<String>) -> String {
    let mut text = String::from("static const char image[] __attribute__((aligned(8), section(\".nv_fatbin\"))) =\n\"");
    for &byte in fat_binary {
        match byte {
            b'\n' => text.push_str("\\n\"\n\""),
            b'"' | b'\\' => text.extend(['\\', char::from(byte)]),
            // `??` begins trigraphs.
            b' '..=b'~' if byte != b'?' => text.push(char::from(byte)),
            // Three digits, so that digits may follow.
            _ => drop(write!(text, "\\{byte:03o}")),
        }
    }
    text.push_str("\";\n");
    text += &format!(
        "static const struct {{ unsigned magic, version; const void *image, *none; }} wrapper \
         __attribute__((section(\".nvFatBinSegment\"))) = {{{WRAPPER_MAGIC:#x}, 1, image, 0}};\n"
    );
    text += FUNCTIONS;
    for name in functions {
        text += &format!(
            "void {name}(void (*add_contents)(void **), void *object, void *module, void (*none)(void *)) {{ add(add_contents); }}\n"
        );
    }
    text
}
