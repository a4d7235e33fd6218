// Looks for a word byte by byte in each of many lines: the place of the first match, or the line's length.
#include "library.h"

extern "C" __global__ void first_match(const u8* __restrict text, const u8* __restrict word, u32* __restrict places, u32 lines,
                                       u32 line_length, u32 word_length) {
    u32 line = blockIdx.x * blockDim.x + threadIdx.x;
    if (line >= lines) return;
    const u8* own = text + line * line_length;
    u32 place = 0;
    for (; place + word_length <= line_length; place++) {
        u32 same = 0;
        while (same < word_length && own[place + same] == word[same]) same++;
        if (same == word_length) break;
    }
    places[line] = place;
}
