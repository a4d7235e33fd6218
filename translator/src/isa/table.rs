//! Finding the row of the instruction table that an instruction as written belongs to.
//!
//! A row's syntax is written as the PTX manual writes it: `add{.rn|.rz}{.ftz}.(f32|f64)`. `{…}` may be left out, `(…)`
//! is a choice. ptxas takes modifiers in any order, so rows are matched as sets; only types keep their order, and what is
//! part of an instruction's name, such as `mul.wide`, stands first.

use std::sync::LazyLock;

use rustc_hash::FxHashMap;

use super::availability::Availability;
use super::manual;
use super::modifiers::Modifiers;
use super::requirements;
use super::rows::{ROWS, Row, split_opcode};
use super::types::ScalarType;
use super::vocabulary;
use super::word::Word;
use crate::ast;
use crate::diagnostic::{Diagnostic, ErrorKind, Span};

/// A row with its syntax taken apart.
pub struct Form {
    /// The row.
    pub row: &'static Row,
    slots: Vec<Slot>,
    /// The operand notation, split.
    pub operands: Vec<&'static str>,
}

struct Slot {
    choices: Vec<&'static str>,
    required: bool,
    is_type: bool,
    /// Stands in front of all that don't, in order.
    leads: bool,
}

static FORMS: LazyLock<FxHashMap<&'static str, Vec<Form>>> = LazyLock::new(|| {
    let mut forms: FxHashMap<&'static str, Vec<Form>> = FxHashMap::default();
    for row in ROWS {
        let (opcode, rest) = split_opcode(row.syntax);
        let (_, name) = split_opcode(row.name);
        let leading = parse_slots(name, |_| true);
        let slots = leading.into_iter().chain(parse_slots(&rest[name.len()..], |_| false)).collect();
        forms.entry(opcode).or_default().push(Form { row, slots, operands: row.operands.split_whitespace().collect() });
    }
    forms
});

/// Splits `{.a|.b}.(c|d).e` into slots. The first of them lead while their choices do.
fn parse_slots(mut rest: &'static str, leads: impl Fn(&str) -> bool) -> Vec<Slot> {
    let mut slots = Vec::new();
    while !rest.is_empty() {
        let (text, required, next) = if let Some(inner) = rest.strip_prefix('{') {
            let close = inner.find('}').unwrap_or(inner.len());
            (&inner[..close], false, inner.get(close + 1..).unwrap_or(""))
        } else if let Some(inner) = rest.strip_prefix(".(") {
            let close = inner.find(')').unwrap_or(inner.len());
            (&inner[..close], true, inner.get(close + 1..).unwrap_or(""))
        } else {
            let inner = &rest[1..];
            let close = inner.find(['.', '{']).unwrap_or(inner.len());
            (&inner[..close], true, &inner[close..])
        };
        let choices = choices(text);
        let is_type = choices.iter().all(|choice| ScalarType::from_name(choice).is_some());
        let leads = slots.iter().all(|slot: &Slot| slot.leads) && choices.iter().all(|choice| leads(choice));
        slots.push(Slot { choices, required, is_type, leads });
        rest = next;
    }
    slots
}

/// The choices of a slot, `m64nNk16` being one for each number of columns.
pub fn choices(text: &str) -> Vec<&str> {
    let mut choices = Vec::new();
    for choice in text.split('|').map(|choice| choice.trim_start_matches('.')) {
        match choice.split_once('N') {
            Some((start @ "m64n", end)) => {
                let shapes = Word::ALL.iter().map(|word| word.text());
                choices.extend(shapes.filter(|shape| {
                    let columns = shape.strip_prefix(start).and_then(|rest| rest.strip_suffix(end));
                    columns.is_some_and(|columns| columns.bytes().all(|digit| digit.is_ascii_digit()))
                }));
            }
            _ => choices.push(choice),
        }
    }
    choices
}

/// Matches modifiers as written against the slots of a form. Gives each slot's, if it has one.
fn matches(slots: &[Slot], modifiers: &[ast::Ident<'_>]) -> Option<Vec<Option<&'static str>>> {
    let mut leading = modifiers.iter();
    for slot in slots.iter().take_while(|slot| slot.leads) {
        let next = leading.as_slice().first();
        if next.is_some_and(|next| slot.choices.contains(&next.text)) {
            leading.next();
        } else if slot.required {
            return None;
        }
    }
    // An optional one that isn't there can't come later.
    let late = |slot: &Slot| leading.as_slice().iter().any(|modifier| slot.choices.contains(&modifier.text));
    if slots.iter().any(|slot| slot.leads && !slot.required && late(slot)) {
        return None;
    }
    let mut found: Vec<Option<&'static str>> = vec![None; slots.len()];
    for modifier in modifiers {
        let place = slots
            .iter()
            .zip(&found)
            .position(|(slot, place)| place.is_none() && slot.choices.contains(&modifier.text))?;
        let earlier = slots.iter().zip(&found).take(place);
        if slots[place].is_type && earlier.into_iter().any(|(slot, place)| slot.is_type && place.is_none()) {
            return None;
        }
        found[place] = slots[place].choices.iter().copied().find(|choice| *choice == modifier.text);
    }
    let complete = slots.iter().zip(&found).all(|(slot, word)| word.is_some() || !slot.required);
    complete.then_some(found)
}

impl Form {
    /// Whether the operand of a number is written. Destinations that a memory operand names aren't meant.
    pub fn is_destination(&self, index: usize) -> bool {
        match self.operands.as_slice() {
            ["call" | "texture"] => index == 0,
            words => words.get(index).is_some_and(|word| {
                word.starts_with(['d', 'D', 'V', 'M', 'W']) || word.starts_with("p|") || matches!(*word, "{D}" | "{CD}")
            }),
        }
    }

    /// Whether an operand is in memory, or is a texture or surface.
    pub fn accesses_memory(&self) -> bool {
        self.operands.iter().any(|word| word.starts_with('[') || *word == "texture")
    }

    /// The modifiers as written, if they match the form.
    fn modifiers(&self, written: &[ast::Ident<'_>]) -> Option<Modifiers> {
        let mut modifiers = Modifiers::default();
        for (slot, word) in self.slots.iter().zip(matches(&self.slots, written)?) {
            match word {
                None => {}
                Some(word) if slot.is_type => modifiers.types.push(ScalarType::from_name(word)?),
                Some(word) => modifiers.words.push(Word::from_text(word)?),
            }
        }
        Some(modifiers)
    }

    fn knows(&self, modifier: &str) -> bool {
        self.slots.iter().any(|slot| slot.choices.contains(&modifier))
    }
}

/// Finds the row of an instruction, or the fault of its opcode or modifiers.
pub fn find(instruction: &ast::Instruction<'_>) -> Result<(&'static Form, Modifiers), Diagnostic> {
    let opcode = instruction.opcode;
    let Some(forms) = FORMS.get(opcode.text) else {
        return Err(if vocabulary::is_opcode(opcode.text) {
            untranslated(instruction, opcode.text, opcode.span)
        } else {
            Diagnostic::new(ErrorKind::UnknownOpcode(opcode.text.to_owned()), opcode.span)
        });
    };
    let mut found = forms.iter().filter_map(|form| Some((form, form.modifiers(&instruction.modifiers)?)));
    if let Some(first) = found.next() {
        // Rows may differ in the number of operands.
        let takes = |form: &Form| form.operands.len() == instruction.operands.len();
        return Ok(if takes(first.0) { first } else { found.find(|(form, _)| takes(form)).unwrap_or(first) });
    }
    for modifier in &instruction.modifiers {
        if !vocabulary::is_modifier(modifier.text) {
            let kind =
                ErrorKind::UnknownModifier { opcode: opcode.text.to_owned(), modifier: modifier.text.to_owned() };
            return Err(Diagnostic::new(kind, modifier.span).with_help("no PTX instruction has this modifier"));
        }
    }
    let span = instruction.modifiers.last().map_or(opcode.span, |last| opcode.span.to(last.span));
    let written: String = instruction.modifiers.iter().map(|modifier| format!(".{}", modifier.text)).collect();
    let unknown = instruction.modifiers.iter().find(|modifier| !forms.iter().any(|form| form.knows(modifier.text)));
    Err(match unknown {
        _ if is_form(instruction) => untranslated(instruction, &format!("{}{written}", opcode.text), span),
        Some(modifier) if !translates(modifier.text) => {
            let message = format!("`{}` with modifier `.{}` is not translated yet", opcode.text, modifier.text);
            Diagnostic::unsupported(message, modifier.span)
        }
        // Of what other instructions have, the manual says whether this one has it too.
        Some(modifier) => {
            let kind =
                ErrorKind::UnknownModifier { opcode: opcode.text.to_owned(), modifier: modifier.text.to_owned() };
            Diagnostic::new(kind, modifier.span).with_help(translated_forms(forms))
        }
        None => Diagnostic::invalid(format!("`{}{written}` is not a form of `{}`", opcode.text, opcode.text), span)
            .with_help(translated_forms(forms)),
    })
}

/// The refusal of an instruction that PTX has, with the version that brought it, where that is known.
fn untranslated(instruction: &ast::Instruction<'_>, name: &str, span: Span) -> Diagnostic {
    let since = requirements::first_version(instruction).map(|(major, minor)| format!(" (PTX {major}.{minor})"));
    Diagnostic::unsupported(
        format!("PTX instruction `{name}` is not translated yet{}", since.unwrap_or_default()),
        span,
    )
}

/// Names the rows of an opcode.
fn translated_forms(forms: &[Form]) -> String {
    let mut known: Vec<_> = forms.iter().map(|form| form.row.syntax).collect();
    known.dedup();
    format!("translated forms: {}", known.join(", "))
}

/// Whether some row has a modifier.
fn translates(modifier: &str) -> bool {
    Word::from_text(modifier).is_some() || ScalarType::from_name(modifier).is_some()
}

/// Whether the manual has an instruction with these modifiers, translated or not.
fn is_form(instruction: &ast::Instruction<'_>) -> bool {
    static MANUAL: LazyLock<FxHashMap<&'static str, Vec<Vec<Slot>>>> = LazyLock::new(|| {
        let mut manual: FxHashMap<&'static str, Vec<Vec<Slot>>> = FxHashMap::default();
        for form in manual::ALL.iter().flat_map(|instruction| &instruction.forms) {
            let (opcode, rest) = split_opcode(form);
            // The words of names are those of the table's rows.
            let leading = forms(opcode).iter().flat_map(|form| &form.slots).filter(|slot| slot.leads);
            let names: Vec<&str> = leading.flat_map(|slot| slot.choices.iter().copied()).collect();
            manual.entry(opcode).or_default().push(parse_slots(rest, |word| names.contains(&word)));
        }
        manual
    });
    let forms = MANUAL.get(instruction.opcode.text).map_or(&[][..], Vec::as_slice);
    forms.iter().any(|slots| matches(slots, &instruction.modifiers).is_some())
}

/// The modifiers of an instruction that names nothing but its type, as PTX before 1.4 has it.
pub fn implied(opcode: &str, ty: &str) -> Option<Vec<&'static str>> {
    let is_it = |form: &&Form| {
        let mut types = form.slots.iter().filter(|slot| slot.is_type);
        form.row.availability == Availability::Implied && types.all(|slot| slot.choices == [ty])
    };
    let slots = forms(opcode).iter().find(is_it)?.slots.iter().filter(|slot| !slot.is_type);
    Some(slots.filter_map(|slot| slot.choices.first().copied()).collect())
}

/// All rows of an opcode.
pub fn forms(opcode: &str) -> &'static [Form] {
    FORMS.get(opcode).map_or(&[], Vec::as_slice)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_has_known_modifiers() {
        for slot in FORMS.values().flatten().flat_map(|form| &form.slots) {
            let is_known = |text: &&str| {
                if slot.is_type { ScalarType::from_name(text).is_some() } else { Word::from_text(text).is_some() }
            };
            assert!(slot.choices.iter().all(is_known), "{:?}", slot.choices);
        }
    }
}
