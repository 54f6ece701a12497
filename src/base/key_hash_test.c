// SPDX-License-Identifier: Apache-2.0
// The tables' hash, against CPython 3.11's, which hashes bytes with SipHash-1-3 and, under PYTHONHASHSEED=0, a secret
// of zeros.
#include "base/key_hash.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

static const struct slri_key_secret zeros;

static void hashes_are_siphash_1_3(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        uint64_t hash;
    } vectors[] = {
        {"a", 0x407448d2b89b1813u},
        {"8 bytes!", 0x63acc66fa7c9b33du},
        {"7 bytes", 0x015b3b18fa1e4af4u},
        {"a key longer than eight bytes", 0xdd6fa163f80809cau},
    };
    for (size_t i = 0; i < sizeof vectors / sizeof vectors[0]; i++)
        assert_true(slri_key_hash_bytes(&zeros, vectors[i].text, strlen(vectors[i].text)) == vectors[i].hash);
}

static void number_hashes_as_its_eight_bytes(void **state)
{
    (void)state;
    const uint64_t number = 0x2173657479622038u; // "8 bytes!", the lowest byte first
    assert_true(slri_key_hash_u64(&zeros, number) == slri_key_hash_bytes(&zeros, "8 bytes!", 8));
}

static void secrets_differ_and_so_do_their_hashes(void **state)
{
    (void)state;
    struct slri_key_secret one, other;
    slri_key_secret_make(&one);
    slri_key_secret_make(&other);
    assert_memory_not_equal(&one, &other, sizeof one);
    assert_true(slri_key_hash_u64(&one, 1) != slri_key_hash_u64(&other, 1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hashes_are_siphash_1_3),
        cmocka_unit_test(number_hashes_as_its_eight_bytes),
        cmocka_unit_test(secrets_differ_and_so_do_their_hashes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
