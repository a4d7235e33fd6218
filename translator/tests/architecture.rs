//! The worked example of `docs/architecture.md` is what the translator makes of it today. `PTX2SPV_BLESS=1` rewrites it.

use std::fs;
use std::path::Path;

use ptx2spv_translator::lower::{build, layout, resources::Services};
use ptx2spv_translator::{Options, Program, Source, Target, cfg, decode, legalise, parse, passes};

/// The text between `<!-- name -->`, a fence, and the next fence; its place in the document.
fn block(document: &str, name: &str) -> std::ops::Range<usize> {
    let mark = document.find(&format!("<!-- {name} -->\n```")).expect("the document has this block");
    let start = mark + document[mark..].match_indices('\n').nth(1).expect("a fence has a line").0 + 1;
    start..start + document[start..].find("```").expect("a fence has an end")
}

/// The structured form of the only kernel, as lowered or as emission gets it.
fn intermediate(source: &Source, target: &Target, optimised: bool) -> String {
    let program = decode::decode(source, &parse::parse(source).unwrap()).unwrap();
    let (_, places) = layout::module_variables(&program);
    let (kernel, _) = program.kernels().next().unwrap();
    let layout = layout::lay_out(&program, kernel, &places, Services::default(), target, None).unwrap();
    let build::Built { mut function, mut graph, .. } = build::build(&program, kernel, &layout).unwrap();
    cfg::resolve(&mut function, &mut graph, None);
    cfg::structure(&mut function, graph).unwrap();
    if optimised {
        passes::optimise(&mut function);
        legalise::legalise(&mut function, target);
    }
    function.to_string()
}

/// The function of the only kernel, in assembly.
fn assembly(source: &Source, target: &Target) -> String {
    let options = Options::new(target);
    let text = Program::new(source).unwrap().translate(&options).unwrap().disassemble();
    let start = text.find("OpFunction ").map(|at| text[..at].rfind('\n').unwrap() + 1).unwrap();
    format!("{}\n", text[start..].trim_end())
}

#[test]
fn worked_example_is_up_to_date() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/architecture.md");
    let document = fs::read_to_string(&path).unwrap();
    let source = Source::new("sum.ptx", &document[block(&document, "ptx")]);
    let target = Target::preset("nvidia").unwrap();
    let mut made = document.clone();
    for (name, text) in [
        ("lowered", intermediate(&source, &target, false)),
        ("optimised", intermediate(&source, &target, true)),
        ("spirv", assembly(&source, &target)),
    ] {
        let range = block(&made, name);
        made.replace_range(range, &text);
    }
    if std::env::var_os("PTX2SPV_BLESS").is_some() {
        fs::write(&path, &made).unwrap();
    } else {
        assert!(made == document, "docs/architecture.md is out of date; PTX2SPV_BLESS=1 rewrites its example");
    }
}
