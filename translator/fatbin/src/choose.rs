//! Chooses the PTX of programs.

use std::cmp::Reverse;

use crate::binary::Binary;
use crate::container::Container;
use crate::entry::{Architecture, Entry, Kind};
use crate::error::Error;

/// The PTX to choose where there is some for several architectures.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Choice {
    /// The newest. PTX that runs everywhere comes before PTX of one architecture or family alone, since that is full of
    /// instructions that no other device has.
    #[default]
    Newest,
    /// The newest that a device of this compute capability runs.
    For(u32),
    /// For this architecture alone.
    Exactly(Architecture),
}

/// A program that runs by itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Program {
    /// Its modules: several if they have to be linked.
    pub modules: Vec<Module>,
    /// Whether the program was made for the linker, and may need functions and variables that are missing.
    pub relocatable: bool,
}

/// PTX with a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Module {
    /// The module's name in errors, and the name of a file with it.
    pub name: String,
    /// The text.
    pub ptx: String,
}

impl Choice {
    /// The better of the entries of a container has the higher key; one that is not wanted has none.
    fn key(self, entry: &Entry<'_>) -> Option<impl Ord + use<>> {
        let Architecture { number, suffix } = entry.architecture;
        let wanted = match self {
            Self::Newest => true,
            Self::For(capability) => entry.architecture.runs_on(capability),
            Self::Exactly(wanted) => wanted == entry.architecture,
        };
        (wanted && entry.kind == Kind::Ptx).then_some((suffix.is_none(), number, entry.version))
    }

    /// The best of a container; of equal ones the first.
    fn best<'e, 'a>(self, numbered: impl Iterator<Item = (usize, &'e Entry<'a>)>) -> Option<(usize, &'e Entry<'a>)>
    where
        'a: 'e,
    {
        let keyed = numbered.filter_map(|(number, entry)| Some((self.key(entry)?, Reverse(number), entry)));
        keyed.max_by(|a, b| (&a.0, a.1).cmp(&(&b.0, b.1))).map(|(_, Reverse(number), entry)| (number, entry))
    }
}

impl Binary<'_> {
    /// The programs of a file called `stem`: one for each container that was linked or needs no linker, and one of all
    /// the others, which have to be linked. Containers without PTX are passed over as long as others have some. CUDA's
    /// library for launches from kernels (`cudadevrt`), which such programs have with them, is left out: its functions
    /// are the driver's business, and the translator's here. So there may be no program at all.
    ///
    /// # Errors
    /// No PTX that is wanted, or what is wrong with it.
    pub fn programs(&self, stem: &str, choice: Choice) -> Result<Vec<Program>, Error> {
        let mut programs = Vec::new();
        let mut linked = Vec::new();
        let mut first = 1;
        let mut device_runtime = false;
        for container in &self.containers {
            let numbered = (first..).zip(&container.entries);
            first += container.entries.len();
            let Some((number, entry)) = choice.best(numbered.clone()) else {
                // Its newest versions have PTX for a single architecture alone.
                let any = Choice::Newest.best(numbered).map(|(_, entry)| entry.ptx()).transpose()?;
                device_runtime |= any.is_some_and(|ptx| is_device_runtime(&ptx));
                continue;
            };
            let module = Module { name: entry.file_name(stem, number), ptx: entry.ptx()? };
            if is_device_runtime(&module.ptx) {
                device_runtime = true;
                continue;
            }
            if container.relocatable {
                linked.push(module);
            } else {
                programs.push(Program { modules: vec![module], relocatable: false });
            }
        }
        if !linked.is_empty() {
            programs.push(Program { modules: linked, relocatable: true });
        }
        if programs.is_empty() && !device_runtime { Err(self.no_ptx(choice)) } else { Ok(programs) }
    }

    fn no_ptx(&self, choice: Choice) -> Error {
        let entries = self.containers.iter().flat_map(|container: &Container<'_>| &container.entries);
        let any = entries.clone().any(|entry| entry.kind == Kind::Ptx);
        let mut list: Vec<String> = entries.map(|entry| format!("{} for {}", entry.kind, entry.architecture)).collect();
        list.sort();
        list.dedup();
        let there = if list.is_empty() { "nothing".to_owned() } else { list.join(", ") };
        let wanted = match choice {
            Choice::Exactly(architecture) if any => Some(architecture.to_string()),
            Choice::For(number) if any => Some(format!("{} or older", Architecture { number, suffix: None })),
            // Another choice would find no PTX either.
            _ => None,
        };
        Error::NoPtx { wanted, there }
    }
}

/// Whether a module defines the functions with which kernels launch others.
fn is_device_runtime(ptx: &str) -> bool {
    let defines = |name: &str| {
        let mut heads = ptx.match_indices(name).filter_map(|(at, _)| ptx.get(..at)?.lines().next_back());
        heads.any(|head| head.trim_start().starts_with(".visible") || head.trim_start().starts_with(".weak"))
    };
    ["__cudaCDP2LaunchDeviceV2(", "cudaLaunchDeviceV2("].into_iter().any(defines)
}
