// SPDX-License-Identifier: Apache-2.0
// See fake_cuda.h. The driver, its devices, and contexts.
#include "fake_cuda_inside.h"

#include <stdio.h>
#include <stdlib.h>

SEEN struct fake_cuda *fake_cuda_words(void);
SEEN void slr_driver_is_simulated(void);
void slr_driver_is_simulated(void)
{
} // that it is there is all

struct fake_cuda *fake_cuda_words(void)
{
    return &fake_cuda;
}

// ---- the driver and its devices ------------------------------------------------------------------------------------

int32_t cuInit(uint32_t flags)
{
    (void)flags;
    CALL(Init);
    return 0;
}

int32_t cuDriverGetVersion(int32_t *version)
{
    CALL(DriverGetVersion);
    *version = 13000;
    return 0;
}

int32_t cuGetErrorName(int32_t number, const char **name)
{
    *name = number == OUT_OF_MEMORY     ? "CUDA_ERROR_OUT_OF_MEMORY"
            : number == ILLEGAL_ADDRESS ? "CUDA_ERROR_ILLEGAL_ADDRESS"
                                        : NULL;
    return *name ? 0 : INVALID_VALUE;
}

int32_t cuDeviceGetCount(int32_t *count)
{
    CALL(DeviceGetCount);
    *count = (int32_t)fake_cuda.devices;
    return 0;
}

int32_t cuDeviceGet(slri_cu_device *device, int32_t number)
{
    CALL(DeviceGet);
    if (number < 0 || (uint32_t)number >= fake_cuda.devices)
        return 101;
    *device = number;
    return 0;
}

int32_t cuDeviceGetName(char *name, int32_t room, slri_cu_device device)
{
    CALL(DeviceGetName);
    snprintf(name, (size_t)room, "Fake GPU %d", device);
    return 0;
}

static void put_uuid(unsigned char uuid[16], slri_cu_device device)
{
    for (int i = 0; i < 16; ++i)
        uuid[i] = (unsigned char)(0xa0 + i + device);
}

int32_t cuDeviceGetUuid(unsigned char uuid[16], slri_cu_device device)
{
    CALL(DeviceGetUuid);
    put_uuid(uuid, device);
    return 0;
}

int32_t cuDeviceGetUuid_v2(unsigned char uuid[16], slri_cu_device device)
{
    CALL(DeviceGetUuid_v2);
    put_uuid(uuid, device);
    return 0;
}

int32_t cuDeviceTotalMem_v2(size_t *bytes, slri_cu_device device)
{
    (void)device;
    CALL(DeviceTotalMem_v2);
    *bytes = (size_t)1 << 30;
    return 0;
}

// An H100's.
int32_t cuDeviceGetAttribute(int32_t *value, int32_t attribute, slri_cu_device device)
{
    static const struct {
        int32_t attribute, value;
    } answers[] = {{1, 1024},   {8, 49152},     {10, 32}, {13, 1980000}, {16, 132},    {17, 0},  {18, 0}, {36, 2619000},
                   {37, 5120},  {38, 52428800}, {40, 3},  {75, 9},       {76, 0},      {41, 1},  {91, 1}, {89, 1},
                   {82, 65536}, {97, 232448},   {133, 0}, {39, 2048},    {81, 233472}, {106, 32}};
    (void)device;
    CALL(DeviceGetAttribute);
    if (fake_cuda.mps && attribute == 133) {
        *value = 1;
        return 0;
    }
    if (fake_cuda.old && attribute == 133)
        return INVALID_VALUE;
    if (fake_cuda.display && attribute == 17) {
        *value = 1;
        return 0;
    }
    if (fake_cuda.separate && (attribute == 41 || attribute == 89)) {
        *value = 0;
        return 0;
    }
    for (size_t i = 0; i < sizeof answers / sizeof *answers; ++i)
        if (answers[i].attribute == attribute) {
            *value = answers[i].value;
            return 0;
        }
    return refuse("DeviceGetAttribute", INVALID_VALUE);
}

static int32_t peer_bit(uint32_t bits, slri_cu_device device, slri_cu_device peer)
{
    return device != peer && (bits >> (4 * device + peer) & 1) != 0;
}

int32_t cuDeviceCanAccessPeer(int32_t *can, slri_cu_device device, slri_cu_device peer)
{
    CALL(DeviceCanAccessPeer);
    *can = peer_bit(fake_cuda.peers, device, peer);
    return 0;
}

int32_t cuDeviceGetP2PAttribute(int32_t *value, int32_t attribute, slri_cu_device from, slri_cu_device to)
{
    CALL(DeviceGetP2PAttribute);
    *value = attribute == 3 && peer_bit(fake_cuda.peer_atomics, from, to);
    return 0;
}

// ---- contexts ------------------------------------------------------------------------------------------------------

static struct object primary[FAKE_CUDA_MOST_DEVICES];

// A thread's contexts, the current one last.
static __thread struct object *stack[16];
static __thread uint32_t depth;

struct object *current(void)
{
    return depth > 0 ? stack[depth - 1] : NULL;
}

static void push(struct object *context)
{
    if (depth == sizeof stack / sizeof *stack)
        abort();
    stack[depth++] = context;
}

static int32_t create_context(slri_cu_context *context, slri_cu_device device)
{
    int32_t error = next_call("CtxCreate_v2");
    if (error != 0)
        return error;
    struct object *made = make(CONTEXT, NULL);
    made->device = device;
    ++fake_cuda.contexts;
    push(made);
    *context = (slri_cu_context)(void *)made;
    return 0;
}

int32_t cuCtxCreate_v2(slri_cu_context *context, uint32_t flags, slri_cu_device device)
{
    (void)flags;
    LOCKED(create_context(context, device));
    return error;
}

int32_t cuCtxDestroy_v2(slri_cu_context context)
{
    struct object *object = (void *)context;
    __atomic_fetch_add(&fake_cuda.destroyed, 1, __ATOMIC_RELEASE);
    end_stays(object); // without the lock: it may take long, and others go on
    pthread_mutex_lock(&lock);
    int32_t gone = object->gone;
    drop_all(object);
    drop(object);
    pthread_mutex_unlock(&lock);
    return gone;
}

static int32_t retain(slri_cu_context *context, slri_cu_device device)
{
    int32_t error = next_call("DevicePrimaryCtxRetain");
    if (error != 0)
        return error;
    primary[device].kind = CONTEXT;
    ++primary[device].retained;
    ++fake_cuda.retained;
    *context = (slri_cu_context)(void *)&primary[device];
    return 0;
}

int32_t cuDevicePrimaryCtxRetain(slri_cu_context *context, slri_cu_device device)
{
    LOCKED(retain(context, device));
    return error;
}

int32_t cuDevicePrimaryCtxGetState(slri_cu_device device, uint32_t *flags, int32_t *active)
{
    pthread_mutex_lock(&lock);
    *flags = 0;
    *active = primary[device].retained != 0;
    pthread_mutex_unlock(&lock);
    return 0;
}

int32_t cuDevicePrimaryCtxRelease_v2(slri_cu_device device)
{
    pthread_mutex_lock(&lock);
    --fake_cuda.retained;
    if (--primary[device].retained == 0) {
        drop_all(&primary[device]);
        primary[device].gone = 0;
    }
    pthread_mutex_unlock(&lock);
    return 0;
}

// A context that is lost when it is made current runs nothing either.
static int32_t push_current(struct object *context)
{
    int32_t error = next_call("CtxPushCurrent_v2");
    if (error == 0)
        push(context);
    else if (fake_cuda.lost)
        lose_stays(context);
    return error;
}

int32_t cuCtxPushCurrent_v2(slri_cu_context context)
{
    LOCKED(push_current((void *)context));
    return error;
}

int32_t cuCtxPopCurrent_v2(slri_cu_context *context)
{
    pthread_mutex_lock(&lock);
    if (depth == 0)
        refuse("CtxPopCurrent_v2", INVALID_CONTEXT);
    else
        *context = (slri_cu_context)(void *)stack[--depth];
    pthread_mutex_unlock(&lock);
    return 0;
}

int32_t cuCtxGetStreamPriorityRange(int32_t *least, int32_t *greatest)
{
    LOCKED(next_in_context("CtxGetStreamPriorityRange"));
    *least = 0;
    *greatest = -5;
    return error;
}
