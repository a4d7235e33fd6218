//! Errors of reading a file.

/// Why a file can't be read, or has nothing that can be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A file of a kind that has no fat binaries.
    #[error("this is not an executable, library, object or fat binary: {0}")]
    Unknown(String),
    /// A file that could have fat binaries, and doesn't.
    #[error("there is no CUDA code in this file")]
    NoFatBinary,
    /// A cubin.
    #[error("this is machine code for one kind of NVIDIA device (a cubin), where PTX is needed")]
    MachineCode,
    /// A container of before CUDA 4.
    #[error("this fat binary has a form that CUDA doesn't write any more")]
    OldContainer,
    /// Sizes and places that contradict each other.
    #[error("this fat binary is damaged at byte {at}: {what}")]
    Damaged {
        /// Offset of the container or entry in its section.
        at: usize,
        /// The contradiction.
        what: &'static str,
    },
    /// A payload that doesn't decompress to the size that its entry says.
    #[error("an entry can't be decompressed: {0}")]
    Compression(String),
    /// Larger than anything that is decompressed here.
    #[error("an entry of {0} bytes is larger than what is decompressed")]
    TooLarge(u64),
    /// An entry of another kind, where PTX is wanted.
    #[error("this is not PTX")]
    NotPtx,
    /// Several programs where one is expected.
    #[error("expected one program, but there are {0}")]
    Several(usize),
    /// Nothing but machine code, or nothing for the architecture that was asked for.
    #[error("there is no PTX{} in it; it has {there}", wanted.as_ref().map(|wanted| format!(" for {wanted}")).unwrap_or_default())]
    NoPtx {
        /// The architectures that were asked for, unless there is no PTX for any.
        wanted: Option<String>,
        /// A list of the entries that the file has instead.
        there: String,
    },
}
