// SPDX-License-Identifier: Apache-2.0
// Numbers and layouts are those of LLVM's guide to its AMDGPU backend.
#include "hal/cuda/waves.h"

#include "base/round.h"
#include "base/status.h"

#include <slipring/occupancy.h>

#include <string.h>

// `prefix` of the name: the first that fits. A unit is what the runtime counts: two compute units from gfx10 on.
static const struct unit {
    const char *prefix;
    uint32_t simds, waves;         // of a unit; of a SIMD
    uint32_t vectors, granule;     // a SIMD's registers of a lane, and in which steps a wave has them
    uint32_t written;              // and in which the descriptor counts them
    uint32_t scalars, groups, kib; // of a SIMD, 0: more than enough; of more than a wave, of a unit; shared memory
    bool halves;                   // the registers are those of waves of 32: a wave of 64 takes two for one
} units[] = {
    {"gfx90a", 4, 8, 512, 8, 8, 800, 16, 64, false},   {"gfx94", 4, 8, 512, 8, 8, 800, 16, 64, false},
    {"gfx90", 4, 10, 256, 4, 4, 800, 16, 64, false},   {"gfx101", 4, 20, 1024, 8, 8, 0, 32, 128, true},
    {"gfx103", 4, 16, 1024, 16, 8, 0, 32, 128, true},  {"gfx1100", 4, 16, 1536, 24, 8, 0, 32, 128, true},
    {"gfx1101", 4, 16, 1536, 24, 8, 0, 32, 128, true}, {"gfx11", 4, 16, 1024, 16, 8, 0, 32, 128, true},
};

#define SHARED_GRANULE 512u
#define SCALAR_GRANULE 16u

static slr_status find_unit(const char *architecture, const struct unit **out)
{
    for (size_t i = 0; i < sizeof units / sizeof *units; ++i)
        if (strncmp(architecture, units[i].prefix, strlen(units[i].prefix)) == 0) {
            *out = &units[i];
            return SLR_OK;
        }
    return SLRI_FAIL(UNSUPPORTED, "the registers of a unit of '%s' are not known", architecture);
}

// ---- reading -------------------------------------------------------------------------------------------------------

#define AMDGPU 224 // ELF's number of the machine
#define SYMBOLS 2u
#define DESCRIPTOR_BYTES 64u
#define WAVE32 0x400u // of the descriptor's properties

struct elf_header {
    unsigned char ident[16];
    uint16_t type, machine;
    uint32_t version;
    uint64_t entry, segments, sections;
    uint32_t flags;
    uint16_t header_bytes, segment_bytes, segment_count, section_bytes, section_count, names;
};

struct elf_section {
    uint32_t name, type;
    uint64_t flags, address, offset, bytes;
    uint32_t link, info;
    uint64_t align, entry_bytes;
};

struct elf_symbol {
    uint32_t name;
    unsigned char info, other;
    uint16_t section;
    uint64_t value, bytes;
};

struct code {
    const unsigned char *data;
    size_t bytes;
    struct elf_header header;
};

// A copy: nothing in it need be aligned.
static bool take_out(const struct code *code, uint64_t at, void *out, size_t bytes)
{
    if (at > code->bytes || bytes > code->bytes - at)
        return false;
    memcpy(out, code->data + at, bytes);
    return true;
}

static bool section_at(const struct code *code, uint32_t index, struct elf_section *out)
{
    return index < code->header.section_count && code->header.sections < code->bytes &&
           take_out(code, code->header.sections + (uint64_t)index * sizeof *out, out, sizeof *out);
}

// "NAME.kd"
static bool is_descriptor(const struct code *code, const struct elf_section *names, uint64_t at, const char *name)
{
    char text[4];
    const size_t length = strlen(name);
    const uint64_t from = names->offset + at;
    return from >= names->offset && from < code->bytes && length < code->bytes - from &&
           memcmp(code->data + from, name, length) == 0 && take_out(code, from + length, text, sizeof text) &&
           memcmp(text, ".kd", sizeof text) == 0;
}

static bool find_descriptor(const struct code *code, const char *name, unsigned char out[DESCRIPTOR_BYTES])
{
    struct elf_section symbols, names, home;
    struct elf_symbol symbol;
    for (uint32_t i = 0; section_at(code, i, &symbols); ++i) {
        if (symbols.type != SYMBOLS || !section_at(code, symbols.link, &names))
            continue;
        for (uint64_t at = 0; at < symbols.bytes && take_out(code, symbols.offset + at, &symbol, sizeof symbol);
             at += sizeof symbol)
            if (is_descriptor(code, &names, symbol.name, name) && section_at(code, symbol.section, &home) &&
                symbol.value >= home.address)
                return take_out(code, home.offset + (symbol.value - home.address), out, DESCRIPTOR_BYTES);
    }
    return false;
}

static uint32_t word_of(const unsigned char *at)
{
    uint32_t word;
    memcpy(&word, at, sizeof word);
    return word;
}

slr_status slri_waves_read(const char *architecture, const void *code, size_t bytes, const char *name,
                           struct slri_wave_takes *out)
{
    struct code all = {.data = code, .bytes = bytes};
    const struct unit *unit;
    unsigned char descriptor[DESCRIPTOR_BYTES];
    SLRI_TRY(find_unit(architecture, &unit));
    if (!take_out(&all, 0, &all.header, sizeof all.header) || memcmp(all.header.ident, "\177ELF\2\1", 6) != 0 ||
        all.header.machine != AMDGPU)
        return SLRI_FAIL(UNSUPPORTED, "%s is in no code object of AMD's", name);
    if (!find_descriptor(&all, name, descriptor))
        return SLRI_FAIL(NOT_FOUND, "there is no kernel %s in the code object", name);
    const uint32_t resources = word_of(descriptor + 48);
    const bool is_32 = (word_of(descriptor + 56) & WAVE32) != 0;
    const uint32_t part = unit->halves && !is_32 ? 2 : 1;
    *out = (struct slri_wave_takes){
        .lanes = is_32 ? 32 : 64,
        .vectors = (uint32_t)slri_round_up(((resources & 0x3f) + 1) * (unit->written / part), unit->granule / part),
        .scalars = unit->scalars ? ((resources >> 6 & 0xf) / 2 + 1) * SCALAR_GRANULE : 0,
        .shared_bytes = word_of(descriptor),
        .private_bytes = word_of(descriptor + 4)};
    return SLR_OK;
}

// ---- counting ------------------------------------------------------------------------------------------------------

slr_status slri_waves_count(const char *architecture, const struct slri_wave_takes *takes, uint32_t threads,
                            uint64_t dynamic_bytes, struct slri_wave_fits *out)
{
    const struct unit *unit;
    SLRI_TRY(find_unit(architecture, &unit));
    const uint32_t part = unit->halves && takes->lanes == 64 ? 2 : 1;
    const uint32_t waves = (threads + takes->lanes - 1) / takes->lanes;
    const uint64_t shared = slri_round_up(takes->shared_bytes + dynamic_bytes, SHARED_GRANULE);
    uint32_t by_registers = unit->vectors / part / takes->vectors;
    if (takes->scalars && unit->scalars / takes->scalars < by_registers)
        by_registers = unit->scalars / takes->scalars;
    const uint64_t each[] = {unit->waves * unit->simds / waves, (uint64_t)by_registers * unit->simds / waves,
                             shared ? unit->kib * 1024ull / shared : UINT32_MAX,
                             waves == 1 ? unit->waves * unit->simds : unit->groups};
    uint64_t blocks = UINT32_MAX;
    for (size_t i = 0; i < sizeof each / sizeof *each; ++i)
        blocks = each[i] < blocks ? each[i] : blocks;
    *out = (struct slri_wave_fits){.blocks = (uint32_t)blocks}; // the order is that of slr_occupancy_limit
    for (size_t i = 0; i < sizeof each / sizeof *each; ++i)
        out->limits |= each[i] == blocks ? 1u << i : 0;
    return SLR_OK;
}
