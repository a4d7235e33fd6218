//! The clang that compiles.

use std::path::{Path, PathBuf};
use std::process::Command;

/// The environment variable that names the program to use.
pub const CLANG_VARIABLE: &str = "PTX2SPV_CLANG";

/// The oldest release whose PTX and headers are known to do, and the newest that is looked for by name.
pub(crate) const OLDEST: u32 = 19;
const NEWEST: u32 = 23;

/// A clang for C++.
#[derive(Clone, Debug)]
pub struct Clang {
    program: PathBuf,
    release: u32,
}

impl Clang {
    /// The named clang, else the one of [`CLANG_VARIABLE`], else the oldest in `PATH` that is new enough: the tests' own.
    ///
    /// # Errors
    /// [`Error::NoClang`], and the reason why a program that was named can't be run.
    pub fn find(named: Option<&Path>) -> Result<Self, Error> {
        let variable = std::env::var_os(CLANG_VARIABLE).filter(|value| !value.is_empty()).map(PathBuf::from);
        if let Some(program) = named.map(Path::to_owned).or(variable) {
            return Self::of(program);
        }
        let numbered = (OLDEST..=NEWEST).map(|release| format!("clang++-{release}"));
        numbered.chain(["clang++".to_owned()]).find_map(|name| Self::of(name.into()).ok()).ok_or(Error::NoClang)
    }

    fn of(program: PathBuf) -> Result<Self, Error> {
        let run = Command::new(&program).arg("--version").output();
        let run = run.map_err(|error| Error::Run { program: program.clone(), error })?;
        let release = release(&String::from_utf8_lossy(&run.stdout)).filter(|&release| release >= OLDEST);
        Ok(Self { program, release: release.ok_or(Error::NoClang)? })
    }

    /// The program, for C++.
    pub fn program(&self) -> &Path {
        &self.program
    }

    /// The release, such as 19.
    pub fn release(&self) -> u32 {
        self.release
    }
}

/// The release that `clang --version` tells: `Debian clang version 19.1.7 (3)`.
fn release(text: &str) -> Option<u32> {
    let (_, rest) = text.lines().next()?.split_once("clang version ")?;
    rest.split(['.', ' ', '-']).next()?.parse().ok()
}

/// The reason why nothing was compiled.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "messages say what the members are")]
pub enum Error {
    /// There is no clang, or only one that is too old.
    #[error(
        "no clang {OLDEST} or newer was found\nhelp: `apt-get install clang-{OLDEST}` installs it; {CLANG_VARIABLE} or --clang names another one"
    )]
    NoClang,
    /// A program can't be run.
    #[error("{}: {error}", program.display())]
    Run { program: PathBuf, error: std::io::Error },
    /// A program failed, and has said why.
    #[error("{} failed:\n{output}", program.display())]
    Failed { program: PathBuf, output: String },
    /// A file can't be read or written.
    #[error("{}: {error}", path.display())]
    File { path: PathBuf, error: std::io::Error },
    /// nvcc has no such option, or it can't be honoured.
    #[error("{option}: {reason}")]
    Option { option: String, reason: String },
    /// The arguments don't go together.
    #[error("{0}")]
    Usage(String),
    /// Arguments of fatbinary that aren't understood.
    #[error("fatbinary: {0}")]
    FatBinary(String),
}

impl Error {
    /// Wraps a file's error.
    pub(crate) fn file(path: impl Into<PathBuf>) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.into();
        move |error| Self::File { path, error }
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn releases() {
        assert_eq!(super::release("Debian clang version 19.1.7 (3~deb12u1)\nTarget: x"), Some(19));
        assert_eq!(super::release("clang version 21.0.0git"), Some(21));
        assert_eq!(super::release("gcc (Debian) 12.2.0"), None);
    }
}
