"""Device functions: parameters and results whose addresses are taken, memory by alloca that a return gives back, and the
ways to declare and name functions."""

from .exact import wrap
from .ptx import Family

ELEMENT = """// The word of a struct that an index says.
.func (.param .b32 result) word_of(.param .align 8 .b8 s[32], .param .b32 index)
{
	.reg .b64 %p;
	.reg .b32 %i, %v;
	mov.u64 %p, s;
	ld.param.u32 %i, [index];
	mad.wide.u32 %p, %i, 4, %p;
	ld.local.u32 %v, [%p];
	st.param.b32 [result], %v;
	ret;
}
// The same by way of an offset in the address taken, and bytes.
.func (.param .b32 result) byte_of(.param .align 1 .b8 s[7], .param .b32 index)
{
	.reg .b64 %p, %x;
	.reg .b32 %i, %v;
	mov.u64 %p, s+1;
	ld.param.u32 %i, [index];
	cvt.u64.u32 %x, %i;
	add.u64 %p, %p, %x;
	ld.local.u8 %v, [%p+-1];
	st.param.b32 [result], %v;
	ret;
}
.func (.param .b32 result) total(.param .b64 values)
{
	.reg .b64 %p;
	.reg .b32 %v, %w;
	ld.param.u64 %p, [values];
	ld.u32 %v, [%p];
	ld.u32 %w, [%p+4];
	mad.lo.u32 %v, %w, 3, %v;
	ld.v2.u32 {%w, _}, [%p+8];
	mad.lo.u32 %v, %w, 5, %v;
	st.u32 [%p], %v;
	st.param.b32 [result], %v;
	ret;
}
// Hands a pointer to its own struct on, and looks at what became of it.
.func (.param .b32 result) handed(.param .align 16 .b8 s[16])
{
	.reg .b64 %p, %q;
	.reg .b32 %v, %w;
	mov.u64 %p, s;
	cvta.local.u64 %q, %p;
	{
	.param .b64 given;
	.param .b32 taken;
	st.param.b64 [given], %q;
	call.uni (taken), total, (given);
	ld.param.b32 %v, [taken];
	}
	ld.local.u32 %w, [%p];
	xor.b32 %w, %w, %v;
	ld.local.u32 %v, [%p+12];
	add.u32 %v, %v, %w;
	st.param.b32 [result], %v;
	ret;
}
// Changes its own struct, and finds that so after a call of itself with another.
.func (.param .b32 result) folded(.param .align 16 .b8 s[16], .param .b32 depth)
{
	.reg .pred %p;
	.reg .b64 %s, %q;
	.reg .b32 %n, %i, %v, %w<4>;
	mov.u64 %s, s;
	ld.param.u32 %n, [depth];
	and.b32 %i, %n, 3;
	mad.wide.u32 %q, %i, 4, %s;
	ld.local.u32 %v, [%q];
	mad.lo.u32 %v, %v, 3, %n;
	st.local.u32 [%q], %v;
	setp.eq.u32 %p, %n, 0;
	@%p bra done;
	sub.u32 %i, %n, 1;
	ld.local.v4.u32 {%w0, %w1, %w2, %w3}, [%s];
	{
	.param .align 16 .b8 given[16];
	.param .b32 depth_given;
	.param .b32 taken;
	st.param.v4.b32 [given], {%w1, %w2, %w3, %w0};
	st.param.b32 [depth_given], %i;
	call (taken), folded, (given, depth_given);
	ld.param.b32 %v, [taken];
	}
	ld.local.u32 %w0, [%q];
	ld.local.u32 %w1, [%s+8];
	mad.lo.u32 %v, %v, 5, %w0;
	xor.b32 %v, %v, %w1;
done:
	st.param.b32 [result], %v;
	ret;
}
"""

ROTATED = """// A result that is written in any order.
.func (.param .align 16 .b8 result[16]) rotated(.param .align 16 .b8 s[16], .param .b32 by)
{
	.reg .pred %p;
	.reg .b64 %from, %to, %x;
	.reg .b32 %i, %j, %v, %by;
	mov.u64 %from, s;
	mov.u64 %to, result;
	ld.param.u32 %by, [by];
	mov.u32 %i, 0;
next:
	add.u32 %j, %i, %by;
	and.b32 %j, %j, 3;
	mad.wide.u32 %x, %j, 4, %from;
	ld.local.u32 %v, [%x];
	mad.wide.u32 %x, %i, 4, %to;
	st.local.u32 [%x], %v;
	add.u32 %i, %i, 1;
	setp.lt.u32 %p, %i, 4;
	@%p bra next;
	ret;
}
"""


def call(name, given, taken, tail=""):
    """A call of a function: `given` are pairs of a declaration and lines that store it, `taken` likewise one that loads."""
    lines, names = ["{"], []
    for index, (declaration, stores) in enumerate(given):
        lines += [f".param {declaration.format(f'given{index}')};"]
        names.append(f"given{index}")
    lines += [f".param {taken[0].format('taken')};"]
    for index, (_, stores) in enumerate(given):
        lines += [store.format(f"given{index}") for store in stores]
    return [*lines, f"call.uni (taken), {name}, ({', '.join(names)}){tail};", *(load.format("taken") for load in taken[1]), "}"]


def words(count, align=16):
    """A struct of words that are the operand times 1, 2, 3 …."""
    stores = ["mov.u32 %v, 0;"]
    for index in range(count):
        stores += ["add.u32 %v, %v, %a;", f"st.param.b32 [{{}}+{4 * index}], %v;"]
    return (f".align {align} .b8 {{}}[{4 * count}]", stores)


ONE = (".b32 {}", ["ld.param.b32 %d, [{}];"])


def number(register):
    return (".b32 {}", [f"st.param.b32 [{{}}], {register};"])


def struct(a, count):
    return [wrap(a * (index + 1), "u32") for index in range(count)]


DECLARED = ".reg .u32 %i, %v, %w<4>; .reg .b64 %x;"


def addresses(tables):
    """Parameters and results of device functions whose addresses are taken: they are copied to local memory."""
    family = Family("function_addresses", "Parameters and results of functions whose addresses are taken.", tables, ELEMENT)

    def case(name, body, reference):
        family.elementwise(name, [("u32", "i32_u")], "u32", body, reference, DECLARED)

    case("element", ["and.b32 %i, %a, 7;", *call("word_of", [words(8, 8), number("%i")], ONE)],
         lambda a: struct(a, 8)[a & 7])  # fmt: skip
    bytes_ = (".align 1 .b8 {}[7]", [line for index in range(7) for line in (
        f"shr.u32 %v, %a, {3 * index};", f"st.param.b8 [{{}}+{index}], %v;")])  # fmt: skip
    case("bytes", ["rem.u32 %i, %a, 7;", *call("byte_of", [bytes_, number("%i")], ONE)],
         lambda a: (a >> 3 * (a % 7)) & 255)  # fmt: skip
    case("pointer", call("handed", [words(4)], ONE), lambda a: wrap(struct(a, 4)[3], "u32"))
    def folded(values, n):
        values = list(values)
        place = n & 3
        values[place] = wrap(values[place] * 3 + n, "u32")
        if n == 0:
            return values[place]
        below = folded(values[1:] + values[:1], n - 1)
        return wrap(below * 5 + values[place], "u32") ^ values[2]

    case("recursive", ["and.b32 %i, %a, 15;", *call("folded", [words(4), number("%i")], ONE)],
         lambda a: folded(struct(a, 4), a & 15))  # fmt: skip
    return family


def result_address(tables):
    """A module of its own: CUDA's compiler (12.9) crashes where it stands beside the others."""
    family = Family("function_result_address", "A function's result whose address is taken.", tables, ROTATED)
    four = (".align 16 .b8 {}[16]", ["ld.param.v4.b32 {{%w0, %w1, %w2, %w3}}, [{}];"])
    mix = ["mad.lo.u32 %d, %w0, 7, %w1;", "mad.lo.u32 %d, %d, 7, %w2;", "mad.lo.u32 %d, %d, 7, %w3;"]

    def rotated(a):
        values, result = struct(a, 4), 0
        for index in range(4):
            result = result * 7 + values[(index + a) & 3]
        return wrap(result, "u32")

    body = [*call("rotated", [words(4), number("%a")], four), *mix]
    family.elementwise("result", [("u32", "i32_u")], "u32", body, rotated, DECLARED)
    return family


STACK = """// Fills so many words of memory of its own and gives a sum of them.
.func (.param .b32 result) scratch(.param .b32 first, .param .b32 count)
{
	.reg .pred %p;
	.reg .b64 %m, %x, %n;
	.reg .b32 %a, %i, %c, %v, %sum;
	ld.param.u32 %a, [first];
	ld.param.u32 %c, [count];
	mul.wide.u32 %n, %c, 4;
	alloca.u64 %m, %n;
	mov.u32 %i, 0;
fill:
	mad.wide.u32 %x, %i, 4, %m;
	mad.lo.u32 %v, %i, %i, %a;
	st.local.u32 [%x], %v;
	add.u32 %i, %i, 1;
	setp.lt.u32 %p, %i, %c;
	@%p bra fill;
	mov.u32 %sum, 0;
sum:
	sub.u32 %i, %i, 1;
	mad.wide.u32 %x, %i, 4, %m;
	ld.local.u32 %v, [%x];
	mad.lo.u32 %sum, %sum, 3, %v;
	setp.ne.u32 %p, %i, 0;
	@%p bra sum;
	st.param.b32 [result], %sum;
	ret;
}
// Memory of every activation keeps its content while others take some, and is aligned.
.func (.param .b32 result) nested(.param .b32 first, .param .b32 depth)
{
	.reg .pred %p;
	.reg .b64 %m, %k, %n, %top;
	.reg .b32 %a, %d, %v, %w;
	ld.param.u32 %a, [first];
	ld.param.u32 %d, [depth];
	mad.wide.u32 %n, %d, 4, 4;
	stacksave.u64 %top;
	alloca.u64 %k, 128;
	stackrestore.u64 %top;
	alloca.u64 %m, %n, 32;
	st.local.u32 [%m], %a;
	and.b64 %k, %m, 31;
	cvt.u32.u64 %w, %k;
	setp.eq.u32 %p, %d, 0;
	mov.u32 %v, 1;
	@%p bra done;
	sub.u32 %d, %d, 1;
	mad.lo.u32 %v, %a, 5, %d;
	{
	.param .b32 given;
	.param .b32 depth_given;
	.param .b32 taken;
	st.param.b32 [given], %v;
	st.param.b32 [depth_given], %d;
	call (taken), nested, (given, depth_given);
	ld.param.b32 %v, [taken];
	}
	add.u32 %v, %v, %w;
done:
	ld.local.u32 %w, [%m];
	mad.lo.u32 %v, %v, 7, %w;
	st.param.b32 [result], %v;
	ret;
}
.func (.param .b32 result) single(.param .b32 first, .param .b32 count)
{
	.reg .b64 %m;
	.reg .b32 %a, %b;
	ld.param.u32 %a, [first];
	ld.param.u32 %b, [count];
	alloca.u64 %m, 256;
	st.local.u32 [%m+252], %a;
	add.u32 %a, %a, %b;
	st.local.u32 [%m], %a;
	ld.local.u32 %b, [%m+252];
	add.u32 %a, %a, %b;
	st.param.b32 [result], %a;
	ret;
}
.const .u64 takers[2] = { scratch, single };
"""


def stacks(tables):
    """alloca in functions: what they take is free again when they have returned."""
    family = Family("function_stack", "Memory by alloca in functions that are called.", tables, STACK)
    declared = ".reg .u32 %i, %c, %v, %w; .reg .u64 %m, %f; .reg .pred %p;"

    def case(name, body, reference):
        family.elementwise(name, [("u32", "i32_u")], "u32", body, reference, declared)

    def scratch(a, count):
        result = 0
        for index in reversed(range(count)):
            result = wrap(result * 3 + index * index + a, "u32")
        return result

    def nested(a, depth):
        below = 1 if depth == 0 else nested(wrap(a * 5 + depth - 1, "u32"), depth - 1)
        return wrap(below * 7 + a, "u32")

    # CUDA gives a thread a kilobyte unless told otherwise: this takes a quarter of it, 60 times.
    rounds = [
        "mov.u32 %v, %a;", "mov.u32 %i, 0;", "again:", "and.b32 %c, %i, 1;", "mad.lo.u32 %c, %c, 40, 24;",
        *call("scratch", [number("%v"), number("%c")], ONE), "xor.b32 %v, %v, %d;",
        "add.u32 %i, %i, 1;", "setp.lt.u32 %p, %i, 60;", "@%p bra again;", "mov.u32 %d, %v;",
    ]  # fmt: skip

    def repeated(a):
        for index in range(60):
            a ^= scratch(a, 24 + 40 * (index & 1))
        return a

    case("repeated", rounds, repeated)
    case("recursive", ["and.b32 %i, %a, 3;", *call("nested", [number("%a"), number("%i")], ONE)],
         lambda a: nested(a, a & 3))  # fmt: skip
    pointer = [
        "shape: .callprototype (.param .b32 _) _ (.param .b32 _, .param .b32 _);",
        "alloca.u64 %m, 64;", "st.local.u32 [%m+60], %a;", "mov.u64 %f, takers;", "and.b32 %i, %a, 1;",
        "mad.wide.u32 %f, %i, 8, %f;", "ld.const.u64 %f, [%f];", "mov.u32 %c, 9;",
        *call("%f", [number("%a"), number("%c")], ONE, ", shape"),
        "ld.local.u32 %w, [%m+60];", "xor.b32 %d, %d, %w;",
    ]  # fmt: skip
    case("pointer", pointer, lambda a: a ^ (wrap(2 * a + 9, "u32") if a & 1 else scratch(a, 9)))
    return family


NAMES = """.func (.param .b32 result) sevens(.param .b32 value)
{
	.reg .b32 %v;
	ld.param.b32 %v, [value];
	add.u32 %v, %v, 7;
	st.param.b32 [result], %v;
	ret;
}
.func (.param .b32 result) alias(.param .b32 value);
.alias alias, sevens;
.weak .func (.param .b32 result) feeble(.param .b32 value)
{
	.reg .b32 %v;
	ld.param.b32 %v, [value];
	not.b32 %v, %v;
	st.param.b32 [result], %v;
	ret;
}
.func stop(.param .b64 place) .noreturn
{
	.reg .b64 %p;
	ld.param.u64 %p, [place];
	st.global.u32 [%p], 77;
	exit;
}
.func (.param .b32 result) counted(.param .b32 value, .param .b64 self)
{
	.reg .pred %p;
	.reg .b32 %v, %w;
	.reg .b64 %f;
shape:
	.callprototype (.param .b32 _) _ (.param .b32 _, .param .b64 _);
	ld.param.b32 %v, [value];
	ld.param.b64 %f, [self];
	setp.eq.u32 %p, %v, 0;
	@%p bra done;
	sub.u32 %w, %v, 1;
	{
	.param .b32 given;
	.param .b64 itself;
	.param .b32 taken;
	st.param.b32 [given], %w;
	st.param.b64 [itself], %f;
	call (taken), %f, (given, itself), shape;
	ld.param.b32 %w, [taken];
	}
	mad.lo.u32 %v, %w, 3, %v;
done:
	st.param.b32 [result], %v;
	ret;
}
// As many words as there are, by name and by address.
.func (.param .b32 result) packed(.param .b32 count, .param .align 4 .b8 words[])
{
	.reg .pred %p;
	.reg .b32 %n, %i, %v, %sum;
	.reg .b64 %x, %p0;
	ld.param.b32 %n, [count];
	mov.u32 %sum, 5;
	setp.eq.u32 %p, %n, 0;
	@%p bra done;
	ld.param.b32 %sum, [words];
	mov.u64 %p0, words;
	mov.u32 %i, 1;
next:
	setp.ge.u32 %p, %i, %n;
	@%p bra done;
	mad.wide.u32 %x, %i, 4, %p0;
	ld.local.u32 %v, [%x];
	mad.lo.u32 %sum, %sum, 7, %v;
	add.u32 %i, %i, 1;
	bra next;
done:
	st.param.b32 [result], %sum;
	ret;
}
"""
RESULTS = """.func (.reg .b32 %sum, .reg .b64 %product) both(.reg .b32 %x, .reg .b32 %y)
{
	add.u32 %sum, %x, %y;
	mul.wide.u32 %product, %x, %y;
	ret;
}
"""
TABLE = 200


def names(tables):
    """Aliases, weak and never returning functions, recursion through a pointer, a large table, open arrays."""
    many = "".join(
        f".func (.param .b32 result) f{index}(.param .b32 value)\n{{\n\t.reg .b32 %v;\n\tld.param.b32 %v, [value];\n"
        f"\tmad.lo.u32 %v, %v, {index + 3}, {index};\n\tst.param.b32 [result], %v;\n\tret;\n}}\n"
        for index in range(TABLE)
    )
    table = f".const .u64 table[{TABLE}] = {{ {', '.join(f'f{index}' for index in range(TABLE))} }};\n"
    directives = NAMES + many + table
    family = Family("function_names", "Functions of every kind, and what may be called by which name.", tables, directives)
    declared = ".reg .u32 %i, %v, %w; .reg .u64 %f, %x; .reg .pred %p;"

    def case(name, body, reference):
        family.elementwise(name, [("u32", "i32_u")], "u32", body, reference, declared)

    case("aliased", call("alias", [number("%a")], ONE), lambda a: wrap(a + 7, "u32"))
    shape = ["shape: .callprototype (.param .b32 _) _ (.param .b32 _);"]
    case("aliased_pointer", [*shape, "mov.u64 %f, alias;", *call("%f", [number("%a")], ONE, ", shape")], lambda a: wrap(a + 7, "u32"))
    case("feeble_called", call("feeble", [number("%a")], ONE), lambda a: wrap(~a, "u32"))
    stopped = ["mov.u32 %d, %a;", "and.b32 %i, %a, 1;", "setp.eq.u32 %p, %i, 0;", "@%p bra on;", "{", ".param .b64 given;",
               "st.param.b64 [given], %po;", "call.uni stop, (given);", "}", "on:"]  # fmt: skip
    case("stopped", stopped, lambda a: 77 if a & 1 else a)
    def counted(n):
        return 0 if n == 0 else wrap(counted(n - 1) * 3 + n, "u32")

    itself = (".b64 {}", ["st.param.b64 [{}], %f;"])
    case("own_pointer", ["and.b32 %i, %a, 31;", "mov.u64 %f, counted;", *call("counted", [number("%i"), itself], ONE)],
         lambda a: counted(a & 31))  # fmt: skip
    large = [*shape, f"rem.u32 %i, %a, {TABLE};", "mov.u64 %f, table;", "mad.wide.u32 %f, %i, 8, %f;", "ld.const.u64 %f, [%f];"]
    case("large_table", [*large, *call("%f", [number("%a")], ONE, ", shape")],
         lambda a: wrap(a * (a % TABLE + 3) + a % TABLE, "u32"))  # fmt: skip

    def packed(values):
        result = values[0]
        for value in values[1:]:
            result = result * 7 + value
        return wrap(result, "u32")

    # Calls with arrays of different sizes, and with none.
    body = ["mov.u32 %i, 3;", *call("packed", [number("%i"), words(3, 4)], ONE), "mov.u32 %w, %d;", "mov.u32 %i, 9;"]
    body += [*call("packed", [number("%i"), words(9, 4)], ONE), "xor.b32 %w, %w, %d;", "mov.u32 %i, 0;"]
    body += [*call("packed", [number("%i")], ONE), "add.u32 %d, %d, %w;"]
    case("open_array", body, lambda a: wrap((packed(struct(a, 3)) ^ packed(struct(a, 9))) + 5, "u32"))
    return family


def results(tables):
    """Several results, which only registers can be; CUDA has no stack for calls then."""
    family = Family("function_results", "A function with two results.", tables, RESULTS)
    both = ["mov.u32 %i, 1000003;", "call (%v, %x), both, (%a, %i);", "shr.u64 %x, %x, 13;", "cvt.u32.u64 %w, %x;", "xor.b32 %d, %v, %w;"]
    family.elementwise(
        "two_results", [("u32", "i32_u")], "u32", both, lambda a: wrap(a + 1000003, "u32") ^ wrap(a * 1000003 >> 13, "u32"),
        ".reg .u32 %i, %v, %w; .reg .u64 %x;",
    )
    return family


def short_addresses(tables):
    """Addresses of 32 bits, which modules of 64-bit addresses may have of all memory but global."""
    directives = ".const .align 4 .u32 constants[4] = { 11, 22, 33, 44 };\n"
    family = Family("short_addresses", "Addresses of 32 bits in a module of 64-bit addresses.", tables, directives)
    body = [
        "ld.param.u64 %po, [out];", "mov.u32 %t, %tid.x;", "mad.wide.u32 %po, %t, 16, %po;", "and.b32 %i, %t, 3;",
        "mov.u32 %a, constants;", "mad.lo.u32 %b, %i, 4, %a;", "ld.const.u32 %v, [%b];", "st.global.u32 [%po], %v;",
        "mov.u32 %a, some+4;", "mad.lo.u32 %b, %i, 4, %a;", "ld.param.u32 %v, [%b+-4];", "st.global.u32 [%po+4], %v;",
        "mov.u32 %a, shared;", "mad.lo.u32 %b, %t, 4, %a;", "st.shared.u32 [%b], %t;", "bar.sync 0;", "xor.b32 %c, %t, 1;",
        "mad.lo.u32 %b, %c, 4, %a;", "ld.shared.u32 %v, [%b];", "st.global.u32 [%po+8], %v;",
        "mov.u32 %a, local;", "mad.lo.u32 %b, %i, 4, %a;", "mul.lo.u32 %v, %t, 5;", "st.local.u32 [%b], %v;",
        "ld.local.u32 %v, [%b];", "cvt.u64.u32 %x, %b;", "ld.local.u32 %c, [%x];", "add.u32 %v, %v, %c;",
        "st.global.u32 [%po+12], %v;",
    ]  # fmt: skip
    declared = [
        ".reg .b64 %po, %x;", ".reg .b32 %t, %i, %a, %b, %c, %v;", ".shared .align 4 .b8 shared[128];",
        ".local .align 4 .b8 local[16];",
    ]  # fmt: skip
    family.kernel("spaces", [".param .u64 out", ".param .align 4 .b8 some[16]"], declared, body)
    some = [3, 0x10000, 0x7FFFFFFF, 0xFFFFFFFE]
    expected = [value for t in range(32) for value in (11 * (t % 4 + 1), some[t % 4], t ^ 1, 10 * t)]
    value = b"".join(word.to_bytes(4, "little") for word in some).hex()
    args = [{"type": "u32", "zeros": 128}, {"type": "bytes", "value": value}]
    family.case("spaces", "spaces", args, [{"arg": 0, "data": expected}], block=32)
    return family


def families(tables):
    return [addresses(tables), result_address(tables), stacks(tables), names(tables), results(tables), short_addresses(tables)]
