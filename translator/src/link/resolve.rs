//! Finds the declarations of several modules that mean the same, and the one of them that counts.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::ast::{FunctionKind, Linkage, StateSpace};
use crate::decode::program::{FuncId, Function, Operand, Program, VarId, Variable};
use crate::diagnostic::{Diagnostic, Span};
use crate::isa::types::Class;

/// A variable or function of a module, by the module's number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Id {
    Variable(usize, VarId),
    Function(usize, FuncId),
}

/// The replacements of declarations that don't count.
pub(super) struct Resolved {
    /// The replacement of each replaced declaration; the others stay as they are.
    pub replaced: FxHashMap<Id, Id>,
    /// Alignments that variables get beside their own, since some module relies on them.
    pub alignments: FxHashMap<Id, u32>,
}

/// A declaration that other modules see.
#[derive(Clone, Copy)]
struct Declared<'p> {
    id: Id,
    /// Whether `id` is another function, which the declared alias stands for.
    alias: bool,
    linkage: Linkage,
    /// Whether the module's code or variables refer to the declaration; variables always count as used.
    used: bool,
    is: Is<'p>,
}

/// The declared variable or function.
#[derive(Clone, Copy)]
enum Is<'p> {
    Variable(&'p Variable),
    /// A function, as it is declared, and whether the module defines it.
    Function(&'p Function, bool),
}

/// Finds the meaning of each name.
pub(super) fn resolve(modules: &[Program]) -> Result<Resolved, Vec<Diagnostic>> {
    let mut errors = Vec::new();
    if let Some(other) =
        modules.iter().find(|other| modules.first().is_some_and(|first| first.address_bits != other.address_bits))
    {
        let message = "modules with addresses of 32 and of 64 bits can't be linked";
        errors.push(Diagnostic::invalid(message, other.address_bits_span));
    }
    let mut names: Vec<&str> = Vec::new();
    let mut table: FxHashMap<&str, Vec<Declared<'_>>> = FxHashMap::default();
    for (number, module) in modules.iter().enumerate() {
        for (name, declared) in declarations(number, module) {
            table.entry(name).or_insert_with(|| {
                names.push(name);
                Vec::new()
            });
            table.entry(name).and_modify(|list| list.push(declared));
        }
    }
    let mut resolved = Resolved { replaced: FxHashMap::default(), alignments: FxHashMap::default() };
    let mut aliases = Vec::new();
    for name in names {
        let list = table.get(name).map(Vec::as_slice).unwrap_or_default();
        match choose(name, list) {
            Ok(chosen) => {
                let others = list.iter().filter(|other| other.id != chosen);
                resolved.replaced.extend(others.clone().filter(|other| !other.alias).map(|other| (other.id, chosen)));
                aliases.extend(others.filter(|other| other.alias).map(|other| (*other, chosen)));
                let align = list.iter().filter_map(|one| match one.is {
                    Is::Variable(variable) => Some(variable.align),
                    Is::Function(..) => None,
                });
                resolved.alignments.extend(align.max().map(|align| (chosen, align)));
            }
            Err(error) => errors.push(error),
        }
    }
    // Uses of an alias in its own module are uses of what it stands for, which must not have a meaning of its own.
    let torn = aliases.iter().filter(|(alias, chosen)| resolved.find(alias.id) != resolved.find(*chosen));
    errors.extend(torn.map(|(alias, _)| {
        Diagnostic::unsupported("an alias that the definition in another module replaces", alias.span())
    }));
    if errors.is_empty() { Ok(resolved) } else { Err(errors) }
}

impl Resolved {
    /// The final meaning of a declaration: the replacement of an alias may be replaced itself.
    pub(super) fn find(&self, id: Id) -> Id {
        let next = |id: &Id| self.replaced.get(id).copied();
        std::iter::successors(Some(id), next).take(self.replaced.len() + 1).last().unwrap_or(id)
    }
}

/// The declarations that a module shows to others or needs of them. Dynamic shared memory is one area whatever its
/// name.
fn declarations(number: usize, module: &Program) -> impl Iterator<Item = (&str, Declared<'_>)> {
    let variables = (0..).map(VarId).zip(&module.variables).filter_map(move |(id, variable)| {
        let linkage = variable.linkage.filter(|_| !variable.in_function)?;
        let dynamic = variable.space == StateSpace::Shared && variable.unsized_array;
        let declared =
            Declared { id: Id::Variable(number, id), alias: false, linkage, used: true, is: Is::Variable(variable) };
        (!dynamic).then_some((variable.name.as_str(), declared))
    });
    let used = used_functions(module);
    let functions = (0..).map(FuncId).zip(&module.functions).filter_map(move |(id, function)| {
        let linkage = function.linkage?;
        // An alias is defined by the function that it stands for.
        let alias = module.aliases.iter().find(|(name, _)| *name == id).map(|(_, target)| *target);
        let defined = alias.is_some() || function.body.is_some();
        let is = Is::Function(function, defined);
        let used = used.contains(&id);
        let alias_of = alias.unwrap_or(id);
        let declared = Declared { id: Id::Function(number, alias_of), alias: alias.is_some(), linkage, used, is };
        Some((function.name.as_str(), declared))
    });
    variables.chain(functions)
}

/// The functions that a module calls, or whose addresses it has.
fn used_functions(module: &Program) -> FxHashSet<FuncId> {
    let called = module.functions.iter().flat_map(Function::operands).flat_map(|operand| match operand {
        Operand::Function(id) => std::slice::from_ref(id),
        Operand::Targets(targets) => targets.functions.as_deref().unwrap_or_default(),
        _ => &[],
    });
    called.chain(&module.address_taken).copied().collect()
}

impl Declared<'_> {
    fn size(self) -> u64 {
        match self.is {
            Is::Variable(variable) => variable.size,
            Is::Function(..) => 0,
        }
    }

    fn span(self) -> Span {
        match self.is {
            Is::Variable(variable) => variable.span,
            Is::Function(function, _) => function.span,
        }
    }

    fn is_definition(self) -> bool {
        match self.is {
            Is::Variable(_) => self.linkage != Linkage::Extern,
            Is::Function(_, defined) => defined,
        }
    }

    fn is_common(self) -> bool {
        self.linkage == Linkage::Common
    }
}

/// The declaration that counts.
fn choose(name: &str, list: &[Declared<'_>]) -> Result<Id, Diagnostic> {
    let definitions = list.iter().copied().filter(|one| one.is_definition());
    let strong: Vec<Declared<'_>> =
        definitions.clone().filter(|one| !matches!(one.linkage, Linkage::Weak | Linkage::Common)).collect();
    if let [first, second, ..] = strong[..] {
        return Err(contradiction("Multiple definition of", name, second, first));
    }
    let weak = definitions.clone().find(|one| one.linkage == Linkage::Weak);
    let common = definitions.filter(|one| one.is_common());
    if let (Some(weak), Some(common), []) = (weak, common.clone().next(), &strong[..]) {
        return Err(contradiction("`.weak` and `.common` definitions of", name, common, weak));
    }
    // Of equally large ones the first.
    let largest = common.rev().max_by_key(|one| one.size());
    let Some(chosen) = strong.first().copied().or(weak).or(largest) else {
        // A function without calls needn't be defined.
        let used = list.iter().find(|one| matches!(one.is, Is::Variable(_)) || one.used);
        return match (used, list.first()) {
            (Some(used), _) if !is_provided(name) => Err(undefined(name, used.span())),
            (_, Some(first)) => Ok(first.id),
            (_, None) => Err(Diagnostic::internal(format!("`{name}` without a declaration"), None)),
        };
    };
    for other in list.iter().copied().filter(|other| other.id != chosen.id) {
        if let Some(what) = disagreement(chosen, other) {
            let (first, second) =
                if other.span().start < chosen.span().start { (other, chosen) } else { (chosen, other) };
            return Err(contradiction(what, name, second, first));
        }
    }
    Ok(chosen.id)
}

/// Two places that can't both be right.
fn contradiction(what: &str, name: &str, place: Declared<'_>, first: Declared<'_>) -> Diagnostic {
    Diagnostic::invalid(format!("{what} `{name}`"), place.span()).with_related(first.span(), "first declared here")
}

fn undefined(name: &str, span: Span) -> Diagnostic {
    let error = Diagnostic::invalid(format!("Undefined reference to `{name}`"), span);
    if name.starts_with("__nv_") {
        let help =
            "CUDA's mathematical functions come in bitcode (libdevice), which compilers link before they write PTX";
        return error.with_help(help);
    }
    error
}

/// The point in which a declaration contradicts the one that counts.
fn disagreement(chosen: Declared<'_>, other: Declared<'_>) -> Option<&'static str> {
    match (chosen.is, other.is) {
        (Is::Variable(a), Is::Variable(b)) => {
            // A `.common` one may be smaller than what counts.
            let fits = if other.is_common() { b.size <= a.size } else { b.size == a.size };
            match () {
                () if a.space != b.space => Some("Memory space doesn't match for"),
                () if a.managed != b.managed => Some("Managed attribute doesn't match for"),
                () if fits || a.unsized_array || b.unsized_array => None,
                () if other.is_common() => Some("A `.common` declaration has a larger size than the definition of"),
                () => Some("Size doesn't match for"),
            }
        }
        (Is::Function(a, _), Is::Function(b, _)) if a.kind != b.kind => Some("`.entry` and `.func` are both said of"),
        (Is::Function(a, _), Is::Function(b, _)) => {
            // A function that a module declares and doesn't call is nothing to its linker.
            let called = other.used || other.is_definition();
            (called && prototype(a) != prototype(b)).then_some("Prototype doesn't match for")
        }
        _ => Some("Memory space doesn't match for"),
    }
}

/// The shapes of a function's results and parameters; kernels have no prototype, since they are not called.
fn prototype(function: &Function) -> Option<(Vec<Shape>, Vec<Shape>)> {
    if function.kind == FunctionKind::Entry {
        return None;
    }
    let shapes = |from: usize, count: usize| {
        let list = function.params.iter().skip(from).take(count);
        list.map(|param| Shape {
            bytes: (!param.open).then_some(param.size),
            array: param.array,
            float: !param.array && param.ty.class() == Class::Float,
            register: param.register.is_some(),
        })
        .collect()
    };
    Some((shapes(0, function.formals), shapes(function.formals, function.results)))
}

/// The way in which a parameter or result is passed: floats otherwise than integers, arrays otherwise than either.
/// Alignments may differ.
#[derive(PartialEq, Eq)]
struct Shape {
    /// `None` for an array without a size.
    bytes: Option<u32>,
    array: bool,
    float: bool,
    register: bool,
}

/// Whether CUDA's driver, or its library for launches from kernels, has a function of that name. Whether this
/// translator has the function too is checked for the kernels that call it.
pub(super) fn is_provided(name: &str) -> bool {
    const NAMES: &[&str] = &["vprintf", "malloc", "free", "__assertfail"];
    const PREFIXES: &[&str] = &["__cuda", "cuda", "cnp"];
    NAMES.contains(&name) || PREFIXES.iter().any(|prefix| name.starts_with(prefix))
}
