//! Splits the words of a module into instructions. Uses only the grammar, not the meaning of instructions.

use std::sync::LazyLock;

use ptx2spv_target::Version;
use rspirv::grammar::{INSTRUCTION_TABLE, Instruction as Grammar, OperandKind};
use rspirv::spirv::{MAGIC_NUMBER, Op};

use super::rule;
use crate::module::refusal::Refusal;

/// Words before the first instruction.
const HEADER_WORDS: usize = 5;

/// The bound of ids that SPIR-V consumers must accept.
const ID_LIMIT: u32 = 4_194_303;

/// Maximum number of words of a module, so that indices of words and instructions fit into 32 bits.
const WORD_LIMIT: usize = 1 << 28;

/// rspirv's description of each operation by opcode. Its own lookup is a linear search.
static GRAMMAR: LazyLock<Vec<Option<&'static Grammar<'static>>>> = LazyLock::new(|| {
    let mut table = Vec::new();
    for grammar in INSTRUCTION_TABLE.iter() {
        let opcode = grammar.opcode as usize;
        if table.len() <= opcode {
            table.resize(opcode + 1, None);
        }
        table[opcode] = Some(grammar);
    }
    table
});

/// rspirv's description of an opcode.
pub(super) fn grammar(opcode: u32) -> Option<&'static Grammar<'static>> {
    GRAMMAR.get(opcode as usize).copied().flatten()
}

/// An instruction. Its operands are words.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Instruction<'m> {
    pub op: Op,
    /// The result type, or 0.
    pub ty: u32,
    /// The result id, or 0.
    pub id: u32,
    /// The index of the first word.
    pub word: u32,
    /// The operands after the result.
    pub operands: &'m [u32],
}

impl<'m> Instruction<'m> {
    pub fn operand(&self, index: usize) -> Result<u32, Refusal> {
        self.operands.get(index).copied().ok_or_else(|| self.refuse(rule::INSTRUCTION, "lacks an operand"))
    }

    /// The operands from an index on, which may be none.
    pub fn rest(&self, index: usize) -> &'m [u32] {
        self.operands.get(index..).unwrap_or(&[])
    }

    /// The operands from an index on as a string.
    pub fn string(&self, index: usize) -> Result<(String, usize), Refusal> {
        let mut bytes = Vec::new();
        for (count, word) in self.rest(index).iter().enumerate() {
            for byte in word.to_le_bytes() {
                if byte == 0 {
                    let text = String::from_utf8_lossy(&bytes).into_owned();
                    return Ok((text, index + count + 1));
                }
                bytes.push(byte);
            }
        }
        Err(self.refuse(rule::INSTRUCTION, "has a string that does not end"))
    }

    /// Refuses the module by the universal rules if something is wrong with this instruction.
    pub fn refuse_if(&self, wrong: bool, message: impl std::fmt::Display) -> Result<(), Refusal> {
        if wrong { Err(self.refuse(rule::UNIVERSAL, message)) } else { Ok(()) }
    }

    /// Refuses the module because of this instruction.
    pub fn refuse(&self, rule: &str, message: impl std::fmt::Display) -> Refusal {
        Refusal { rule: rule.into(), message: format!("Op{:?} at word {}: {message}", self.op, self.word) }
    }
}

/// The position of an instruction.
#[derive(Clone, Copy, Debug)]
struct Record {
    op: Op,
    ty: u32,
    id: u32,
    word: u32,
    first: u32,
    end: u32,
}

/// The words of a module and the positions of its instructions.
#[derive(Debug)]
pub(crate) struct Instructions {
    words: Vec<u32>,
    records: Vec<Record>,
    version: Version,
    /// For each id, the index of the instruction that defines it.
    definitions: Vec<Option<u32>>,
}

impl Instructions {
    /// Splits a module into instructions. Checks that ids are nonzero, below the bound and defined once, and that every
    /// operation is known.
    pub fn split(words: &[u32]) -> Result<Self, Refusal> {
        let refuse = |message: String| Refusal::new(rule::PHYSICAL, message);
        let Some([magic, version, _generator, bound, _schema]) = words.get(..HEADER_WORDS) else {
            return Err(refuse(format!("{} words are too few for a header", words.len())));
        };
        if *magic != MAGIC_NUMBER {
            return Err(refuse(format!("the first word is {magic:#x}, not {MAGIC_NUMBER:#x}")));
        }
        if words.len() > WORD_LIMIT {
            return Err(refuse(format!("{} words are too many", words.len())));
        }
        if *bound > ID_LIMIT + 1 {
            return Err(Refusal::new(rule::LIMITS, format!("the bound of ids is {bound}")));
        }
        let version = Version(version >> 16 & 0xff, version >> 8 & 0xff);
        let mut result = Self { words: words.to_vec(), records: Vec::new(), version, definitions: Vec::new() };
        let mut word = HEADER_WORDS;
        while let Some(&head) = words.get(word) {
            let count = (head >> 16) as usize;
            let opcode = head & 0xffff;
            if count == 0 || words.len() - word < count {
                return Err(refuse(format!("an instruction of {count} words at word {word}, {} words", words.len())));
            }
            let (Some(op), Some(grammar)) = (Op::from_u32(opcode), grammar(opcode)) else {
                return Err(refuse(format!("unknown opcode {opcode} at word {word}")));
            };
            result.add(op, grammar, word, count, *bound)?;
            word += count;
        }
        Ok(result)
    }

    fn add(&mut self, op: Op, grammar: &Grammar<'_>, word: usize, count: usize, bound: u32) -> Result<(), Refusal> {
        let has = |kind| grammar.operands.iter().take(2).any(|operand| operand.kind == kind);
        let (has_type, has_id) = (has(OperandKind::IdResultType), has(OperandKind::IdResult));
        let first = word + 1 + usize::from(has_type) + usize::from(has_id);
        let end = word + count;
        if first > end {
            return Err(Refusal::new(rule::INSTRUCTION, format!("Op{op:?} at word {word} lacks an operand")));
        }
        let ty = if has_type { self.words[word + 1] } else { 0 };
        let id = if has_id { self.words[first - 1] } else { 0 };
        // `WORD_LIMIT` keeps these below 2^32.
        let record = Record { op, ty, id, word: word as u32, first: first as u32, end: end as u32 };
        let number = self.records.len();
        self.records.push(record);
        let wrong = has_id && (id == 0 || id >= bound) || has_type && ty == 0;
        self.get(number).refuse_if(wrong, "an id is 0 or beyond the bound")?;
        if has_id {
            let index = id as usize;
            if self.definitions.len() <= index {
                self.definitions.resize(index + 1, None);
            }
            let defined = self.definitions[index].is_some();
            self.get(number).refuse_if(defined, format_args!("%{id} is defined already"))?;
            self.definitions[index] = Some(number as u32);
        }
        Ok(())
    }

    pub fn version(&self) -> Version {
        self.version
    }

    pub fn len(&self) -> usize {
        self.records.len()
    }

    /// An instruction by its index, which must be below [`Self::len`].
    pub fn get(&self, index: usize) -> Instruction<'_> {
        let Record { op, ty, id, word, first, end } = self.records[index];
        Instruction { op, ty, id, word, operands: &self.words[first as usize..end as usize] }
    }

    pub fn definition(&self, id: u32) -> Option<Instruction<'_>> {
        let index = (*self.definitions.get(id as usize)?)?;
        Some(self.get(index as usize))
    }

    /// The instruction that begins at a word.
    pub fn at_word(&self, word: u32) -> Option<Instruction<'_>> {
        let index = self.records.binary_search_by_key(&word, |record| record.word).ok()?;
        Some(self.get(index))
    }
}
