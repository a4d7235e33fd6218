//! Variables, parameters and function headers, from matched rules.

use super::error;
use super::literal;
use super::node::{Node, Rule, part};
use crate::ast::{Constant, Directive, Function, FunctionKind, Ident, Linkage, Pointer, StateSpace, Variable};
use crate::diagnostic::{Diagnostic, Span};

/// The directives before the names of a declaration.
pub(super) struct Head<'s> {
    linkage: Option<Linkage>,
    space: StateSpace,
    bank: Option<u32>,
    align: Option<u32>,
    vector: u32,
    ty: Ident<'s>,
    pointer: Option<Pointer>,
    managed: bool,
}

/// The linkage of a declaration from its linkage directives.
pub(super) fn linkage(nodes: &[Node<'_, '_>]) -> Result<Option<Linkage>, Diagnostic> {
    match nodes {
        [] => Ok(None),
        [node] => Ok(Some(match node.text() {
            ".extern" => Linkage::Extern,
            ".visible" => Linkage::Visible,
            ".weak" => Linkage::Weak,
            _ => Linkage::Common,
        })),
        [_, second, ..] => Err(Diagnostic::invalid("a declaration takes one linkage directive only", second.span())),
    }
}

fn space(word: &str) -> Option<StateSpace> {
    Some(match word {
        "reg" => StateSpace::Reg,
        "sreg" => StateSpace::Sreg,
        "const" => StateSpace::Const,
        "global" => StateSpace::Global,
        "local" => StateSpace::Local,
        "param" => StateSpace::Param,
        "shared" => StateSpace::Shared,
        "tex" => StateSpace::Tex,
        _ => return None,
    })
}

fn is_type(word: &str) -> bool {
    let digits = word.trim_start_matches(|letter: char| letter.is_ascii_alphabetic());
    match word.get(..word.len() - digits.len()).unwrap_or_default() {
        "b" => matches!(digits, "8" | "16" | "32" | "64" | "128"),
        "u" | "s" => matches!(digits, "8" | "16" | "32" | "64"),
        "f" => matches!(digits, "16" | "16x2" | "32" | "64"),
        "pred" | "texref" | "samplerref" | "surfref" => digits.is_empty(),
        _ => false,
    }
}

/// Fills a slot, unless it is taken.
fn set<T>(slot: &mut Option<T>, value: T, word: Ident<'_>) -> Result<(), Diagnostic> {
    match slot.replace(value) {
        None => Ok(()),
        Some(_) => Err(Diagnostic::invalid(format!("`.{}` is one too many of its kind here", word.text), word.span)),
    }
}

/// The place of a directive among those before the names of a declaration.
#[derive(Clone, Copy, PartialEq, PartialOrd)]
enum Place {
    /// State space, alignment and attributes, in any order.
    First,
    Vector,
    Type,
    Pointer,
    PointerSpace,
    /// The alignment of a pointer's target, or of a parameter.
    PointerAlign,
}

/// Reads the directives before the names of a declaration. The names start at `names`.
pub(super) fn head<'s>(
    qualifiers: &[Node<'_, 's>],
    linkage: Option<Linkage>,
    names: Span,
) -> Result<Head<'s>, Diagnostic> {
    let (mut in_space, mut bank, mut align, mut vector, mut ty) = (None, None, None, None, None);
    let mut pointer: Option<Pointer> = None;
    let mut managed = false;
    let mut last = Place::First;
    for qualifier in qualifiers {
        let mut parts = qualifier.children();
        let Some(first) = parts.next() else { continue };
        let word = first.inner_ident();
        let place = match (first.rule(), parts.next()) {
            (Rule::attribute, _) => {
                managed |= first.children().any(|item| item.text() == ".managed");
                Place::First
            }
            (Rule::dot_align, Some(number)) => {
                let bytes = literal::small(number.ident())?;
                if !bytes.is_power_of_two() {
                    return Err(Diagnostic::invalid("an alignment must be a power of two", number.span()));
                }
                match &mut pointer {
                    Some(pointer) => set(&mut pointer.align, bytes, word)?,
                    // The largest of several counts.
                    None => align = align.max(Some(bytes)),
                }
                match ty {
                    Some(_) if in_space == Some(StateSpace::Param) => Place::PointerAlign,
                    _ => Place::First,
                }
            }
            (_, Some(node)) if word.text != "const" => return Err(error::expected("a name", node.tight().span)),
            (_, number) => {
                if let Some(number) = number {
                    let number = number.children().next().map_or(Ok(0), |number| literal::small(number.ident()))?;
                    set(&mut bank, number, word)?;
                }
                // Where spaces go: to what a pointer points to, or to the declaration.
                let (slot, place) = match &mut pointer {
                    Some(pointer) => (&mut pointer.space, Place::PointerSpace),
                    None => (&mut in_space, Place::First),
                };
                match word.text {
                    "ptr" => {
                        set(&mut pointer, Pointer { space: None, align: None }, word)?;
                        Place::Pointer
                    }
                    "v2" | "v4" | "v8" => {
                        let elements = literal::small(part(word, 1, word.text.len()))?;
                        set(&mut vector, elements, word)?;
                        Place::Vector
                    }
                    // What points to a texture's, sampler's or surface's handle.
                    "texref" | "samplerref" | "surfref" if place == Place::PointerSpace => {
                        set(slot, StateSpace::Tex, word)?;
                        place
                    }
                    text if place == Place::First && is_type(text) => {
                        set(&mut ty, word, word)?;
                        Place::Type
                    }
                    text => {
                        let space =
                            space(text).ok_or_else(|| error::expected("a state space or type", first.span()))?;
                        set(slot, space, word)?;
                        place
                    }
                }
            }
        };
        if place < last {
            let message = format!("`.{}` comes too late: a vector and then the type stand last", word.text);
            return Err(Diagnostic::invalid(message, word.span));
        }
        last = place;
    }
    let first = qualifiers.first().map_or(names, |first| first.tight().span);
    let space = in_space.ok_or_else(|| error::expected("a state space", first))?;
    let ty = ty.ok_or_else(|| error::expected("a type", names))?;
    Ok(Head { linkage, space, bank, align, vector: vector.unwrap_or(1), ty, pointer, managed })
}

/// One name with its range or dimensions.
pub(super) fn declarator<'s>(node: Node<'_, 's>, head: &Head<'s>) -> Result<Variable<'s>, Diagnostic> {
    let mut variable = Variable {
        linkage: head.linkage,
        space: head.space,
        bank: head.bank,
        align: head.align,
        vector: head.vector,
        ty: head.ty,
        pointer: head.pointer,
        managed: head.managed,
        name: None,
        range: None,
        dims: Vec::new(),
        init: None,
        span: node.tight().span,
    };
    for child in node.children() {
        match child.rule() {
            Rule::identifier => variable.name = Some(child.ident()),
            Rule::range => variable.range = Some(range(child)?),
            Rule::dimension => variable.dims.push(dimension(child)?),
            _ => {}
        }
    }
    Ok(variable)
}

fn range(node: Node<'_, '_>) -> Result<u32, Diagnostic> {
    node.children().next().map_or(Ok(0), |number| literal::small(number.ident()))
}

/// The size that a dimension gives; `[0]` says no more than `[]`.
fn dimension(node: Node<'_, '_>) -> Result<Option<u64>, Diagnostic> {
    let size = match node.children().next() {
        Some(size) if size.rule() == Rule::number => literal::number(size.ident())?,
        Some(size) if size.rule() == Rule::warp_size => return Ok(Some(32)),
        _ => return Ok(None),
    };
    match size {
        Constant::Int { bits, unsigned } if unsigned || i64::try_from(bits).is_ok() => {
            Ok(Some(bits).filter(|bits| *bits != 0))
        }
        _ => Err(Diagnostic::invalid("an array dimension must be an integer that is not negative", node.tight().span)),
    }
}

/// A list of parameters in parentheses.
pub(super) fn parameters<'s>(node: Node<'_, 's>, kind: FunctionKind) -> Result<Vec<Variable<'s>>, Diagnostic> {
    let parameters = node.children().filter(|child| child.rule() == Rule::parameter);
    parameters
        .map(|parameter| {
            // Compilers hide what they pass on their own. That changes nothing here.
            let hidden = parameter.children().find(|child| child.rule() == Rule::dot_hidden);
            if let Some(hidden) = hidden.filter(|_| kind == FunctionKind::Func) {
                return Err(Diagnostic::invalid("only parameters of kernels are `.hidden`", hidden.span()));
            }
            let qualifiers: Vec<_> = parameter.children().filter(|child| child.rule() == Rule::qualifier).collect();
            let mut names = parameter.children().filter(|child| child.rule() == Rule::declarator);
            let name = names.next().ok_or_else(|| error::expected("a name", parameter.span()))?;
            let head = head(&qualifiers, None, name.tight().span)?;
            let variable = declarator(name, &head)?;
            check_parameter(&variable, kind)?;
            Ok(Variable { span: parameter.tight().span, ..variable })
        })
        .collect()
}

/// Refuses parameters in spaces that have none, and vectors in memory.
fn check_parameter(variable: &Variable<'_>, kind: FunctionKind) -> Result<(), Diagnostic> {
    match (variable.space, kind) {
        (StateSpace::Param, _) | (StateSpace::Reg, FunctionKind::Func) => Ok(()),
        (_, FunctionKind::Entry) => {
            Err(Diagnostic::invalid("a kernel's parameters lie in the state space `.param`", variable.span))
        }
        _ => {
            Err(Diagnostic::invalid("a function's parameters lie in the state space `.param` or `.reg`", variable.span))
        }
    }
}

/// A directive with its numbers: `.maxntid 16, 16`.
pub(super) fn directive<'s>(node: Node<'_, 's>) -> Result<Option<Directive<'s>>, Diagnostic> {
    let mut children = node.children();
    let Some(first) = children.next() else {
        return Ok(None);
    };
    match first.rule() {
        Rule::keyword => {
            let values = children.map(|number| literal::small(number.ident())).collect::<Result<_, _>>()?;
            Ok(Some(Directive { name: first.inner_ident(), values, text: None }))
        }
        Rule::pragma => {
            let mut parts = first.children();
            let name = parts.next().map(|name| name.inner_ident());
            let text = parts.next().map(|text| text.inner_ident());
            Ok(name.map(|name| Directive { name, values: Vec::new(), text }))
        }
        _ => Ok(None),
    }
}

/// The header of a function, and whether a body follows.
pub(super) fn function<'s>(
    node: Node<'_, 's>,
    linkage: Option<Linkage>,
    start: Span,
) -> Result<(Function<'s>, bool), Diagnostic> {
    let mut kind = FunctionKind::Func;
    let mut name = None;
    let (mut returns, mut params, mut directives) = (Vec::new(), Vec::new(), Vec::new());
    let mut span = start;
    let mut body = false;
    for child in node.children() {
        match child.rule() {
            Rule::function_kind if child.text() == ".entry" => kind = FunctionKind::Entry,
            Rule::parameters if name.is_some() => params = parameters(child, kind)?,
            Rule::parameters if kind == FunctionKind::Entry => {
                return Err(error::expected("the name of the kernel", child.span()));
            }
            Rule::parameters => returns = parameters(child, kind)?,
            Rule::identifier => name = Some(child.ident()),
            Rule::function_directive => directives.extend(directive(child)?),
            Rule::brace_open => body = true,
            _ => {}
        }
        if !matches!(child.rule(), Rule::brace_open | Rule::semicolon) {
            span.end = child.tight().span.end;
        }
    }
    let name = name.ok_or_else(|| error::expected("a name", node.span()))?;
    Ok((Function { kind, linkage, name, returns, params, directives, body: None, span }, body))
}
