// SPDX-License-Identifier: Apache-2.0
// Kernels and their pipelines, with a pretended driver whose pipelines are numbers.
#include "engine/loaded.h"
#include "base/status.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

struct kernel {
    struct slri_loaded base;
    uint32_t module; // 0: the driver has none
};

struct driver {
    struct slri_loss loss;
    struct slri_loaded_list list;
    uint64_t made, freed; // pipelines
    uint32_t dropped;     // modules
    bool fails;
};

static slr_status make(void *device, struct slri_loaded *kernel, uint32_t words, uint64_t *native)
{
    struct driver *driver = device;
    if (driver->fails)
        return SLRI_FAIL(COMPILE, "kernel %s does not compile", kernel->name);
    ++driver->made;
    *native = 100 * kernel->number + words;
    return SLR_OK;
}

static void free_one(void *device, uint64_t native)
{
    struct driver *driver = device;
    assert_true(native >= 100);
    ++driver->freed;
}

static void drop(void *device, struct slri_loaded *kernel)
{
    struct driver *driver = device;
    struct kernel *of = (struct kernel *)kernel;
    assert_null(kernel->pipeline); // they go first
    driver->dropped += of->module != 0;
    of->module = 0;
}

static const struct slri_loaded_calls calls = {sizeof(struct kernel), make, free_one, drop};

static void start(struct driver *driver)
{
    *driver = (struct driver){0};
    slri_loss_init(&driver->loss, "here:0");
    driver->list = (struct slri_loaded_list){.call = &calls, .device = driver, .loss = &driver->loss};
    slri_loaded_init(&driver->list);
}

static void end(struct driver *driver)
{
    assert_null(driver->list.first);
    slri_loaded_destroy(&driver->list);
    slri_loss_destroy(&driver->loss);
}

static struct kernel *add(struct driver *driver, const char *name)
{
    void *kernel;
    assert_int_equal(slri_loaded_add(&driver->list, name, &kernel), SLR_OK);
    ((struct kernel *)kernel)->module = 1;
    return kernel;
}

static uint64_t pipeline(struct driver *driver, struct kernel *kernel, uint32_t bytes)
{
    uint64_t native = 0;
    assert_int_equal(slri_loaded_pipeline(&driver->list, &kernel->base, bytes, &native), SLR_OK);
    return native;
}

static void pipeline_is_made_once_for_each_size(void **state)
{
    (void)state;
    struct driver driver;
    start(&driver);
    struct kernel *a = add(&driver, "a"), *b = add(&driver, "b");
    a->base.least_words = 2;
    for (int again = 0; again < 2; ++again) {
        assert_int_equal(pipeline(&driver, a, 0), 102);
        assert_int_equal(pipeline(&driver, a, 8), 102);
        assert_int_equal(pipeline(&driver, a, 9), 103);
        assert_int_equal(pipeline(&driver, b, 9), 200); // it has no such memory
    }
    assert_int_equal(driver.made, 3);
    slri_loaded_remove(&driver.list, a);
    assert_int_equal(driver.freed, 2);
    assert_int_equal(driver.dropped, 1);
    slri_loaded_remove(&driver.list, b);
    assert_int_equal(driver.freed, 3);
    end(&driver);
}

static void failed_pipeline_is_tried_again(void **state)
{
    (void)state;
    struct driver driver;
    uint64_t native = 1;
    start(&driver);
    struct kernel *a = add(&driver, "a");
    a->base.least_words = 1;
    driver.fails = true;
    assert_int_equal(slri_loaded_pipeline(&driver.list, &a->base, 12, &native), SLR_COMPILE);
    assert_non_null(strstr(slr_error_message(), "kernel a does not compile"));
    assert_int_equal(native, 1);
    driver.fails = false;
    assert_int_equal(pipeline(&driver, a, 12), 103);
    slri_loaded_remove(&driver.list, a);
    end(&driver);
}

static void kernel_is_found_by_its_number_until_it_is_removed(void **state)
{
    (void)state;
    struct driver driver;
    char name[16];
    start(&driver);
    struct kernel *a = add(&driver, "a"), *b = add(&driver, "b");
    slri_loaded_name(&driver.list, a->base.number, name, sizeof name);
    assert_string_equal(name, "a");
    slri_loaded_remove(&driver.list, a);
    slri_loaded_name(&driver.list, 1, name, sizeof name);
    assert_string_equal(name, "(unloaded)");
    struct kernel *c = add(&driver, "c"); // its number is new
    assert_int_equal(c->base.number, 3);
    slri_loaded_remove(&driver.list, b);
    slri_loaded_remove(&driver.list, c);
    end(&driver);
}

static void forgotten_kernels_stay_without_the_drivers_objects(void **state)
{
    (void)state;
    struct driver driver;
    start(&driver);
    struct kernel *a = add(&driver, "a"), *b = add(&driver, "b");
    pipeline(&driver, a, 0);
    pipeline(&driver, b, 0);
    slri_loaded_forget(&driver.list);
    assert_int_equal(driver.freed, 2);
    assert_int_equal(driver.dropped, 2);
    slri_loaded_remove(&driver.list, a);
    slri_loaded_remove(&driver.list, b);
    assert_int_equal(driver.freed, 2); // not twice
    assert_int_equal(driver.dropped, 2);
    end(&driver);
}

static void hanging_device_keeps_its_objects(void **state)
{
    (void)state;
    struct driver driver;
    start(&driver);
    struct kernel *a = add(&driver, "a");
    pipeline(&driver, a, 0);
    slri_lose_hung(&driver.loss, NULL);
    slri_loaded_forget(&driver.list);
    slri_loaded_remove(&driver.list, a);
    assert_int_equal(driver.freed, 0);
    assert_int_equal(driver.dropped, 0);
    end(&driver);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pipeline_is_made_once_for_each_size),
        cmocka_unit_test(failed_pipeline_is_tried_again),
        cmocka_unit_test(kernel_is_found_by_its_number_until_it_is_removed),
        cmocka_unit_test(forgotten_kernels_stay_without_the_drivers_objects),
        cmocka_unit_test(hanging_device_keeps_its_objects),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
