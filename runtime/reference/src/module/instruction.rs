//! Splits the words of a module into instructions. Knows the grammar's shape, not what instructions mean.

use std::sync::LazyLock;

use ptx2spv_target::Version;
use rspirv::grammar::{INSTRUCTION_TABLE, Instruction as Grammar, OperandKind};
use rspirv::spirv::{MAGIC_NUMBER, Op};

use super::rule;
use crate::finding::Refusal;

/// Words before the first instruction.
const HEADER_WORDS: usize = 5;

/// Largest bound of ids that consumers must accept.
const ID_LIMIT: u32 = 4_194_303;

/// Most words that a module may have. Indices of words and instructions fit into 32 bits with room to spare.
const WORD_LIMIT: usize = 1 << 28;

/// rspirv's description of each operation by opcode; its own look-up is a linear search.
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

/// What rspirv knows of an operation by its opcode.
pub(super) fn grammar(opcode: u32) -> Option<&'static Grammar<'static>> {
    GRAMMAR.get(opcode as usize).copied().flatten()
}

/// An instruction; operands are words.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Instruction<'m> {
    /// What it does.
    pub op: Op,
    /// Its result type, 0 if it has none.
    pub ty: u32,
    /// Its result, 0 if it has none.
    pub id: u32,
    /// The index of its first word.
    pub word: u32,
    /// What follows the result.
    pub operands: &'m [u32],
}

impl<'m> Instruction<'m> {
    /// An operand that must be there.
    pub fn operand(&self, index: usize) -> Result<u32, Refusal> {
        self.operands.get(index).copied().ok_or_else(|| self.refuse(rule::INSTRUCTION, "lacks an operand"))
    }

    /// The operands from an index on, none if there are fewer.
    pub fn rest(&self, index: usize) -> &'m [u32] {
        self.operands.get(index..).unwrap_or(&[])
    }

    /// The operands from an index on, one string.
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

    /// A refusal because of this instruction.
    pub fn refuse(&self, rule: &str, message: impl std::fmt::Display) -> Refusal {
        Refusal { rule: rule.into(), message: format!("Op{:?} at word {}: {message}", self.op, self.word) }
    }
}

/// Where an instruction lies.
#[derive(Clone, Copy, Debug)]
struct Record {
    op: Op,
    ty: u32,
    id: u32,
    word: u32,
    first: u32,
    end: u32,
}

/// The words of a module and where its instructions are.
#[derive(Debug)]
pub(crate) struct Instructions {
    words: Vec<u32>,
    records: Vec<Record>,
    version: Version,
    /// The number of the instruction that defines each id.
    definitions: Vec<Option<u32>>,
}

impl Instructions {
    /// Splits a module. Ids are not 0, below the bound and defined once; every operation is known.
    pub fn split(words: &[u32]) -> Result<Self, Refusal> {
        let refuse = |message: String| Refusal { rule: rule::PHYSICAL.into(), message };
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
            return Err(Refusal { rule: rule::LIMITS.into(), message: format!("the bound of ids is {bound}") });
        }
        let mut result = Self {
            words: words.to_vec(),
            records: Vec::new(),
            version: Version(version >> 16 & 0xff, version >> 8 & 0xff),
            definitions: Vec::new(),
        };
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
            let message = format!("Op{op:?} at word {word} lacks an operand");
            return Err(Refusal { rule: rule::INSTRUCTION.into(), message });
        }
        let ty = if has_type { self.words[word + 1] } else { 0 };
        let id = if has_id { self.words[first - 1] } else { 0 };
        // `WORD_LIMIT` keeps these within 32 bits.
        let record = Record { op, ty, id, word: word as u32, first: first as u32, end: end as u32 };
        self.records.push(record);
        if (has_id && (id == 0 || id >= bound)) || (has_type && ty == 0) {
            return Err(self.get(self.records.len() - 1).refuse(rule::UNIVERSAL, "an id is 0 or beyond the bound"));
        }
        if has_id {
            let index = id as usize;
            if self.definitions.len() <= index {
                self.definitions.resize(index + 1, None);
            }
            if self.definitions[index].is_some() {
                let message = format!("%{id} is defined already");
                return Err(self.get(self.records.len() - 1).refuse(rule::UNIVERSAL, message));
            }
            self.definitions[index] = Some(self.records.len() as u32 - 1);
        }
        Ok(())
    }

    /// The version in the header.
    pub fn version(&self) -> Version {
        self.version
    }

    /// How many instructions there are.
    pub fn len(&self) -> usize {
        self.records.len()
    }

    /// An instruction by its number, which must be below [`Self::len`].
    pub fn get(&self, index: usize) -> Instruction<'_> {
        let Record { op, ty, id, word, first, end } = self.records[index];
        Instruction { op, ty, id, word, operands: &self.words[first as usize..end as usize] }
    }

    /// The instruction that defines an id.
    pub fn definition(&self, id: u32) -> Option<Instruction<'_>> {
        self.definition_index(id).map(|index| self.get(index))
    }

    /// The number of the instruction that defines an id.
    pub fn definition_index(&self, id: u32) -> Option<usize> {
        let index = (*self.definitions.get(id as usize)?)?;
        Some(index as usize)
    }

    /// The instruction that begins at a word.
    pub fn at_word(&self, word: u32) -> Option<Instruction<'_>> {
        let index = self.records.binary_search_by_key(&word, |record| record.word).ok()?;
        Some(self.get(index))
    }
}
