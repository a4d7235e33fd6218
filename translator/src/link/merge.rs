//! Makes one program of several whose names are resolved: numbers of variables, functions and files count through all modules.

use rustc_hash::{FxHashMap, FxHashSet};

use super::resolve::{Id, Resolved};
use crate::decode::program::{FuncId, ModuleReg, Numbers, Program, VarId};
use crate::decode::refresh;
use crate::diagnostic::Source;
use crate::index::IndexVec;

/// The numbers that a module's variables and functions get.
#[derive(Default)]
struct ModuleNumbers {
    variables: IndexVec<VarId, Option<VarId>>,
    functions: IndexVec<FuncId, Option<FuncId>>,
}

impl Numbers for ModuleNumbers {
    fn variable(&self, id: &mut VarId) {
        if let Some(Some(new)) = self.variables.at(*id) {
            *id = *new;
        }
    }

    fn function(&self, id: &mut FuncId) {
        if let Some(Some(new)) = self.functions.at(*id) {
            *id = *new;
        }
    }
}

/// Joins modules. Replaced declarations are left out.
pub(super) fn merge(source: &Source, modules: Vec<Program>, resolved: &Resolved) -> Program {
    let numbers = number(&modules, resolved);
    let mut merged = Program::default();
    let mut files = 0;
    if let Some(first) = modules.first() {
        merged.version = first.version;
        merged.target = first.target.clone();
        merged.address_bits = first.address_bits;
        merged.address_bits_span = first.address_bits_span;
    }
    for (module, (program, numbers)) in modules.into_iter().zip(&numbers).enumerate() {
        let renumbered = join_files(&mut merged.files, &mut files, program.files);
        for (id, mut variable) in (0..).map(VarId).zip(program.variables) {
            let id = Id::Variable(module, id);
            if resolved.replaced.contains_key(&id) {
                continue;
            }
            variable.align = resolved.alignments.get(&id).copied().unwrap_or(0).max(variable.align);
            variable.renumber(numbers);
            merged.variables.push(variable);
        }
        for (id, mut function) in (0..).map(FuncId).zip(program.functions) {
            if resolved.replaced.contains_key(&Id::Function(module, id)) {
                continue;
            }
            function.renumber(numbers);
            let registers = std::mem::take(&mut function.module_registers).into_iter();
            function.module_registers = registers.map(|(old, own)| (ModuleReg { module, ..old }, own)).collect();
            for line in &mut function.lines {
                let calls = line.calls.iter_mut().map(|(file, _)| file);
                for file in calls.chain([&mut line.file]) {
                    *file = renumbered.get(file).copied().unwrap_or(*file);
                }
            }
            merged.functions.push(function);
        }
    }
    distinguish(source, &mut merged);
    refresh(&mut merged);
    merged
}

/// Numbers the items that are left. An item that is replaced gets the number of its replacement.
fn number(modules: &[Program], resolved: &Resolved) -> Vec<ModuleNumbers> {
    let (mut variables, mut functions) = (0, 0);
    let mut new: FxHashMap<Id, u32> = FxHashMap::default();
    let mut count = |id: Id, next: &mut u32| {
        if !resolved.replaced.contains_key(&id) {
            new.insert(id, *next);
            *next += 1;
        }
    };
    for (module, program) in modules.iter().enumerate() {
        program.variables.indices().for_each(|id| count(Id::Variable(module, id), &mut variables));
        program.functions.indices().for_each(|id| count(Id::Function(module, id), &mut functions));
    }
    let find = |id: Id| new.get(&resolved.find(id)).copied();
    let numbers = |(module, program): (usize, &Program)| ModuleNumbers {
        variables: program.variables.indices().map(|id| find(Id::Variable(module, id)).map(VarId)).collect(),
        functions: program.functions.indices().map(|id| find(Id::Function(module, id)).map(FuncId)).collect(),
    };
    modules.iter().enumerate().map(numbers).collect()
}

/// Adds a module's files to those known, and gives their new numbers by their old ones.
fn join_files(all: &mut FxHashMap<u32, String>, next: &mut u32, files: FxHashMap<u32, String>) -> FxHashMap<u32, u32> {
    let mut renumbered = FxHashMap::default();
    for (number, name) in files {
        renumbered.insert(number, *next);
        all.insert(*next, name);
        *next += 1;
    }
    renumbered
}

/// Of kernels and variables that modules have for themselves under the same name, the first keeps the name for the
/// host; the others are called `name@module`. Names that modules show to each other stay in any case.
fn distinguish(source: &Source, program: &mut Program) {
    let shared = |name: &str, linked: bool| linked.then(|| name.to_owned());
    let variables = program.variables.iter().filter_map(|one| shared(&one.name, one.linkage.is_some()));
    let functions = program.functions.iter().filter_map(|one| shared(&one.name, one.linkage.is_some()));
    let mut taken: FxHashSet<String> = variables.chain(functions).collect();
    let variables = program.variables.iter_mut().filter(|one| !one.in_function && one.linkage.is_none());
    let functions = program.functions.iter_mut().filter(|one| one.body.is_some() && one.linkage.is_none());
    let names = variables.map(|one| (&mut one.name, one.span)).chain(functions.map(|one| (&mut one.name, one.span)));
    for (name, span) in names {
        if !taken.insert(name.clone()) {
            *name = format!("{name}@{}", source.place(span.start).file);
        }
    }
}
