//! `sink_fused` keeps the meaning of random programs whose arithmetic goes by dot products and whose conditions go by selectors.

use super::optimise::{check, outcome};
use super::program::random_program;
use super::support::Random;
use ptx2spv_translator::internals::ir::{
    Binary, Compare, Function, Op, Stmt, Type, Unary, Value, map_op_operands, verify,
};
use ptx2spv_translator::internals::legalize::sink_fused;
use ptx2spv_translator::internals::opt::convert_ifs;

/// Has dot products of their bits in place of some operations on words.
fn use_dot_products(function: &mut Function, block: &mut Vec<Stmt>) {
    for mut stmt in std::mem::take(block) {
        match &mut stmt {
            Stmt::If { condition, then, otherwise } => {
                use_dot_products(function, then);
                use_dot_products(function, otherwise);
                *condition = by_selector(function, *condition, block);
            }
            Stmt::Loop(body) => use_dot_products(function, body),
            Stmt::Let(value, op @ Op::Binary(Binary::Sub | Binary::Or | Binary::Xor | Binary::Mul, ..))
                if function.type_of(*value) == Type::I32 =>
            {
                let mut floats = Vec::new();
                map_op_operands(*op, |word| {
                    let float = function.value(Type::F32);
                    block.push(Stmt::Let(float, Op::Unary(Unary::Bitcast(Type::F32), word)));
                    floats.push(float);
                    word
                });
                let dot = function.value(Type::F32);
                block.push(Stmt::Let(dot, Op::DotFma(floats[0], floats[1], floats[0])));
                *op = Op::Unary(Unary::Bitcast(Type::I32), dot);
            }
            _ => {}
        }
        block.push(stmt);
    }
}

/// A condition by way of a variable that holds one of two constants, as exits of loops are told apart.
fn by_selector(function: &mut Function, condition: Value, block: &mut Vec<Stmt>) -> Value {
    let mut value = |ty, op| {
        let value = function.value(ty);
        block.push(Stmt::Let(value, op));
        value
    };
    let [holds, fails] = [2, 11].map(|number| value(Type::I32, Op::Const(number)));
    let selected = value(Type::I32, Op::Select(condition, holds, fails));
    let selector = function.var(Type::I32);
    block.push(Stmt::Set(selector, selected));
    let [read, again] = [Type::I32, Type::Bool].map(|ty| function.value(ty));
    block.push(Stmt::Let(read, Op::Get(selector)));
    block.push(Stmt::Let(again, Op::Compare(Compare::Equal, read, holds)));
    again
}

#[test]
fn dot_products_keep_their_meaning_where_they_go() {
    let mut moved = 0;
    for seed in 1..3000 {
        let mut program = random_program(&mut Random::new(seed));
        let mut body = std::mem::take(&mut program.body);
        use_dot_products(&mut program, &mut body);
        program.body = body;
        assert_eq!(verify(&program), Ok(()), "seed {seed}: the program itself");
        let expected = outcome(&program);
        check(&program, &expected, "sink_fused", sink_fused);
        check(&program, &expected, "convert_ifs, sink_fused", |function| {
            convert_ifs(function, 64);
            let before = function.body.clone();
            sink_fused(function);
            moved += usize::from(function.body != before);
        });
    }
    assert!(moved > 1000, "{moved} programs had something to move");
}
