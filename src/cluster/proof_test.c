// SPDX-License-Identifier: Apache-2.0
// Answers and what is stored, in any order, without a server.
#include "cluster/proof.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static unsigned char payloads[SLRI_PROOFS * sizeof(uint64_t)];

static slri_proofs begin(void)
{
    return (slri_proofs){.payloads = payloads, .bytes = sizeof(uint64_t)};
}

static void both_are_a_reply_in_either_order(void **state)
{
    (void)state;
    slri_proofs proofs = begin();
    const uint64_t first = 11, second = 22;
    assert_null(slri_proofs_answered(&proofs, 1, 5, 0, &first));
    const slri_proof *proof = slri_proofs_stored(&proofs, 1, 5);
    assert_non_null(proof);
    assert_int_equal(*(const uint64_t *)proof->payload, 11);
    assert_null(slri_proofs_stored(&proofs, 1, 6));
    proof = slri_proofs_answered(&proofs, 1, 6, 3, &second);
    assert_non_null(proof);
    assert_int_equal(*(const uint64_t *)proof->payload, 22);
    assert_int_equal(proof->status, 3);
}

static void another_log_or_record_proves_nothing(void **state)
{
    (void)state;
    slri_proofs proofs = begin();
    const uint64_t old = 1, new = 2;
    assert_null(slri_proofs_stored(&proofs, 2, 6));
    assert_null(slri_proofs_answered(&proofs, 1, 6, 0, &old)); // of a worker that was stopped
    assert_null(slri_proofs_answered(&proofs, 2, 7, 0, &new));
    assert_null(slri_proofs_answered(&proofs, 1, 7, 0, &old));
    const slri_proof *proof = slri_proofs_stored(&proofs, 2, 7);
    assert_non_null(proof);
    assert_int_equal(*(const uint64_t *)proof->payload, 2);
}

static void the_oldest_makes_room_and_a_new_call_forgets(void **state)
{
    (void)state;
    slri_proofs proofs = begin();
    const uint64_t value = 9;
    assert_null(slri_proofs_answered(&proofs, 1, 1, 0, &value));
    for (uint64_t i = 2; i <= SLRI_PROOFS; ++i)
        assert_null(slri_proofs_stored(&proofs, 1, i));
    assert_non_null(slri_proofs_stored(&proofs, 1, 1));
    for (uint64_t i = 1; i <= SLRI_PROOFS; ++i)
        assert_null(slri_proofs_stored(&proofs, 2, i));
    assert_null(slri_proofs_stored(&proofs, 1, 1)); // its answer made room
    assert_null(slri_proofs_answered(&proofs, 3, 1, 0, &value));
    slri_proofs_forget(&proofs);
    assert_null(slri_proofs_stored(&proofs, 3, 1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(both_are_a_reply_in_either_order),
        cmocka_unit_test(another_log_or_record_proves_nothing),
        cmocka_unit_test(the_oldest_makes_room_and_a_new_call_forgets),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
