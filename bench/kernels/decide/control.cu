// SPDX-License-Identifier: Apache-2.0
// Much control flow: each thread reads a document, character by character, and what it does with one hangs on it and on
// those before.
__global__ void control(const unsigned char *text, const unsigned char *more, unsigned *out, int documents)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= documents) return;
    int end = 3900 + more[i];
    unsigned depth = 0, number = 0, words = 0, hash = 2166136261u;
    for (int at = 0; at < end; at++) {
        unsigned c = text[i * 4000 + at];
        if (c < 20) {
            hash = (hash ^ c) * 16777619u;
            if (hash & 1) words++;
            else hash ^= hash >> 13;
        } else if (c < 40) {
            number = number * 10 + c % 10;
            while (number > 1000) number = number % 997 + number / 997;
        } else if (c < 55) {
            depth++;
            hash += depth * 31 + number;
        } else if (c < 70) {
            if (depth > 0) depth--;
            else words ^= number;
        } else if (c < 85) {
            for (unsigned k = c & 3; k > 0; k--) hash = hash << 5 ^ hash >> 27 ^ k;
        } else if (c < 95)
            words += hash & 7;
        else
            number = 0;
    }
    out[i] = hash ^ words ^ number ^ depth;
}
