//! Illegal accesses that kernels with access checks have not performed, and the errors that the host reports for them.

use ptx2spv_reference::{Finding, FindingKind, Site};
use ptx2spv_translator::interface::{SourceLocation, Status};
use ptx2spv_translator::internals::ir::{GENERIC_LOCAL, GENERIC_SHARED, GENERIC_TAG_SHIFT};
use ptx2spv_translator::target::{CheckedAccess, CheckedSpace};

use crate::backend::range::MemoryRange;
use crate::error::Error;

/// An access, as [`Fault::IllegalAccess`](ptx2spv_translator::target::Fault::IllegalAccess) describes it.
pub(crate) struct IllegalAccess {
    address: u64,
    bytes: u64,
    what: CheckedAccess,
    space: CheckedSpace,
    /// Size of shared or local memory.
    size: u64,
    block: [u32; 3],
    thread: [u32; 3],
}

/// The allocation nearest to an address, or a named part of an allocation.
pub(crate) struct Nearest {
    pub name: String,
    pub range: MemoryRange,
    pub is_freed: bool,
}

impl IllegalAccess {
    /// The access described by the words of a status record.
    pub fn of_record(record: &[u32]) -> Option<Self> {
        let details = record.get(Status::DETAILS as usize..)?;
        let &[low, high, kind, size, bx, by, bz, tx, ty, tz, ..] = details else { return None };
        let mut address = u64::from(low) | u64::from(high) << 32;
        let mut space = CheckedSpace::from_code(kind >> 16)?;
        if space == CheckedSpace::Generic {
            space = match address >> GENERIC_TAG_SHIFT {
                GENERIC_SHARED => CheckedSpace::Shared,
                GENERIC_LOCAL => CheckedSpace::Local,
                _ => CheckedSpace::Global,
            };
            if space != CheckedSpace::Global {
                address = low.into();
            }
        }
        Some(Self {
            address,
            bytes: (kind & 0xff).into(),
            what: CheckedAccess::from_code(kind >> 8 & 0xff)?,
            space,
            size: size.into(),
            block: [bx, by, bz],
            thread: [tx, ty, tz],
        })
    }

    /// The kind of fault, and a description of the access.
    fn explain(&self, nearest: impl FnOnce(u64) -> Option<Nearest>) -> (FindingKind, String) {
        let Self { address, bytes, .. } = *self;
        let what = match self.what {
            CheckedAccess::Read => "a read",
            CheckedAccess::Write => "a write",
            CheckedAccess::Atomic => "an atomic access",
        };
        let memory = match self.space {
            CheckedSpace::Shared => Some("shared"),
            CheckedSpace::Local => Some("local"),
            CheckedSpace::Global | CheckedSpace::Generic => None,
        };
        let what = match memory {
            Some(memory) => format!("{what} of {bytes} bytes at byte {address} of {memory} memory"),
            None => format!("{what} of {bytes} bytes at {address:#x}"),
        };
        if bytes > 1 && !address.is_multiple_of(bytes) {
            return (FindingKind::Misaligned, format!("{what}, which is not a multiple of {bytes}"));
        }
        let outside = |place: String| (FindingKind::OutOfBounds, format!("{what} {place}"));
        match memory {
            // Accesses through generic addresses don't record the size.
            Some(_) if self.size == 0 => return outside("is outside".to_owned()),
            Some(_) => return outside(format!("is outside of its {} bytes", self.size)),
            None if address == 0 => return outside("is through a null pointer".to_owned()),
            None => {}
        }
        let Some(Nearest { name, range: MemoryRange { address: start, size }, is_freed }) = nearest(address) else {
            return outside("is outside of memory: nothing is allocated".to_owned());
        };
        let freed = if is_freed { ", which was freed" } else { "" };
        let name = format!("{name} ({size} bytes at {start:#x}){freed}");
        match (address.checked_sub(start), address.checked_sub(start + size)) {
            (None, _) => outside(format!("begins {} bytes before {name}", start - address)),
            (_, Some(past)) => outside(format!("begins {past} bytes past the end of {name}")),
            _ if is_freed => (FindingKind::UseAfterFree, format!("{what} is in {name}")),
            _ => outside(format!("begins in {name} but ends {} bytes past it", address + bytes - start - size)),
        }
    }

    /// The error that reports the access.
    pub fn error(
        &self,
        kernels: Vec<String>,
        place: Option<SourceLocation>,
        nearest: &dyn Fn(u64) -> Option<Nearest>,
    ) -> Error {
        let (kind, message) = self.explain(nearest);
        error(kind, message, kernels, place, Some((self.block, self.thread)))
    }
}

/// The error that reports an access past the end of shared or local memory.
pub(crate) fn past_end(kernels: Vec<String>) -> Error {
    let message = "an access past the end of shared or local memory, which access checks find".to_owned();
    error(FindingKind::OutOfBounds, message, kernels, None, None)
}

/// The error that reports a fault, by a thread of a block if these are known.
fn error(
    kind: FindingKind,
    message: String,
    kernels: Vec<String>,
    place: Option<SourceLocation>,
    by: Option<([u32; 3], [u32; 3])>,
) -> Error {
    let (line, origin) = match place {
        Some(SourceLocation { line, module, source, .. }) => (module.map(|module| (module, line)), source),
        None => (None, None),
    };
    let (workgroup, local) = by.unzip();
    let site = Site { entry: kernels.join(" or "), instruction: None, line, origin, workgroup, local };
    Error::Fault { findings: vec![Finding::new(kind, message, site, None)] }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn access(address: u64, what: CheckedAccess, space: CheckedSpace, size: u32) -> IllegalAccess {
        let mut record = [0; Status::WORDS as usize];
        let kind = 4 | (what as u32) << 8 | (space as u32) << 16;
        let details = [address as u32, (address >> 32) as u32, kind, size, 1, 2, 3, 4, 5, 6];
        record[Status::DETAILS as usize..][..details.len()].copy_from_slice(&details);
        IllegalAccess::of_record(&record).unwrap()
    }

    fn near(_: u64) -> Option<Nearest> {
        let range = MemoryRange { address: 0x1000, size: 10 };
        Some(Nearest { name: "argument 0".to_owned(), range, is_freed: false })
    }

    #[test]
    fn accesses_are_explained() {
        use CheckedAccess::{Atomic, Read, Write};
        use CheckedSpace::{Generic, Global, Local, Shared};
        let is = |access: IllegalAccess, kind, text: &str| assert_eq!(access.explain(near), (kind, text.to_owned()));
        is(access(0, Read, Global, 0), FindingKind::OutOfBounds, "a read of 4 bytes at 0x0 is through a null pointer");
        is(
            access(0xffc, Write, Global, 0),
            FindingKind::OutOfBounds,
            "a write of 4 bytes at 0xffc begins 4 bytes before argument 0 (10 bytes at 0x1000)",
        );
        is(
            access(0x1008, Atomic, Generic, 0),
            FindingKind::OutOfBounds,
            "an atomic access of 4 bytes at 0x1008 begins in argument 0 (10 bytes at 0x1000) but ends 2 bytes past it",
        );
        is(
            access(0x100c, Read, Global, 0),
            FindingKind::OutOfBounds,
            "a read of 4 bytes at 0x100c begins 2 bytes past the end of argument 0 (10 bytes at 0x1000)",
        );
        is(
            access(0x1002, Read, Global, 0),
            FindingKind::Misaligned,
            "a read of 4 bytes at 0x1002, which is not a multiple of 4",
        );
        is(
            access(64, Write, Shared, 64),
            FindingKind::OutOfBounds,
            "a write of 4 bytes at byte 64 of shared memory is outside of its 64 bytes",
        );
        is(
            access(GENERIC_LOCAL << GENERIC_TAG_SHIFT | 12, Read, Generic, 0),
            FindingKind::OutOfBounds,
            "a read of 4 bytes at byte 12 of local memory is outside",
        );
        is(
            access(8, Read, Local, 4),
            FindingKind::OutOfBounds,
            "a read of 4 bytes at byte 8 of local memory is outside of its 4 bytes",
        );
        let freed = |address| near(address).map(|near| Nearest { is_freed: true, ..near });
        let (kind, text) = access(0x1004, Read, Global, 0).explain(freed);
        assert_eq!(kind, FindingKind::UseAfterFree);
        assert_eq!(text, "a read of 4 bytes at 0x1004 is in argument 0 (10 bytes at 0x1000), which was freed");
        let nothing = access(0x1004, Read, Global, 0).explain(|_| None);
        assert!(nothing.1.ends_with("nothing is allocated"));
    }
}
