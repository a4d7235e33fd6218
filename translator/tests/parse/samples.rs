//! The parser on text in the style of the compilers that write PTX.

use ptx2spv_translator::Source;
use ptx2spv_translator::internals::ast::{FunctionKind, Item, Statement};
use ptx2spv_translator::internals::parse;

#[test]
fn samples_of_real_compilers() {
    for (name, text, kernels, instructions) in [
        ("nvcc", include_str!("samples/nvcc.ptx"), 1, 12),
        ("triton", include_str!("samples/triton.ptx"), 1, 9),
        ("legacy", include_str!("samples/legacy.ptx"), 1, 11),
    ] {
        let source = Source::new(name, text);
        let module = parse::parse(&source).unwrap_or_else(|errors| panic!("{errors}"));
        let bodies: Vec<_> = module
            .items
            .iter()
            .filter_map(|item| match item {
                Item::Function(function) if function.kind == FunctionKind::Entry => Some(function.statements()),
                _ => None,
            })
            .collect();
        assert_eq!(bodies.len(), kernels, "{name}");
        let count = bodies[0].iter().filter(|statement| matches!(statement, Statement::Instruction(_))).count();
        assert_eq!(count, instructions, "{name}");
    }
}
