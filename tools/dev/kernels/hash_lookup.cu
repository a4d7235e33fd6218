// Looks keys up in a hash table with open addressing: the place of a key, or where its search ended at an empty place.
#include "library.h"

extern "C" __global__ void hash_lookup(const u32* __restrict table, const u32* __restrict keys, u32* __restrict places, u32 mask) {
    u32 i = blockIdx.x * blockDim.x + threadIdx.x, key = keys[i];
    u32 hash = key * 2654435761u;
    hash ^= hash >> 15;
    u32 place = hash & mask;
    for (u32 found = table[place]; found != key && found % 4 != 0; found = table[place]) place = (place + 1) & mask;
    places[i] = place;
}
