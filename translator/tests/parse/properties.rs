//! Properties of the parser on random text: what is printed from a random module parses back to it, whatever white
//! space and comments stand between the tokens; and no text makes the parser panic.

use proptest::prelude::*;
use ptx2spv_translator::Source;
use ptx2spv_translator::internals::ast::{Constant, Init, Item, Operand, Statement, Variable};
use ptx2spv_translator::internals::parse;

/// A module as a list of items that remember what they should parse to.
///
/// Each piece is a list of tokens to print, and the shape that its tree must have, in the notation of [`shape`].
#[derive(Clone, Debug)]
struct Piece {
    tokens: Vec<String>,
    shape: String,
}

impl Piece {
    fn new(tokens: impl IntoIterator<Item = impl Into<String>>, shape: impl Into<String>) -> Self {
        Self { tokens: tokens.into_iter().map(Into::into).collect(), shape: shape.into() }
    }

    /// Pieces one after the other, with tokens around and between them.
    fn join(pieces: Vec<Piece>, open: &str, separator: &str, close: &str, shape: impl Fn(&str) -> String) -> Self {
        let mut tokens = vec![open.to_owned()];
        let mut shapes = Vec::new();
        for (index, piece) in pieces.into_iter().enumerate() {
            if index > 0 {
                tokens.push(separator.to_owned());
            }
            tokens.extend(piece.tokens);
            shapes.push(piece.shape);
        }
        tokens.push(close.to_owned());
        tokens.retain(|token| !token.is_empty());
        Self { tokens, shape: shape(&shapes.join(" ")) }
    }
}

// ---- the shape of a tree ----

fn constant(constant: Constant<'_>) -> String {
    match constant {
        Constant::Int { bits, .. } => format!("{}", bits.cast_signed()),
        Constant::F32(bits) => format!("f{bits:08x}"),
        Constant::F64(bits) => format!("d{bits:016x}"),
        Constant::Address { symbol, offset, .. } => format!("&{}{offset:+}", symbol.text),
    }
}

fn operand(value: &Operand<'_>) -> String {
    let list = |operands: &[Operand<'_>]| operands.iter().map(operand).collect::<Vec<_>>().join(" ");
    match value {
        Operand::Name { name, suffix: None } => name.text.to_owned(),
        Operand::Name { name, suffix: Some(suffix) } => format!("{}.{}", name.text, suffix.text),
        Operand::Constant(value, _) => constant(*value),
        Operand::Not(name) => format!("!{}", name.text),
        Operand::Negate { name, .. } => format!("-{}", name.text),
        Operand::Sink(_) => "_".to_owned(),
        Operand::Vector(elements, _) => format!("{{{}}}", list(elements)),
        Operand::Pair(pair, _) => format!("({}|{})", operand(&pair[0]), operand(&pair[1])),
        Operand::Address { base, offset, more, .. } => format!("[{}{offset:+} {}]", operand(base), list(more)),
        Operand::Element { name, register: None, number, .. } => format!("{}@{number}", name.text),
        Operand::Element { name, register: Some(register), number, .. } => {
            format!("{}@{}+{number}", name.text, register.text)
        }
        Operand::List(elements, _) => format!("({})", list(elements)),
    }
}

fn init(value: &Init<'_>) -> String {
    match value {
        Init::Scalar(value, _) => constant(*value),
        Init::List(list, _) => format!("{{{}}}", list.iter().map(init).collect::<Vec<_>>().join(" ")),
        other => format!("{other:?}"),
    }
}

fn variable(variable: &Variable<'_>) -> String {
    let dims: Vec<_> = variable.dims.iter().map(|dim| format!("{dim:?}")).collect();
    format!(
        "{:?} {:?} v{} {} {} <{:?}> [{}] = {}",
        variable.space,
        variable.align,
        variable.vector,
        variable.ty.text,
        variable.name.map_or("_", |name| name.text),
        variable.range,
        dims.join(" "),
        variable.init.as_ref().map_or(String::new(), init),
    )
}

fn statement(value: &Statement<'_>) -> String {
    match value {
        Statement::ScopeBegin(_) => "{".to_owned(),
        Statement::ScopeEnd(_) => "}".to_owned(),
        Statement::Label(name) => format!("{}:", name.text),
        Statement::Variable(value) => variable(value),
        Statement::Instruction(instruction) => {
            let guard = instruction.guard.map_or(String::new(), |guard| {
                format!("@{}{} ", if guard.negated { "!" } else { "" }, guard.register.text)
            });
            let modifiers: Vec<_> = instruction.modifiers.iter().map(|modifier| modifier.text).collect();
            let operands: Vec<_> = instruction.operands.iter().map(operand).collect();
            format!("{guard}{}.{} {}", instruction.opcode.text, modifiers.join("."), operands.join(" "))
        }
        Statement::Loc { file, line, column, .. } => format!("loc {file} {line} {column}"),
        other => format!("{other:?}"),
    }
}

fn item(value: &Item<'_>) -> String {
    match value {
        Item::Variable(value) => variable(value),
        Item::Function(function) => {
            let params: Vec<_> = function.params.iter().map(variable).collect();
            let body: Vec<_> = function.statements().iter().map(statement).collect();
            format!("{:?} {} ({}) {{{}}}", function.kind, function.name.text, params.join(" "), body.join(" "))
        }
        other => format!("{other:?}"),
    }
}

// ---- random pieces ----

fn name() -> impl Strategy<Value = String> {
    // Nothing that is a keyword of its own among names.
    "[a-z][a-z0-9_$]{0,6}|[%$_][a-z0-9_$]{1,6}".prop_filter("reserved", |name| name != "generic" && name != "call")
}

fn number() -> impl Strategy<Value = Piece> {
    prop_oneof![
        any::<u32>().prop_map(|value| Piece::new([value.to_string()], i64::from(value).to_string())),
        any::<u64>().prop_map(|value| Piece::new([format!("{value:#x}")], value.cast_signed().to_string())),
        any::<u16>().prop_map(|value| Piece::new([format!("0{value:o}U")], value.to_string())),
        any::<u8>().prop_map(|value| Piece::new([format!("{value:#b}")], value.to_string())),
        any::<u32>().prop_map(|bits| Piece::new([format!("0f{bits:08X}")], format!("f{bits:08x}"))),
        any::<u64>().prop_map(|bits| Piece::new([format!("0D{bits:016x}")], format!("d{bits:016x}"))),
        (0..1_000_000_i32).prop_map(|value| Piece::new(["-".to_owned(), value.to_string()], (-value).to_string())),
        (0..1000_i64, 1..1000_i64).prop_map(|(a, b)| {
            let tokens = ["(", &a.to_string(), "+", &b.to_string(), ")", "*", "2"].map(str::to_owned);
            Piece::new(tokens, ((a + b) * 2).to_string())
        }),
    ]
}

fn scalar() -> impl Strategy<Value = Piece> {
    prop_oneof![
        4 => name().prop_map(|name| Piece::new([name.clone()], name)),
        1 => (name(), "x|y|b0|h1|b3210").prop_map(|(name, suffix)| {
            let text = format!("{name}.{suffix}");
            Piece::new([text.clone()], text)
        }),
        2 => number(),
        1 => Just(Piece::new(["_"], "_")),
    ]
}

fn vector() -> impl Strategy<Value = Piece> {
    prop::collection::vec(scalar(), 1..5)
        .prop_map(|all| Piece::join(all, "{", ",", "}", |shape| format!("{{{shape}}}")))
}

fn address() -> impl Strategy<Value = Piece> {
    let more =
        prop::collection::vec(prop_oneof![name().prop_map(|name| Piece::new([name.clone()], name)), vector()], 0..3);
    (name(), any::<Option<i16>>(), more).prop_map(|(name, offset, more)| {
        let mut tokens = vec!["[".to_owned(), name.clone()];
        if let Some(offset) = offset {
            tokens.push("+".to_owned());
            tokens.extend((offset < 0).then(|| "-".to_owned()));
            tokens.push(offset.unsigned_abs().to_string());
        }
        let mut shapes = Vec::new();
        for piece in more {
            tokens.push(",".to_owned());
            tokens.extend(piece.tokens);
            shapes.push(piece.shape);
        }
        tokens.push("]".to_owned());
        Piece::new(tokens, format!("[{name}{:+} {}]", offset.unwrap_or(0), shapes.join(" ")))
    })
}

fn any_operand() -> impl Strategy<Value = Piece> {
    prop_oneof![
        4 => scalar(),
        1 => vector(),
        2 => address(),
        1 => (name(), name()).prop_map(|(a, b)| Piece::new([a.as_str(), "|", b.as_str()], format!("({a}|{b})"))),
        1 => name().prop_map(|name| Piece::new(["!", name.as_str()], format!("!{name}"))),
        1 => name().prop_map(|name| Piece::new(["-", name.as_str()], format!("-{name}"))),
    ]
}

fn any_instruction() -> impl Strategy<Value = Piece> {
    let guard = prop::option::of((name(), any::<bool>()));
    let modifiers = prop::collection::vec("[a-z][a-z0-9]{0,4}|2d|shared::cta|L2::128B|const\\[3\\]", 0..4);
    (guard, "[a-z]{2,5}[0-9]?", modifiers, prop::collection::vec(any_operand(), 0..5))
        .prop_filter("calls are lists", |(_, opcode, ..)| opcode != "call")
        .prop_map(|(guard, opcode, modifiers, operands)| {
            let operands = Piece::join(operands, "", ",", ";", str::to_owned);
            let mut tokens = Vec::new();
            let mut shape = String::new();
            if let Some((register, negated)) = guard {
                tokens.push("@".to_owned());
                tokens.extend(negated.then(|| "!".to_owned()));
                tokens.push(register.clone());
                shape = format!("@{}{register} ", if negated { "!" } else { "" });
            }
            tokens.push(opcode.clone());
            tokens.extend(modifiers.iter().map(|modifier| format!(".{modifier}")));
            tokens.extend(operands.tokens);
            Piece::new(tokens, format!("{shape}{opcode}.{} {}", modifiers.join("."), operands.shape))
        })
}

fn any_init() -> impl Strategy<Value = Piece> {
    number().prop_recursive(3, 30, 5, |inner| {
        prop::collection::vec(inner, 0..5)
            .prop_map(|all| Piece::join(all, "{", ",", "}", |shape| format!("{{{shape}}}")))
    })
}

fn any_variable() -> impl Strategy<Value = Piece> {
    let space = prop::sample::select(vec![
        (".reg", "Reg"),
        (".global", "Global"),
        (".shared", "Shared"),
        (".local", "Local"),
        (".const", "Const"),
    ]);
    let head = (space, prop::option::of(0..8_u32), prop::sample::select(vec![1, 2, 4]), "u32|b8|f64|s16|pred|b128");
    let tail = (name(), prop::option::of(any::<u16>()), prop::collection::vec(prop::option::of(1..99_u64), 0..3));
    (head, tail, prop::option::of(any_init())).prop_map(|((space, align, vector, ty), (name, range, dims), init)| {
        let align = align.map(|log| 1 << log);
        let mut tokens = vec![space.0.to_owned()];
        tokens.extend(align.iter().flat_map(|align: &u32| [".align".to_owned(), align.to_string()]));
        tokens.extend((vector > 1).then(|| format!(".v{vector}")));
        tokens.push(format!(".{ty}"));
        tokens.push(name.clone());
        tokens.extend(range.iter().flat_map(|range| ["<".to_owned(), range.to_string(), ">".to_owned()]));
        for dim in &dims {
            tokens.push("[".to_owned());
            tokens.extend(dim.map(|dim| dim.to_string()));
            tokens.push("]".to_owned());
        }
        let mut shape = String::new();
        if let Some(init) = init {
            tokens.push("=".to_owned());
            tokens.extend(init.tokens);
            shape = init.shape;
        }
        tokens.push(";".to_owned());
        let dims: Vec<_> = dims.iter().map(|dim| format!("{dim:?}")).collect();
        let shape = format!(
            "{} {align:?} v{vector} {ty} {name} <{:?}> [{}] = {shape}",
            space.1,
            range.map(u32::from),
            dims.join(" ")
        );
        Piece::new(tokens, shape)
    })
}

fn any_statement() -> impl Strategy<Value = Piece> {
    let leaf = prop_oneof![
        6 => any_instruction(),
        1 => name().prop_map(|name| Piece::new([name.as_str(), ":"], format!("{name}:"))),
        1 => any_variable(),
        1 => (0..9_u32, any::<u32>(), 0..99_u32).prop_map(|(file, line, column)| {
            let numbers = [file, line, column].map(|number| number.to_string());
            let tokens = [".loc", &numbers[0], &numbers[1], &numbers[2]].map(str::to_owned);
            Piece::new(tokens, format!("loc {file} {line} {column}"))
        }),
    ];
    leaf.prop_recursive(3, 20, 4, |inner| {
        prop::collection::vec(inner, 0..4).prop_map(|all| {
            Piece::join(
                all,
                "{",
                "",
                "}",
                |shape| if shape.is_empty() { "{ }".to_owned() } else { format!("{{ {shape} }}") },
            )
        })
    })
}

fn any_item() -> impl Strategy<Value = Piece> {
    let params = prop::collection::vec((name(), "u32|b64|f32"), 0..4);
    let function =
        (name(), params, prop::collection::vec(any_statement(), 0..12)).prop_map(|(name, params, statements)| {
            let params: Vec<_> = params
                .into_iter()
                .map(|(name, ty)| {
                    let tokens = [".param".to_owned(), format!(".{ty}"), name.clone()];
                    Piece::new(tokens, format!("Param None v1 {ty} {name} <None> [] = "))
                })
                .collect();
            let params = Piece::join(params, "(", ",", ")", str::to_owned);
            let body = Piece::join(statements, "{", "", "}", str::to_owned);
            let mut tokens = vec![".visible".to_owned(), ".entry".to_owned(), name.clone()];
            tokens.extend(params.tokens);
            tokens.extend(body.tokens);
            Piece::new(tokens, format!("Entry {name} ({}) {{{}}}", params.shape, body.shape))
        });
    prop_oneof![2 => function, 1 => any_variable()]
}

/// Prints tokens with something between them; `gaps` chooses what, over and over.
fn print(items: &[Piece], gaps: &[u8]) -> String {
    let prologue = [".version", "8.5", ".target", "sm_90", ".address_size", "64"].map(str::to_owned);
    let tokens = prologue.iter().chain(items.iter().flat_map(|item| &item.tokens));
    let mut text = String::new();
    for (token, gap) in tokens.zip(gaps.iter().cycle()) {
        text.push_str(token);
        text.push_str(match gap % 8 {
            0 => "\n",
            1 => "\r\n\t",
            2 => "/* } ; */",
            3 => " // { ; \" \n",
            4 => "/**/ /* // */\r\n",
            _ => " ",
        });
    }
    text
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn what_is_printed_parses_back(items in prop::collection::vec(any_item(), 0..4), gaps in prop::collection::vec(any::<u8>(), 1..40)) {
        let source = Source::new("random.ptx", print(&items, &gaps));
        let module = match parse::parse(&source) {
            Ok(module) => module,
            Err(errors) => return Err(TestCaseError::fail(format!("{errors}"))),
        };
        let found: Vec<_> = module.items.iter().map(item).collect();
        let expected: Vec<_> = items.iter().map(|item| item.shape.clone()).collect();
        prop_assert_eq!(found, expected);
    }

    #[test]
    fn broken_text_never_panics(
        items in prop::collection::vec(any_item(), 1..3),
        gaps in prop::collection::vec(any::<u8>(), 1..40),
        cuts in prop::collection::vec((any::<prop::sample::Index>(), 0..20_usize, "[ -~\\n]{0,3}|[{}();.\"@]|/\\*|é"), 1..6),
    ) {
        let mut text = print(&items, &gaps);
        for (at, len, new) in cuts {
            let positions: Vec<_> = text.char_indices().map(|(at, _)| at).chain([text.len()]).collect();
            let start = at.index(positions.len());
            let end = (start + len).min(positions.len() - 1);
            text.replace_range(positions[start]..positions[end], &new);
        }
        let source = Source::new("broken.ptx", text);
        if let Err(errors) = parse::parse(&source) {
            prop_assert!(!errors.list.is_empty());
            for error in &errors.list {
                let (start, end) = (error.place().start as usize, error.place().end as usize);
                prop_assert!(start <= end && end <= source.text().len());
                prop_assert!(source.text().is_char_boundary(start) && source.text().is_char_boundary(end));
                prop_assert!(!error.kind.to_string().starts_with("internal error"), "{}", error.kind);
            }
        }
    }

    #[test]
    fn truncated_text_never_panics(items in prop::collection::vec(any_item(), 1..3), at in any::<prop::sample::Index>()) {
        let text = print(&items, &[5]);
        let source = Source::new("cut.ptx", &text[..at.index(text.len())]);
        let _ = parse::parse(&source);
    }

    #[test]
    fn random_text_never_panics(text in any::<String>(), bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        for text in [text, String::from_utf8_lossy(&bytes).into_owned()] {
            for prefix in ["", super::support::PROLOGUE, ".version 8.5 .target sm_90 .entry k() {", ".version 8.5 .target sm_90 .global .b8 x = {"] {
                let source = Source::new("noise.ptx", format!("{prefix}{text}"));
                let _ = parse::parse(&source);
            }
        }
    }
}
