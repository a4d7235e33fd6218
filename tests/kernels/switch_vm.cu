// A switch in a loop: each thread runs a small stack machine on its own program.
#include "cuda_min.h"

enum Op : u8 { PUSH, ADD, SUB, MUL, DUP, SWAP, DROP, JUMP_NOT_ZERO, INPUT, HALT, AND, SHIFT };

// Programs are pairs of bytes (operation, operand), read up to HALT, an error or `limit` steps. Results: top of the
// stack (0 if empty), and how it ended: 0 halt, 1 stack underflow, 2 overflow, 3 unknown operation, 4 out of steps.
extern "C" __global__ void switch_vm(const u8* code, const u32* starts, u32 programs, const i32* inputs, i32* results, u32* ends, u32 limit,
                                     u32 n) {
    u32 thread = blockIdx.x * blockDim.x + threadIdx.x;
    if (thread >= n) return;
    const u8* program = code + starts[thread % programs];
    i32 stack[8];
    u32 depth = 0;
    u32 at = 0;
    u32 end = 4;
    for (u32 step = 0; step < limit; step++) {
        u8 operation = program[2 * at];
        u8 operand = program[2 * at + 1];
        at++;
        u32 needed = 0;
        switch (operation) {
            case ADD: case SUB: case MUL: case SWAP: case AND: needed = 2; break;
            case DUP: case DROP: case JUMP_NOT_ZERO: case SHIFT: needed = 1; break;
        }
        if (depth < needed) {
            end = 1;
            break;
        }
        if (depth == 8 && (operation == PUSH || operation == DUP || operation == INPUT)) {
            end = 2;
            break;
        }
        switch (operation) {
            case PUSH: stack[depth++] = (i8)operand; continue;
            case ADD: depth--; stack[depth - 1] = (i32)((u32)stack[depth - 1] + (u32)stack[depth]); continue;
            case SUB: depth--; stack[depth - 1] = (i32)((u32)stack[depth - 1] - (u32)stack[depth]); continue;
            case MUL: depth--; stack[depth - 1] = (i32)((u32)stack[depth - 1] * (u32)stack[depth]); continue;
            case DUP: stack[depth] = stack[depth - 1]; depth++; continue;
            case SWAP: {
                i32 top = stack[depth - 1];
                stack[depth - 1] = stack[depth - 2];
                stack[depth - 2] = top;
                continue;
            }
            case DROP: depth--; continue;
            case JUMP_NOT_ZERO: if (stack[--depth] != 0) at = operand; continue;
            case INPUT: stack[depth++] = inputs[thread]; continue;
            case AND: depth--; stack[depth - 1] &= stack[depth]; continue;
            case SHIFT: stack[depth - 1] >>= operand & 31; continue;
            case HALT: end = 0; break;
            default: end = 3; break;
        }
        break;
    }
    results[thread] = depth > 0 ? stack[depth - 1] : 0;
    ends[thread] = end;
}
