//! Integer operations, compared with wider arithmetic for all 8-bit operands.

use super::*;

/// All bytes, with their signed and unsigned values.
fn cells() -> impl Iterator<Item = (u64, i128, u128)> {
    (0..=255_u8).map(|byte| (byte.into(), (byte as i8).into(), byte.into()))
}

fn plain(op: Binary, bits: u8, a: u64, b: u64) -> u64 {
    binary(op, bits, a, b, &FREE, &mut Plain)
}

#[test]
fn bytes_compute_as_wide_integers_do() {
    use Binary as B;
    let byte = |value: i128| Some(value as u64 & 0xff);
    let truth = |value: bool| Some(u64::from(value));
    for (a, sa, ua) in cells() {
        for (b, sb, ub) in cells() {
            let nonzero = b != 0;
            let natural = nonzero && sa >= 0 && sb >= 0;
            // `None` where the result is undefined.
            let expected = [
                (B::IAdd, byte(sa + sb)),
                (B::ISub, byte(sa - sb)),
                (B::IMul, byte(sa * sb)),
                (B::UDiv, nonzero.then(|| (ua / ub) as u64)),
                (B::UMod, nonzero.then(|| (ua % ub) as u64)),
                (B::SDiv, (nonzero && sa / sb < 128).then(|| (sa / sb) as u64 & 0xff)),
                (B::SMod, natural.then(|| sa.rem_euclid(sb) as u64)),
                (B::UMin, byte(ua.min(ub) as i128)),
                (B::UMax, byte(ua.max(ub) as i128)),
                (B::SMin, byte(sa.min(sb))),
                (B::SMax, byte(sa.max(sb))),
                (B::ShiftLeftLogical, (b < 8).then(|| (a << b) & 0xff)),
                (B::ShiftRightLogical, (b < 8).then(|| a >> b)),
                (B::ShiftRightArithmetic, (b < 8).then(|| (sa >> b) as u64 & 0xff)),
                (B::BitwiseAnd, byte(sa & sb)),
                (B::BitwiseOr, byte(sa | sb)),
                (B::BitwiseXor, byte(sa ^ sb)),
                (B::IEqual, truth(sa == sb)),
                (B::INotEqual, truth(sa != sb)),
                (B::UGreaterThan, truth(ua > ub)),
                (B::UGreaterThanEqual, truth(ua >= ub)),
                (B::ULessThan, truth(ua < ub)),
                (B::ULessThanEqual, truth(ua <= ub)),
                (B::SGreaterThan, truth(sa > sb)),
                (B::SGreaterThanEqual, truth(sa >= sb)),
                (B::SLessThan, truth(sa < sb)),
                (B::SLessThanEqual, truth(sa <= sb)),
            ];
            for (op, expected) in expected {
                assert_eq!(domain::binary(op, 8, a, b), expected.is_none(), "{op:?} {a} {b}");
                if let Some(expected) = expected {
                    assert_eq!(plain(op, 8, a, b), expected, "{op:?} {a} {b}");
                    assert_eq!(binary(op, 8, a, b, &FREE, &mut Seeded::new(a)), expected, "{op:?} {a} {b}");
                } else {
                    assert!(plain(op, 8, a, b) <= 0xff, "{op:?} {a} {b}");
                }
            }
            let two = |op| wide(op, 8, a, b);
            let halves = |value: i128| [value as u64 & 0xff, (value >> 8) as u64 & 0xff];
            assert_eq!(two(Wide::UMulExtended), halves((ua * ub) as i128));
            assert_eq!(two(Wide::SMulExtended), halves(sa * sb));
        }
        let one = |op| unary(op, 8, a, &FREE, &mut Plain);
        assert_eq!(one(Unary::SNegate), -sa as u64 & 0xff);
        assert_eq!(one(Unary::Not), 255 - a);
        assert_eq!(one(Unary::BitReverse), u64::from((a as u8).reverse_bits()));
        assert_eq!(one(Unary::BitCount), (0..8).map(|bit| a >> bit & 1).sum::<u64>());
        assert_eq!(one(Unary::FindUMsb), (0..8).rev().find(|bit| a >> bit & 1 == 1).unwrap_or(0xff));
    }
}

#[test]
fn cells_of_all_widths_wrap() {
    for bits in [8_u8, 16, 32, 64] {
        let all = u64::MAX >> (64 - bits);
        let least = 1 << (bits - 1);
        assert_eq!(plain(Binary::IAdd, bits, all, 1), 0);
        assert_eq!(plain(Binary::ISub, bits, 0, 1), all);
        assert_eq!(plain(Binary::IMul, bits, all, all), 1);
        assert_eq!(plain(Binary::SDiv, bits, all, 1), all);
        assert_eq!(plain(Binary::ShiftRightArithmetic, bits, least, u64::from(bits) - 1), all);
        assert_eq!(plain(Binary::SLessThan, bits, least, 0), 1);
        assert_eq!(wide(Wide::UMulExtended, bits, all, all), [1, all - 1]);
        assert_eq!(wide(Wide::SMulExtended, bits, least, least), [0, least / 2]);
        // Undefined, but must not panic.
        for op in [Binary::SDiv, Binary::SMod, Binary::UDiv, Binary::UMod] {
            for b in [0, all] {
                assert!(plain(op, bits, least, b) <= all);
            }
        }
        for op in [Binary::ShiftLeftLogical, Binary::ShiftRightLogical, Binary::ShiftRightArithmetic] {
            for amount in [bits.into(), 64, 65, u64::MAX] {
                assert!(plain(op, bits, all, amount) <= all);
            }
        }
        assert_eq!(unary(Unary::FindUMsb, bits, 0, &FREE, &mut Plain), all);
    }
}

#[test]
fn remainders_have_the_sign_of_the_divisor() {
    // Undefined in Vulkan without maintenance8, but all devices that define the result agree.
    let of = |op, a: i32, b: i32| plain(op, 32, a as u32 as u64, b as u32 as u64) as u32 as i32;
    for (a, b, modulo) in [(-7, 3, 2), (7, -3, -2), (-7, -3, -1), (-6, 3, 0), (6, -3, 0)] {
        assert_eq!(of(Binary::SMod, a, b), modulo, "{a} {b}");
    }
}

#[test]
fn integers_change_width() {
    let to = |op, from, to, a| convert(op, from, to, a, &FREE, &mut Plain);
    assert_eq!(to(Conversion::UConvert, 8, 64, 0x80), 0x80);
    assert_eq!(to(Conversion::UConvert, 64, 16, 0x12_3456), 0x3456);
    assert_eq!(to(Conversion::SConvert, 8, 32, 0x80), 0xffff_ff80);
    assert_eq!(to(Conversion::SConvert, 8, 64, 0x7f), 0x7f);
    assert_eq!(to(Conversion::SConvert, 64, 8, 0xff_ff80), 0x80);
}

#[test]
fn bit_fields_lie_where_they_should() {
    // The expected field, as a list of bits.
    for bits in [8_u64, 32, 64] {
        let (base, other) =
            (0xa5c3_9e17_f00d_d1b2_u64 & mask(bits as u8), 0x5b2e_71a4_3ca9_8f6d_u64 & mask(bits as u8));
        for offset in 0..=bits + 1 {
            for count in 0..=bits + 1 {
                let extracted =
                    ternary(Ternary::BitFieldUExtract, bits as u8, [base, offset, count], &FREE, &mut Plain);
                let inserted = insert_bits(bits as u8, base, other, offset, count, &mut Plain);
                if offset + count > bits {
                    assert!(domain::bit_field(bits as u8, offset, count));
                    assert!(extracted <= mask(bits as u8) && inserted <= mask(bits as u8));
                    continue;
                }
                let bit = |value: u64, at: u64| value >> at & 1;
                let unsigned = (0..count).map(|at| bit(base, offset + at) << at).sum::<u64>();
                assert_eq!(extracted, unsigned, "{offset} {count}");
                let from = |at: u64| {
                    if (offset..offset + count).contains(&at) { bit(other, at - offset) } else { bit(base, at) }
                };
                assert_eq!(inserted, (0..bits).map(|at| from(at) << at).sum::<u64>(), "{offset} {count}");
            }
        }
    }
    assert!(domain::bit_field(32, u64::MAX, u64::MAX));
}

#[test]
fn choices_choose() {
    let of = |op, operands| ternary(op, 32, operands, &FREE, &mut Plain);
    assert_eq!(of(Ternary::Select, [1, 7, 9]), 7);
    assert_eq!(of(Ternary::Select, [0, 7, 9]), 9);
    assert_eq!(of(Ternary::SClamp, [0xffff_fff0, 0xffff_fff8, 3]), 0xffff_fff8);
    assert_eq!(plain(Binary::LogicalAnd, 1, 1, 0), 0);
    assert_eq!(plain(Binary::LogicalOr, 1, 1, 0), 1);
    assert_eq!(unary(Unary::LogicalNot, 1, 1, &FREE, &mut Plain), 0);
}

#[test]
fn undefined_results_are_arbitrary_within_the_width() {
    let mut choice = Seeded::new(1);
    let results: Vec<u64> = (0..64).map(|_| binary(Binary::ShiftLeftLogical, 16, 1, 16, &FREE, &mut choice)).collect();
    assert!(results.iter().all(|result| *result <= 0xffff));
    let ever = results.iter().fold(0, |ever, result| ever | result);
    assert_eq!(ever, 0xffff);
}
