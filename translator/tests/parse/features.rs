//! The parser against the syntax that the PTX manual gives, construct by construct.

use super::support::{PROLOGUE, body, functions, items, module, statements, variables};
use ptx2spv_translator::Source;
use ptx2spv_translator::internals::ast::{
    Constant, FunctionKind, Init, Instruction, Item, Linkage, Operand, StateSpace, Statement,
};

/// Writes an operand in a plain form of its own, so that tests can state their expectations in one line.
fn show(operand: &Operand<'_>) -> String {
    let list = |operands: &[Operand<'_>]| operands.iter().map(show).collect::<Vec<_>>().join(" ");
    let dotted = |name: &str, suffix: Option<&str>| match suffix {
        Some(suffix) => format!("{name}'{suffix}"),
        None => name.to_owned(),
    };
    match operand {
        Operand::Name { name, suffix } => dotted(name.text, suffix.map(|suffix| suffix.text)),
        Operand::Constant(constant, _) => show_constant(*constant),
        Operand::Not(name) => format!("not {}", name.text),
        Operand::Negate { name, suffix } => format!("minus {}", dotted(name.text, suffix.map(|suffix| suffix.text))),
        Operand::Sink(_) => "sink".to_owned(),
        Operand::Vector(elements, _) => format!("<{}>", list(elements)),
        Operand::Pair(pair, _) => format!("pair({})", list(pair.as_slice())),
        Operand::Address { base, offset, more, .. } => format!("at({} {offset} {})", show(base), list(more)),
        Operand::Element { name, register: None, number, .. } => format!("{}@{number}", name.text),
        Operand::Element { name, register: Some(register), number, .. } => {
            format!("{}@{}+{number}", name.text, register.text)
        }
        Operand::List(elements, _) => format!("list({})", list(elements)),
    }
}

fn show_constant(constant: Constant<'_>) -> String {
    match constant {
        Constant::Int { bits, unsigned: true } => format!("{bits}u"),
        Constant::Int { bits, unsigned: false } => bits.cast_signed().to_string(),
        Constant::F32(bits) => format!("f32:{bits:08x}"),
        Constant::F64(bits) => format!("f64:{bits:016x}"),
        Constant::Address { symbol, offset, generic, mask } => {
            format!(
                "&{}{offset:+}{}{}",
                symbol.text,
                if generic { " generic" } else { "" },
                mask.map_or(String::new(), |mask| format!(" mask {mask:x}"))
            )
        }
    }
}

/// `opcode mod mod: operand; operand`
fn show_instruction(instruction: &Instruction<'_>) -> String {
    let guard = instruction
        .guard
        .map_or(String::new(), |guard| format!("@{}{} ", if guard.negated { "!" } else { "" }, guard.register.text));
    let modifiers: Vec<_> = instruction.modifiers.iter().map(|modifier| modifier.text).collect();
    let operands: Vec<_> = instruction.operands.iter().map(show).collect();
    format!("{guard}{} {}: {}", instruction.opcode.text, modifiers.join(" "), operands.join("; "))
}

/// The instructions of a kernel of these statements.
fn instructions(text: &str) -> Vec<String> {
    let source = statements(text);
    let statements = body(&source);
    let instructions = statements.iter().filter_map(|statement| match statement {
        Statement::Instruction(instruction) => Some(show_instruction(instruction)),
        _ => None,
    });
    instructions.collect()
}

#[track_caller]
fn is(text: &str, expected: &str) {
    assert_eq!(instructions(text), [expected], "{text}");
}

/// The value of a constant expression, by way of an initialiser.
#[track_caller]
fn evaluates(expression: &str, expected: &str) {
    let source = items(&format!(".global .b64 x = {expression};"));
    let variables = variables(&source);
    let Some(Init::Scalar(constant, _)) = variables[0].init else { panic!("{expression} is no scalar") };
    assert_eq!(show_constant(constant), expected, "{expression}");
}

#[test]
fn module_directives() {
    let source = Source::new(
        "m.ptx",
        ".version 1.4\n.target sm_13, map_f64_to_f32 , texmode_independent,debug\n.target sm_20\n",
    );
    let module = module(&source);
    assert_eq!(module.version, Some((1, 4)));
    let target: Vec<_> = module.target.iter().map(|name| name.text).collect();
    assert_eq!(target, ["sm_13", "map_f64_to_f32", "texmode_independent", "debug", "sm_20"]);
    assert_eq!(module.address_size, None);
    assert!(module.items.is_empty());
}

#[test]
fn byte_order_mark_line_ends_and_comments() {
    let text = "\u{feff}// first\r\n/* a /* b */.version\r\n8.5/**/.target /* x; */ sm_90a\r\n.address_size 32// end";
    let source = Source::new("m.ptx", text);
    let module = module(&source);
    assert_eq!(module.version, Some((8, 5)));
    assert_eq!(module.target[0].text, "sm_90a");
    assert_eq!(module.address_size, Some(32));
}

#[test]
fn comments_inside_statements() {
    is("add/* ( */.u32 // }\n %r1 /*,*/, %r2,\r\n\t1 /* ; */ ;", "add u32: %r1; %r2; 1");
}

#[test]
fn files_aliases_and_pragmas() {
    let source = items(
        ".file 1 \"C:\\src\\new\\\"\n.file 2 \"kernel.cu\", 1339013327, 64118\n.alias bar, foo;\n.pragma \"a\", \"b c\";\n",
    );
    let module = module(&source);
    match module.items.as_slice() {
        [
            Item::File { index: 1, name: first },
            Item::File { index: 2, name: second },
            Item::Alias { name, target },
            Item::Pragma(a),
            Item::Pragma(b),
        ] => {
            assert_eq!((*first, *second), ("C:\\src\\new\\", "kernel.cu"));
            assert_eq!((name.text, target.text), ("bar", "foo"));
            assert_eq!((a.text, b.text), ("a", "b c"));
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn debugging_data_is_passed_over() {
    let source = items(
        "@@DWARF .section .debug_pubnames, \"\", @progbits\n@@DWARF .byte 0x2b\n.loc 1 2 3\n\
         .section .debug_info\n{\n.b32 .debug_abbrev+10, L2-L1\n.b8 1,2,-3\n$L__x:\n.b64 $L__func_begin0\n.b8 95 // _\n}\n\
         .section .debug_loc { }\n.section .debug_str\n{\ninfo_string0:\n.b8 0x5f\n}\n.global .u32 last;",
    );
    assert_eq!(module(&source).items.len(), 1);
    assert_eq!(variables(&source)[0].name.map(|name| name.text), Some("last"));
}

#[test]
fn kernels_with_and_without_parameters() {
    let source = items(
        ".entry a { ret; }\n.visible .entry b() { }\n\
         .weak .entry c(.param .u64 p, .param .align 4 .b8 q[12], .param .u64 .ptr .global .align 16 r,\n\
         .param .u32 .ptr s, .param .texref t, .param .b8 v[]) .maxntid 256, 1 ,1 .minnctapersm 2 .noreturn\n\
         .reqnctapercluster 2, 2, 1 .explicitcluster .maxclusterrank 8 .pragma \"nounroll\"; .abi_preserve 4 { ret; }",
    );
    let functions = functions(&source);
    let names: Vec<_> = functions.iter().map(|f| (f.name.text, f.linkage, f.kind, f.params.len())).collect();
    assert_eq!(
        names,
        [
            ("a", None, FunctionKind::Entry, 0),
            ("b", Some(Linkage::Visible), FunctionKind::Entry, 0),
            ("c", Some(Linkage::Weak), FunctionKind::Entry, 6),
        ]
    );
    assert_eq!(functions[1].body.as_ref().map(|_| functions[1].statements().len()), Some(0));
    let params = &functions[2].params;
    assert!(params.iter().all(|param| param.space == StateSpace::Param));
    assert_eq!((params[1].align, params[1].ty.text, params[1].dims.as_slice()), (Some(4), "b8", [Some(12)].as_slice()));
    let pointer = params[2].pointer.expect("a pointer");
    assert_eq!((pointer.space, pointer.align, params[2].align), (Some(StateSpace::Global), Some(16), None));
    assert_eq!(params[3].pointer.expect("a pointer").space, None);
    assert_eq!(params[4].ty.text, "texref");
    assert_eq!(params[5].dims, [None]);
    let directives: Vec<_> =
        functions[2].directives.iter().map(|d| (d.name.text, d.values.clone(), d.text.map(|text| text.text))).collect();
    assert_eq!(
        directives,
        [
            ("maxntid", vec![256, 1, 1], None),
            ("minnctapersm", vec![2], None),
            ("noreturn", vec![], None),
            ("reqnctapercluster", vec![2, 2, 1], None),
            ("explicitcluster", vec![], None),
            ("maxclusterrank", vec![8], None),
            ("pragma", vec![], Some("nounroll")),
            ("abi_preserve", vec![4], None),
        ]
    );
}

#[test]
fn functions_and_prototypes() {
    let source = items(
        ".extern .func (.param .b32 func_retval0) vprintf\n(\n.param .b64 vprintf_param_0,\n.param .b64 vprintf_param_1\n)\n;\n\
         .func without_semicolon (.reg .u32 a)\n\
         .func .attribute(.unified(1, 0xffffffffffffffff)) (.reg .f32 r) g (.reg .f32 x, .reg .pred p) { ret; }\n\
         .visible .func stop .noreturn\n{\ntrap;\n}\n.func last",
    );
    let functions = functions(&source);
    let shape: Vec<_> =
        functions.iter().map(|f| (f.name.text, f.returns.len(), f.params.len(), f.body.is_some())).collect();
    assert_eq!(
        shape,
        [
            ("vprintf", 1, 2, false),
            ("without_semicolon", 0, 1, false),
            ("g", 1, 2, true),
            ("stop", 0, 0, true),
            ("last", 0, 0, false),
        ]
    );
    assert!(functions.iter().all(|function| function.kind == FunctionKind::Func));
    assert_eq!(functions[2].params[1].ty.text, "pred");
    assert_eq!(
        source.slice(functions[2].span),
        ".func .attribute(.unified(1, 0xffffffffffffffff)) (.reg .f32 r) g (.reg .f32 x, .reg .pred p)"
    );
}

#[test]
fn variables_of_every_space() {
    let source = items(
        ".reg .u32 a;\n.sreg .b32 b;\n.const[2] .align 8 .b8 c[16];\n.extern .const[0] .b32 d[];\n.tex .u32 e;\n\
         .local .v4 .f32 f;\n.extern .shared .align 16 .b8 g[];\n.common .global .u32 h, i[2][3], j;\n\
         .global .texref k;\n.global .surfref l;\n.align 4 .global .attribute(.managed) .s32 m;\n.param .b32 n;\n\
         .reg .pred %p<10>, q;\n.reg .v2 .b16 o;\n",
    );
    let variables = variables(&source);
    let shape: Vec<_> =
        variables.iter().map(|v| (v.name.expect("a name").text, v.space, v.ty.text, v.dims.clone())).collect();
    use StateSpace::{Const, Global, Local, Param, Reg, Shared, Sreg, Tex};
    assert_eq!(
        shape,
        [
            ("a", Reg, "u32", vec![]),
            ("b", Sreg, "b32", vec![]),
            ("c", Const, "b8", vec![Some(16)]),
            ("d", Const, "b32", vec![None]),
            ("e", Tex, "u32", vec![]),
            ("f", Local, "f32", vec![]),
            ("g", Shared, "b8", vec![None]),
            ("h", Global, "u32", vec![]),
            ("i", Global, "u32", vec![Some(2), Some(3)]),
            ("j", Global, "u32", vec![]),
            ("k", Global, "texref", vec![]),
            ("l", Global, "surfref", vec![]),
            ("m", Global, "s32", vec![]),
            ("n", Param, "b32", vec![]),
            ("%p", Reg, "pred", vec![]),
            ("q", Reg, "pred", vec![]),
            ("o", Reg, "b16", vec![]),
        ]
    );
    assert_eq!((variables[2].bank, variables[2].align, variables[3].bank), (Some(2), Some(8), Some(0)));
    assert_eq!((variables[5].vector, variables[16].vector, variables[0].vector), (4, 2, 1));
    assert_eq!((variables[6].linkage, variables[8].linkage), (Some(Linkage::Extern), Some(Linkage::Common)));
    assert_eq!((variables[12].managed, variables[12].align, variables[11].managed), (true, Some(4), false));
    assert_eq!((variables[14].range, variables[15].range), (Some(10), None));
    assert_eq!(source.slice(variables[8].span), "i[2][3]");
}

#[test]
fn initializers() {
    let source = items(
        ".global .f32 pi = 0f40490FDB;\n.const .u32 t[2][2] = {{1, 0x10}, {017, 0b101U}}, n = 5;\n\
         .global .u64 p[] = { foo, foo+8, generic(foo)+4, 0xFF(foo), 0xFF00(generic(foo)+4) };\n\
         .global .samplerref w = { addr_mode_0 = wrap, filter_mode = 1 };\n\
         .global .b8 e[4] = {};\n.global .b8 z[4] = {1, 2};",
    );
    let variables = variables(&source);
    let show = |init: &Init<'_>| -> String {
        fn go(init: &Init<'_>) -> String {
            match init {
                Init::Scalar(constant, _) => show_constant(*constant),
                Init::List(list, _) => format!("{{{}}}", list.iter().map(go).collect::<Vec<_>>().join(" ")),
                Init::Property { name, value, .. } => format!("{}:{}", name.text, show_constant(*value)),
            }
        }
        go(init)
    };
    let shown: Vec<_> =
        variables.iter().map(|variable| show(variable.init.as_ref().expect("an initialiser"))).collect();
    assert_eq!(
        shown,
        [
            "f32:40490fdb",
            "{{1 16} {15 5u}}",
            "5",
            "{&foo+0 &foo+8 &foo+4 generic &foo+0 mask ff &foo+4 generic mask ff00}",
            "{addr_mode_0:&wrap+0 filter_mode:1}",
            "{}",
            "{1 2}",
        ]
    );
}

#[test]
fn long_initializers_cross_every_boundary() {
    // Elements of many lengths with comments between them, so that windows end at every kind of place.
    let value = |i: usize| i * i * 7919;
    let list: Vec<_> = (0..20_000)
        .map(|i| match i % 5 {
            0 => format!("{}", value(i)),
            1 => format!("{:#x} /* , {{ */", value(i)),
            2 => format!("{} // , }}\n + 1", value(i) - 1),
            3 => format!(" ( {} * 1 )", value(i)),
            _ => format!("1 ? {} : 0", value(i)),
        })
        .collect();
    let source = items(&format!(".global .u64 x[20000] = {{{}}}, y = 3;", list.join(",")));
    let variables = variables(&source);
    let Some(Init::List(values, _)) = &variables[0].init else { panic!("no list") };
    let found: Vec<_> = values
        .iter()
        .map(|init| match init {
            Init::Scalar(Constant::Int { bits, .. }, _) => *bits as usize,
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(found, (0..20_000).map(value).collect::<Vec<_>>());
    assert!(matches!(variables[1].init, Some(Init::Scalar(Constant::Int { bits: 3, .. }, _))));
}

#[test]
fn long_bodies_and_long_statements() {
    let lines: String = (0..5_000).map(|i| format!("L{i}: add.s32 %r{i}, %r{i}, {i}; // {i} ;\n")).collect();
    let found = instructions(&lines);
    assert_eq!(found.len(), 5_000);
    for (i, line) in found.iter().enumerate() {
        assert_eq!(*line, format!("add s32: %r{i}; %r{i}; {i}"));
    }
    let names: Vec<_> = (0..3_000).map(|i| format!("%r{i}")).collect();
    is(&format!("many {{{}}};", names.join(", ")), &format!("many : <{}>", names.join(" ")));
}

#[test]
fn deep_but_sane_nesting() {
    let text = format!("{}1{}", "(".repeat(200), ")".repeat(200));
    evaluates(&text, "1");
    let scopes = format!("{}ret;{}", "{".repeat(500), "}".repeat(500));
    assert_eq!(body(&statements(&scopes)).len(), 1001);
}

/// The lines of a table of texts and their expected results.
fn table(text: &str) -> impl Iterator<Item = (&str, &str)> {
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    lines.map(|line| line.split_once(" => ").expect("a text and what is expected"))
}

/// The values of integers, floats and expressions; the latter worked out by hand from the rules of PTX sections 4.5.4 and 4.5.5.
#[test]
fn constants() {
    table(include_str!("constants.txt")).for_each(|(text, expected)| evaluates(text, expected));
}

#[test]
fn instructions_and_operands() {
    table(include_str!("instructions.txt")).for_each(|(text, expected)| is(text, expected));
    is("add .sat\n.s32 a,b,c;", "add sat s32: a; b; c");
}

#[test]
fn labels_scopes_and_shadowing() {
    let source = statements(".reg .u32 x;\nL0:L1: mov.u32 x, 1;\n{\n.reg .u64 x;\n$L_2: mov.u64 x, 1;\n{ };\n}\n%L3:");
    let shape: Vec<_> = body(&source)
        .iter()
        .map(|statement| match statement {
            Statement::ScopeBegin(_) => "{".to_owned(),
            Statement::ScopeEnd(_) => "}".to_owned(),
            Statement::Label(name) => format!("{}:", name.text),
            Statement::Variable(variable) => format!("{} {}", variable.ty.text, variable.name.expect("a name").text),
            Statement::Instruction(instruction) => instruction.opcode.text.to_owned(),
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(shape, ["u32 x", "L0:", "L1:", "mov", "{", "u64 x", "$L_2:", "mov", "{", "}", "}", "%L3:"]);
}

#[test]
fn variables_in_bodies() {
    let source = statements(
        ".extern .shared .align 8 .b8 s[];\n.global .u32 g[2] = {1, 2}; ret;\n.shared .align 4 .b8 t[WARP_SZ];\n\
         .param .align 8 .b8 retval0[16];\n.reg .b32 %r<3>;\n.local .b8 __depot[8]; .const .f32 c = 1.5, d;",
    );
    let statements = body(&source);
    let names: Vec<_> = statements
        .iter()
        .map(|statement| match statement {
            Statement::Variable(variable) => variable.name.expect("a name").text,
            Statement::Instruction(instruction) => instruction.opcode.text,
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(names, ["s", "g", "ret", "t", "retval0", "%r", "__depot", "c", "d"]);
    let Statement::Variable(t) = &statements[3] else { panic!("no variable") };
    assert_eq!(t.dims, [Some(32)]);
    let Statement::Variable(g) = &statements[1] else { panic!("no variable") };
    assert!(matches!(&g.init, Some(Init::List(list, _)) if list.len() == 2));
}

#[test]
fn tables_and_prototypes() {
    let source = statements(
        "ts: .branchtargets L1, N<5>, L2;\ntgt: .calltargets fastsin, fastcos;\n\
         P1: .callprototype _ ;\nP2: .callprototype _ (.param .f32 _, .param .b8 _[12]) .noreturn;\n\
         P3: .callprototype (.param .u32 _) _ (.param .f32 _) .abi_preserve 3;",
    );
    match body(&source).as_slice() {
        [
            Statement::BranchTargets { name, targets },
            Statement::CallTargets { name: calls, targets: functions },
            Statement::CallPrototype { returns: r1, params: p1, noreturn: false, .. },
            Statement::CallPrototype { returns: r2, params: p2, noreturn: true, .. },
            Statement::CallPrototype { name: third, returns: r3, params: p3, noreturn: false },
        ] => {
            assert_eq!((name.text, calls.text, third.text), ("ts", "tgt", "P3"));
            let targets: Vec<_> = targets.iter().map(|target| target.split_range()).collect();
            assert_eq!(targets, [("L1", None), ("N", Some(5)), ("L2", None)]);
            assert_eq!(functions.iter().map(|name| name.text).collect::<Vec<_>>(), ["fastsin", "fastcos"]);
            assert_eq!((r1.len(), p1.len(), r2.len(), p2.len(), r3.len(), p3.len()), (0, 0, 0, 2, 1, 1));
            assert_eq!((p2[1].name, p2[1].dims.as_slice()), (None, [Some(12)].as_slice()));
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn locations_and_pragmas_in_bodies() {
    let source = statements(
        ".pragma \"nounroll\";\n.loc 1 21 3\nret;\n.loc 1 9 3, function_name info_string0, inlined_at 1 21 3\n\
         .loc\t2 15 0, function_name .debug_str+16, inlined_at 1 10 5\n@p bra X;",
    );
    match body(&source).as_slice() {
        [
            Statement::Pragma(pragma),
            Statement::Loc { file: 1, line: 21, column: 3, inlined_at: None },
            Statement::Instruction(_),
            Statement::Loc { file: 1, line: 9, column: 3, inlined_at: Some([1, 21, 3]) },
            Statement::Loc { file: 2, line: 15, column: 0, inlined_at: Some([1, 10, 5]) },
            Statement::Instruction(_),
        ] => assert_eq!(pragma.text, "nounroll"),
        other => panic!("{other:?}"),
    }
}

#[test]
fn spans_point_at_the_text() {
    let source = statements("@%p1 ld.global.u32 %r1, [%rd1+4];");
    let statements = body(&source);
    let Statement::Instruction(instruction) = &statements[0] else { panic!("no instruction") };
    assert_eq!(source.slice(instruction.span), "@%p1 ld.global.u32 %r1, [%rd1+4]");
    assert_eq!(source.slice(instruction.opcode.span), "ld");
    assert_eq!(source.slice(instruction.modifiers[1].span), "u32");
    assert_eq!(source.slice(instruction.operands[1].span()), "[%rd1+4]");
    let line = PROLOGUE.lines().count() + 3;
    assert_eq!(source.line_column(instruction.opcode.span.start), (line, 6));
}
