// SPDX-License-Identifier: Apache-2.0
// The hash, against SipHash's reference values (the first ones are the authors' vectors; all agree with OpenSSL's).
#include "base/hash.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

static void hex_of(const uint8_t *data, size_t bytes, size_t piece, char hex[SLRI_HASH_HEX_BYTES])
{
    slri_hash hash;
    slri_hash_init(&hash);
    for (size_t at = 0; at < bytes; at += piece)
        slri_hash_update(&hash, data + at, bytes - at < piece ? bytes - at : piece);
    slri_hash_hex(&hash, hex);
}

static void digests_are_siphash_2_4_128(void **state)
{
    (void)state;
    static const struct {
        size_t bytes;
        const char *hex;
    } vectors[] = {
        {0, "a3817f04ba25a8e66df67214c7550293"},  {1, "da87c1d86b99af44347659119b22fc45"},
        {7, "a1f1ebbed8dbc153c0b84aa61ff08239"},  {8, "3b62a9ba6258f5610f83e264f31497b4"},
        {15, "5493e99933b0a8117e08ec0f97cfc3d9"}, {1000, "79fe0b0c91f03f2e6e1131dd194381f2"},
    };
    uint8_t data[1000];
    char hex[SLRI_HASH_HEX_BYTES];
    for (unsigned i = 0; i < sizeof data; i++)
        data[i] = (uint8_t)(i % 251);
    for (size_t v = 0; v < sizeof vectors / sizeof vectors[0]; v++)
        for (size_t piece = 1; piece < 12; piece++) { // cut differently, hashed the same
            hex_of(data, vectors[v].bytes, piece, hex);
            assert_string_equal(hex, vectors[v].hex);
        }
}

static void fields_are_told_apart_by_where_they_end(void **state)
{
    (void)state;
    slri_hash one, other;
    char one_hex[SLRI_HASH_HEX_BYTES], other_hex[SLRI_HASH_HEX_BYTES];
    slri_hash_init(&one);
    slri_hash_field(&one, "ab", 2);
    slri_hash_field(&one, "c", 1);
    slri_hash_init(&other);
    slri_hash_field(&other, "a", 1);
    slri_hash_field(&other, "bc", 2);
    slri_hash_hex(&one, one_hex);
    slri_hash_hex(&other, other_hex);
    assert_string_not_equal(one_hex, other_hex);
}

static void digest_does_not_end_the_hash(void **state)
{
    (void)state;
    uint8_t data[8] = {0, 1, 2, 3, 4, 5, 6, 7};
    char hex[SLRI_HASH_HEX_BYTES];
    slri_hash hash;
    slri_hash_init(&hash);
    slri_hash_update(&hash, data, 7);
    slri_hash_hex(&hash, hex);
    assert_string_equal(hex, "a1f1ebbed8dbc153c0b84aa61ff08239");
    slri_hash_update(&hash, data + 7, 1);
    slri_hash_hex(&hash, hex);
    assert_string_equal(hex, "3b62a9ba6258f5610f83e264f31497b4");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(digests_are_siphash_2_4_128),
        cmocka_unit_test(fields_are_told_apart_by_where_they_end),
        cmocka_unit_test(digest_does_not_end_the_hash),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
