//! Modules as text.

use rspirv::binary::{Consumer, Disassemble, ParseAction, parse_words};
use rspirv::dr::{Instruction, Loader, ModuleHeader};
use rspirv::spirv::Op;

/// A module in the assembly form of SPIRV-Tools.
///
/// # Errors
/// The words are no module; says why.
pub fn disassemble(spirv: &[u32]) -> Result<String, String> {
    let mut reader = Reader { loader: Loader::new(), modes: Vec::new() };
    parse_words(spirv, &mut reader).map_err(|state| format!("{state:?}"))?;
    let mut module = reader.loader.module();
    module.execution_modes.append(&mut reader.modes);
    Ok(module.disassemble())
}

/// rspirv's loader has no place for `OpExecutionModeId`, which stands among the execution modes.
struct Reader {
    loader: Loader,
    modes: Vec<Instruction>,
}

impl Consumer for Reader {
    fn initialize(&mut self) -> ParseAction {
        self.loader.initialize()
    }

    fn finalize(&mut self) -> ParseAction {
        self.loader.finalize()
    }

    fn consume_header(&mut self, header: ModuleHeader) -> ParseAction {
        self.loader.consume_header(header)
    }

    fn consume_instruction(&mut self, instruction: Instruction) -> ParseAction {
        if instruction.class.opcode == Op::ExecutionModeId {
            self.modes.push(instruction);
            return ParseAction::Continue;
        }
        self.loader.consume_instruction(instruction)
    }
}
