//! The files that fat binaries lie in.

use std::collections::BTreeSet;

use object::archive::MAGIC as ARCHIVE;
use object::read::archive::ArchiveFile;
use object::read::macho::{FatArch, MachOFatFile32, MachOFatFile64};
use object::{FileKind, Object, ObjectSection, ObjectSymbol};

use crate::container::{self, CONTAINER_MAGIC, Container};
use crate::error::Error;

/// `e_machine` of cubins.
const EM_CUDA: u16 = 190;

/// Whether the first bytes are those of a file that may have fat binaries.
pub(crate) fn is_known(bytes: &[u8]) -> bool {
    // Objects of COFF begin with nothing that tells them from other files but the number of the machine.
    bytes.starts_with(&CONTAINER_MAGIC.to_le_bytes())
        || bytes.starts_with(&ARCHIVE)
        || bytes.starts_with(b"MZ")
        || FileKind::parse(bytes).is_ok()
}

pub(crate) fn read(bytes: &[u8]) -> Result<Vec<Container<'_>>, Error> {
    let containers = if bytes.starts_with(&CONTAINER_MAGIC.to_le_bytes()) {
        container::all(bytes, false, None)?
    } else if bytes.starts_with(&ARCHIVE) {
        library(bytes)?
    } else {
        match FileKind::parse(bytes).map_err(unknown)? {
            FileKind::MachOFat32 => slices(bytes, MachOFatFile32::parse(bytes).map_err(unknown)?.arches())?,
            FileKind::MachOFat64 => slices(bytes, MachOFatFile64::parse(bytes).map_err(unknown)?.arches())?,
            _ => object(bytes, None)?,
        }
    };
    if containers.is_empty() { Err(Error::NoFatBinary) } else { Ok(containers) }
}

fn unknown(error: object::Error) -> Error {
    Error::Unknown(error.to_string())
}

fn library(bytes: &[u8]) -> Result<Vec<Container<'_>>, Error> {
    let mut containers = Vec::new();
    for (name, data) in members(bytes)? {
        containers.extend(object(data, Some(&name))?);
    }
    Ok(containers)
}

/// The objects of a static library with their names. Members of other kinds, such as tables of contents, are passed over.
fn members(bytes: &[u8]) -> Result<Vec<(String, &[u8])>, Error> {
    let mut objects = Vec::new();
    for member in ArchiveFile::parse(bytes).map_err(unknown)?.members() {
        let member = member.map_err(unknown)?;
        let data = member.data(bytes).map_err(unknown)?;
        if FileKind::parse(data).is_ok() {
            objects.push((String::from_utf8_lossy(member.name()).into_owned(), data));
        }
    }
    Ok(objects)
}

/// The functions by which objects of separate compilation (`nvcc -rdc=true`) register their device code in the program
/// that is linked of all of them. Objects call these functions; the device linker makes them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Registrations {
    /// The functions that objects call.
    pub called: BTreeSet<String>,
    /// The functions that objects define.
    pub defined: BTreeSet<String>,
}

impl Registrations {
    /// Finds them in an object or a static library. Other files have none.
    ///
    /// # Errors
    /// The file is damaged.
    pub fn read(bytes: &[u8]) -> Result<Self, Error> {
        let objects = if bytes.starts_with(&ARCHIVE) {
            members(bytes)?.into_iter().map(|(_, object)| object).collect()
        } else {
            vec![bytes]
        };
        let mut found = Self::default();
        for object in objects.into_iter().filter(|object| FileKind::parse(*object).is_ok()) {
            let file = object::File::parse(object).map_err(unknown)?;
            for symbol in file.symbols() {
                let Some(name) = symbol.name().ok().filter(|name| name.starts_with(REGISTRATION)) else { continue };
                let list = if symbol.is_undefined() { &mut found.called } else { &mut found.defined };
                list.insert(name.to_owned());
            }
        }
        Ok(found)
    }
}

/// The beginning of the names of registration functions; the name of the object's module follows.
const REGISTRATION: &str = "__cudaRegisterLinkedBinary";

/// The files of a universal one for macOS: all have the same device code, so that the first with any will do.
fn slices<'a>(bytes: &'a [u8], list: &[impl FatArch]) -> Result<Vec<Container<'a>>, Error> {
    for slice in list {
        let found = object(slice.data(bytes).map_err(unknown)?, None)?;
        if !found.is_empty() {
            return Ok(found);
        }
    }
    Ok(Vec::new())
}

/// An executable, a shared library or an object.
fn object<'a>(bytes: &'a [u8], member: Option<&str>) -> Result<Vec<Container<'a>>, Error> {
    if is_cubin(bytes) {
        return Err(Error::MachineCode);
    }
    let file = object::File::parse(bytes).map_err(unknown)?;
    let mut containers = Vec::new();
    for section in file.sections() {
        let Some(relocatable) = section.name().ok().and_then(for_linker) else { continue };
        let data = section.data().map_err(unknown)?;
        containers.extend(container::all(data, relocatable, member)?);
    }
    Ok(containers)
}

fn is_cubin(bytes: &[u8]) -> bool {
    let machine = bytes.get(18..).and_then(<[u8]>::first_chunk).copied().map(u16::from_le_bytes);
    bytes.starts_with(&object::elf::ELFMAG) && machine == Some(EM_CUDA)
}

/// Whether the fat binaries of a section, by its name, are for the linker; `None` for other sections. Names in PE are
/// cut to eight characters, and the names of Mach-O come from clang.
fn for_linker(section: &str) -> Option<bool> {
    match section {
        ".nv_fatbin" | ".nv_fatb" | "__nv_fatbin" | "__fatbin" => Some(false),
        "__nv_relfatbin" | "__nv_rel" => Some(true),
        _ => None,
    }
}
