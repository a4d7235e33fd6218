//! The modules that have a form of an instruction, where the form depends on their target or version of PTX.

/// The modules that have a form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Availability {
    /// All modules that this table tells apart.
    Always,
    /// Modules for targets from this one on, such as 100 for sm_100.
    Since(u32),
    /// Modules for targets with the features of one architecture alone, such as sm_90a.
    Specific,
    /// Modules for targets from this one on, with the features of one architecture alone.
    SpecificSince(u32),
    /// Modules for targets with the features that only one of these architectures, or its family, has.
    Families(&'static [u32]),
    /// All; before PTX 1.4 without its modifiers, which are then the first of each choice.
    Implied,
    /// Modules below a version of PTX, and modules for targets below one.
    Until {
        /// The version that has it no longer.
        version: (u32, u32),
        /// The target that has it no longer.
        target: u32,
        /// The words that later forms have in addition.
        without: &'static str,
    },
}

impl Availability {
    /// Why a module doesn't have a form of an opcode. `targets` are the words of its `.target`, and `architecture` is the number
    /// among them.
    pub fn lack(
        self,
        opcode: &str,
        version: (u32, u32),
        architecture: Option<u32>,
        targets: &[String],
    ) -> Option<String> {
        match self {
            Availability::Always | Availability::Implied => None,
            Availability::Since(first) => architecture
                .is_some_and(|number| number < first)
                .then(|| format!("a form of `{opcode}` that only targets from sm_{first} on have")),
            Availability::Specific => {
                (!is_specific(targets)).then(|| format!("`{opcode}`, which only targets such as sm_90a have"))
            }
            Availability::SpecificSince(first) => {
                let has_it = is_specific(targets) && architecture.is_none_or(|number| number >= first);
                (!has_it).then(|| format!("a form of `{opcode}` that only targets such as sm_{first}a have"))
            }
            Availability::Families(numbers) => {
                let has_it = is_specific(targets) && architecture.is_none_or(|number| numbers.contains(&number));
                let last = numbers.last().copied().unwrap_or_default();
                (!has_it).then(|| format!("a form of `{opcode}` that only targets such as sm_{last}a have"))
            }
            Availability::Until { version: (major, minor), target, without } => {
                let is_gone = version >= (major, minor) && architecture >= Some(target);
                is_gone.then(|| {
                    let targets = format!("targets from sm_{target} on");
                    format!("`{opcode}` without {without}, which {targets} do not have since PTX {major}.{minor}")
                })
            }
        }
    }
}

/// Whether a module is for the features that only one architecture, or one family of architectures, has.
fn is_specific(targets: &[String]) -> bool {
    targets.iter().any(|word| word.starts_with("sm_") && word.ends_with(['a', 'f']))
}
