// SPDX-License-Identifier: Apache-2.0
// WebGPU in a page. What the backend calls is written into a list of words, which page.js executes at once: a
// submission is one call of JavaScript, however many commands it has.
#ifndef SLRI_HAL_WEBGPU_WASM_PAGE_H
#define SLRI_HAL_WEBGPU_WASM_PAGE_H

#include "hal/webgpu/api.h"

#include <stdbool.h>

// One a command; the numbers are the places of `operations` in page.js.
enum slri_page_op {
    SLRI_PAGE_CREATE_BUFFER,
    SLRI_PAGE_CREATE_MODULE,
    SLRI_PAGE_CREATE_GROUP_LAYOUT,
    SLRI_PAGE_CREATE_LAYOUT,
    SLRI_PAGE_CREATE_PIPELINE,
    SLRI_PAGE_CREATE_GROUP,
    SLRI_PAGE_CREATE_QUERIES,
    SLRI_PAGE_CREATE_ENCODER,
    SLRI_PAGE_BEGIN_PASS,
    SLRI_PAGE_SET_PIPELINE,
    SLRI_PAGE_SET_GROUP,
    SLRI_PAGE_DISPATCH,
    SLRI_PAGE_END_PASS,
    SLRI_PAGE_COPY,
    SLRI_PAGE_CLEAR,
    SLRI_PAGE_RESOLVE,
    SLRI_PAGE_FINISH,
    SLRI_PAGE_WRITE,      // the bytes are elsewhere
    SLRI_PAGE_WRITE_HERE, // they follow
    SLRI_PAGE_SUBMIT,
    SLRI_PAGE_MAP,
    SLRI_PAGE_AWAIT,
    SLRI_PAGE_DESTROY,
    SLRI_PAGE_RELEASE,
};

#define SLRI_PAGE_LIMITS 12u
struct slri_page_adapter { // page.js writes it
    char name[64], description[96];
    uint32_t id, is_software, has_stamps, unused;
    double limit[SLRI_PAGE_LIMITS]; // in the order of `limits` in page.js
};

// What JavaScript tells of later, by the status.
struct slri_page_ticket {
    uint32_t status; // 0: not yet; or WGPUMapAsyncStatus_Success; else a failure
    const void *device;
    void (*call)(uint32_t status, WGPUStringView message, void *userdata1, void *userdata2); // NULL: nobody listens
    void *userdata1, *userdata2;
    struct slri_page_ticket *next;
};

// ---- list.c --------------------------------------------------------------------------------------------------------

uint32_t slri_page_id(void); // of a new object
void slri_page_put(enum slri_page_op op, const uint32_t *word, uint32_t words);
// The same with words of bytes behind, which are taken now.
void slri_page_put_bytes(enum slri_page_op op, const uint32_t *word, uint32_t words, const void *bytes, size_t count);
bool slri_page_holds(size_t bytes); // whether a list has room for so many
void slri_page_send(void);          // has the list executed
void slri_page_check(void);         // the same, and waits for what page.js is told of what it created
void slri_page_turn(void);          // the page's other work, until JavaScript has told of something
uint32_t slri_page_find_adapter(struct slri_page_adapter *out); // 1, or 0: there is none
uint32_t slri_page_open_device(uint32_t adapter, uint32_t device, char *why, uint32_t room);

// 0: there is none to tell of; or a WGPUErrorType, or SLRI_PAGE_LOST.
#define SLRI_PAGE_LOST 100u
uint32_t slri_page_take_error(uint32_t *device, char *text, uint32_t room);
extern uint64_t slri_page_calls; // of JavaScript, but for turns

// ---- calls.c -------------------------------------------------------------------------------------------------------

void slri_page_fill(struct slri_wg_library *library); // with its functions

#endif
