//! Functions are decoded side by side: each keeps its own declarations, and all errors are there, with any number of
//! threads.

use std::num::NonZeroUsize;

use ptx2spv_translator::internals::decode::decode;
use ptx2spv_translator::internals::decode::program::{Base, InitValue, Operand, Program, VarId};
use ptx2spv_translator::internals::parse::parse_headers;
use ptx2spv_translator::{Program as Checked, Source};

const HEADER: &str = ".version 7.0\n.target sm_70\n.address_size 64\n.global .u32 common;\n";
const THREADS: [usize; 3] = [1, 3, 8];

/// A function with variables in memory: an array, one that holds its address, and a parameter that lives in memory.
fn function(number: usize) -> String {
    format!(
        ".func f{number}(.param .b32 taken{number}) {{ .reg .b64 %rd<3>; .reg .b32 %r<3>;\n\
         .global .u32 own{number}[{}]; .global .u64 pointer{number} = own{number};\n\
         mov.u64 %rd0, taken{number}; ld.global.u32 %r0, [own{number}+4]; ld.global.u64 %rd1, [pointer{number}];\n\
         ld.global.u32 %r1, [common]; ret; }}\n",
        number + 1
    )
}

fn decoded(source: &Source, threads: usize) -> Program {
    let ast = parse_headers(source).unwrap().pop().unwrap();
    decode(source, ast, NonZeroUsize::new(threads)).unwrap()
}

/// The variable of a number.
fn name(program: &Program, id: VarId) -> &str {
    &program.variables[id].name
}

#[test]
fn variables_of_functions_stay_their_own() {
    let count = 40;
    // A function without variables lies between two that have some, and prototypes before and after a definition.
    let text = |number| match number {
        5 => ".func f5(.param .b32 x) { ret; }\n".to_owned(),
        9 => format!(".func f9(.param .b32 x);\n{}.func f9(.param .b32 x);\n", function(9)),
        _ => function(number),
    };
    let source = Source::new("test.ptx", HEADER.to_owned() + &(0..count).map(text).collect::<String>());
    for threads in THREADS {
        let program = decoded(&source, threads);
        let expected = (0..count)
            .filter(|number| *number != 5)
            .flat_map(|number| [format!("own{number}"), format!("pointer{number}"), format!("taken{number}")]);
        let expected: Vec<_> = std::iter::once("common".to_owned()).chain(expected).collect();
        let names: Vec<_> = program.variables.iter().map(|variable| variable.name.clone()).collect();
        assert_eq!(names, expected, "{threads} threads");
        for (number, function) in program.functions.iter().enumerate().filter(|(number, _)| *number != 5) {
            assert_eq!(function.name, format!("f{number}"));
            let bases = function.operands().filter_map(|operand| match operand {
                Operand::Address(Base::Variable(id), _) => Some(name(&program, *id)),
                _ => None,
            });
            let own = [format!("own{number}"), format!("pointer{number}"), "common".to_owned()];
            assert_eq!(bases.collect::<Vec<_>>(), own, "{threads} threads");
            let memory = function.params.iter().filter_map(|param| param.memory);
            assert_eq!(memory.map(|id| name(&program, id)).collect::<Vec<_>>(), [format!("taken{number}")]);
        }
        let mut pointers = 0;
        for variable in &program.variables {
            let Some(number) = variable.name.strip_prefix("pointer") else { continue };
            pointers += 1;
            assert!(
                matches!(variable.init[0].value, InitValue::Address { variable, .. }
                    if name(&program, variable) == format!("own{number}")),
                "{variable:?}"
            );
        }
        assert_eq!(pointers, count - 1);
    }
}

#[test]
fn errors_come_in_the_order_of_the_text() {
    let wrong = |number: usize| {
        format!(
            ".visible .entry k{number}() {{ .reg .b32 %r<2>; .shared .texref t{number};\n wibble{number} %r0;\n\
             mov.u32 %r1, t{number};\n mov.u32 %r0, missing{number}; }}\n"
        )
    };
    let source = Source::new("test.ptx", HEADER.to_owned() + &(0..20).map(wrong).collect::<String>());
    for threads in THREADS {
        let errors = Checked::with_threads(&source, NonZeroUsize::new(threads)).unwrap_err();
        let messages: Vec<_> = errors.list.iter().map(|error| error.kind.to_string()).collect();
        let expected: Vec<_> = (0..20)
            .flat_map(|number| {
                let texture = "textures, samplers and surfaces are declared at module scope".to_owned();
                let unknown = format!("unknown instruction `wibble{number}`: PTX has no such opcode");
                // The declaration and the use give the same reason, at the same place.
                [texture.clone(), texture, unknown, format!("`missing{number}` is not declared")]
            })
            .collect();
        assert_eq!(messages, expected, "{threads} threads");
        let functions = errors.list.iter().filter_map(|error| error.function.clone());
        let expected = (0..20).flat_map(|number| std::iter::repeat_n(format!("k{number}"), 4));
        assert!(functions.eq(expected), "{errors}");
    }
}
