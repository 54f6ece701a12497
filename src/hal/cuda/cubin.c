// SPDX-License-Identifier: Apache-2.0
// Reads cubins, which NVIDIA does not describe. What is relied on here was seen in those of NVRTC 12.4 and 13.0 for 7.5
// to 12.0, beside what ptxas -v says of the same code (tests/cuda/resources_test.c): two layouts of ELF, one of notes.
#include "hal/cuda/cubin.h"
#include "base/status.h"

#include <stdbool.h>
#include <string.h>

#define NVIDIA_CUDA 190 // ELF's number of the machine
#define NOTES 0x70000000u
#define NO_BITS 8u
#define SYMBOLS 2u
#define RESERVED_BYTES 1024u // of shared memory, for the driver: part of .nv.shared.NAME from 9.0 on
#define MOST_BARRIERS 0x7fu

struct header {
    unsigned char ident[16];
    uint16_t type, machine;
    uint32_t version;
    uint64_t entry, segments, sections;
    uint32_t flags;
    uint16_t header_bytes, segment_bytes, segment_count, section_bytes, section_count, names;
};

struct section {
    uint32_t name, type;
    uint64_t flags, address, offset, bytes;
    uint32_t link, info;
    uint64_t align, entry_bytes;
};

struct symbol {
    uint32_t name;
    unsigned char info, other;
    uint16_t section;
    uint64_t value, bytes;
};

// A piece of the file.
struct part {
    const unsigned char *data;
    uint64_t bytes;
};

struct file {
    struct part all;
    struct header header;
    struct part section_names, symbols, symbol_names;
    uint32_t capability;
    bool is_later; // CUDA 13's layout of ELF: capability and barriers are elsewhere, and spills are noted
};

static bool part_of(const struct part *whole, uint64_t offset, uint64_t bytes, struct part *out)
{
    if (offset > whole->bytes || bytes > whole->bytes - offset)
        return false;
    *out = (struct part){whole->data + offset, bytes};
    return true;
}

// A copy: nothing in the file need be aligned.
static bool copy_out(const struct part *from, uint64_t offset, void *to, size_t bytes)
{
    struct part piece;
    if (!part_of(from, offset, bytes, &piece))
        return false;
    memcpy(to, piece.data, bytes);
    return true;
}

static uint32_t word_at(const unsigned char *at)
{
    uint32_t word;
    memcpy(&word, at, sizeof word);
    return word;
}

// The last one ends where they end, which is looked at once: any of them ends by then.
static bool are_texts(const struct part *texts)
{
    return texts->bytes > 0 && texts->data[texts->bytes - 1] == '\0';
}

static const char *text_at(const struct part *texts, uint32_t offset)
{
    return offset < texts->bytes ? (const char *)texts->data + offset : NULL;
}

// ---- sections ------------------------------------------------------------------------------------------------------

static bool get_section(const struct file *file, uint32_t index, struct section *out)
{
    uint64_t at = file->header.sections + (uint64_t)index * sizeof *out;
    return index < file->header.section_count && file->header.sections <= file->all.bytes &&
           copy_out(&file->all, at, out, sizeof *out);
}

static bool get_part(const struct file *file, uint32_t index, struct part *out)
{
    struct section section;
    return get_section(file, index, &section) && section.type != NO_BITS &&
           part_of(&file->all, section.offset, section.bytes, out);
}

// The section of that name, of the kernel `of` where that is not NULL: ".text" of "add" is ".text.add".
static bool find_section(const struct file *file, const char *name, const char *of, struct section *out)
{
    size_t length = strlen(name);
    for (uint32_t i = 0; get_section(file, i, out); i++) {
        const char *text = text_at(&file->section_names, out->name);
        if (!text || strncmp(text, name, length) != 0)
            continue;
        text += length;
        if (of ? *text == '.' && strcmp(text + 1, of) == 0 : *text == '\0')
            return true;
    }
    return false;
}

static bool is_layout(struct file *file)
{
    const struct header *h = &file->header;
    static const unsigned char begin[] = {0x7f, 'E', 'L', 'F', 2, 1, 1}; // 64 bits, the lowest byte first
    if (memcmp(h->ident, begin, sizeof begin) != 0 || h->machine != NVIDIA_CUDA ||
        h->section_bytes != sizeof(struct section))
        return false;
    const unsigned char system = h->ident[7], version = h->ident[8];
    file->is_later = system == 0x41 && version == 8;
    file->capability = file->is_later ? h->flags >> 8 & 0xff : h->flags & 0xff;
    return file->is_later || (system == 0x33 && version == 7);
}

static bool open_file(const void *cubin, size_t bytes, struct file *out)
{
    struct section symbols = {0};
    *out = (struct file){.all = {cubin, bytes}};
    if (!copy_out(&out->all, 0, &out->header, sizeof out->header) || !is_layout(out) ||
        !get_part(out, out->header.names, &out->section_names) || !are_texts(&out->section_names))
        return false;
    for (uint32_t i = 0; symbols.type != SYMBOLS; i++)
        if (!get_section(out, i, &symbols))
            return false;
    return part_of(&out->all, symbols.offset, symbols.bytes, &out->symbols) &&
           get_part(out, symbols.link, &out->symbol_names) && are_texts(&out->symbol_names);
}

static bool is_symbol(const struct file *file, uint32_t index, const char *name)
{
    struct symbol symbol;
    if (!copy_out(&file->symbols, (uint64_t)index * sizeof symbol, &symbol, sizeof symbol))
        return false;
    const char *text = text_at(&file->symbol_names, symbol.name);
    return text && strcmp(text, name) == 0;
}

// ---- notes: what an .nv.info section is made of --------------------------------------------------------------------

struct note {
    uint8_t format, kind; // format 4: a count and as many bytes; else the value itself, if there is one
    uint16_t value;
};

enum {
    NOTE_MOST_THREADS = 0x05, // __launch_bounds__, along x, y and z
    NOTE_FRAME = 0x11,        // of a symbol
    NOTE_STACK = 0x12,        // and of what it calls
    NOTE_PARAMETERS = 0x19,
    NOTE_REGISTERS = 0x2f, // of a symbol
    NOTE_BARRIERS = 0x4c,
    NOTE_ANNOTATIONS = 0x55 // pairs: what it is about, and the place in the code
};

#define FORMAT_BYTES 4
#define ANNOTATION_SPILL 1u // an instruction that stores or loads a register for which there was no room

typedef void take_note(const struct file *file, const struct note *note, const struct part *body, const char *name,
                       slr_resources *out);

static bool each_note(const struct file *file, const struct section *section, take_note *take, const char *name,
                      slr_resources *out)
{
    struct part notes, body;
    struct note note;
    if (section->type != NOTES || !part_of(&file->all, section->offset, section->bytes, &notes))
        return false;
    for (uint64_t at = 0; at < notes.bytes; at += sizeof note + body.bytes) {
        if (!copy_out(&notes, at, &note, sizeof note) ||
            !part_of(&notes, at + sizeof note, note.format == FORMAT_BYTES ? note.value : 0, &body))
            return false;
        take(file, &note, &body, name, out);
    }
    return true;
}

static void raise_to(uint32_t *word, uint32_t value)
{
    if (value > *word)
        *word = value;
}

// Of the whole file: a symbol and a number each.
static void take_of_file(const struct file *file, const struct note *note, const struct part *body, const char *name,
                         slr_resources *out)
{
    if (body->bytes != 8 || !is_symbol(file, word_at(body->data), name))
        return;
    uint32_t value = word_at(body->data + 4);
    if (note->kind == NOTE_REGISTERS)
        raise_to(&out->registers, value);
    else if (note->kind == NOTE_FRAME || note->kind == NOTE_STACK)
        raise_to(&out->stack_bytes, value);
}

static uint32_t count_spills(const struct part *body)
{
    uint32_t count = 0;
    for (uint64_t at = 0; at + 8 <= body->bytes; at += 8)
        count += word_at(body->data + at) == ANNOTATION_SPILL;
    return count;
}

static uint32_t clamp(uint64_t number)
{
    return number < UINT32_MAX ? (uint32_t)number : UINT32_MAX;
}

static uint32_t product(const struct part *body)
{
    uint64_t threads = body->bytes == 12;
    for (uint32_t i = 0; i < body->bytes / 4; i++)
        threads = clamp(threads * word_at(body->data + (size_t)i * 4));
    return (uint32_t)threads;
}

static void take_of_kernel(const struct file *file, const struct note *note, const struct part *body, const char *name,
                           slr_resources *out)
{
    (void)file, (void)name;
    switch (note->kind) {
    case NOTE_MOST_THREADS:
        out->most_threads = product(body);
        break;
    case NOTE_PARAMETERS:
        out->parameter_bytes = note->value;
        break;
    case NOTE_BARRIERS:
        out->barriers = note->value & MOST_BARRIERS;
        break;
    case NOTE_ANNOTATIONS:
        out->spills += count_spills(body);
        break;
    default:
        break;
    }
}

// ---- a kernel ------------------------------------------------------------------------------------------------------

// Static: what the kernel's variables take. The driver's part is in it where the layout of the capability has one.
static void take_shared(const struct file *file, const char *name, slr_resources *out)
{
    struct section section;
    uint64_t bytes = find_section(file, ".nv.shared", name, &section) ? section.bytes : 0;
    uint64_t reserved = file->capability >= 90 ? RESERVED_BYTES : 0;
    out->shared_bytes = clamp(bytes > reserved ? bytes - reserved : 0);
}

// Bank 0 has the parameters, 3 the file's variables, others what the compiler puts there.
static void take_constants(const struct file *file, const char *name, slr_resources *out)
{
    struct section section;
    uint64_t bytes = 0;
    char bank[] = ".nv.constant0";
    for (; bank[12] <= '9'; bank[12]++) {
        if (find_section(file, bank, NULL, &section))
            bytes += clamp(section.bytes);
        if (find_section(file, bank, name, &section))
            bytes += clamp(section.bytes);
    }
    out->constant_bytes = clamp(bytes);
}

static bool read_kernel(const struct file *file, const struct section *code, const char *name, slr_resources *out)
{
    struct section section;
    out->capability = file->capability;
    out->code_bytes = clamp(code->bytes);
    if (!find_section(file, ".nv.info", NULL, &section) || !each_note(file, &section, take_of_file, name, out))
        return false;
    if (find_section(file, ".nv.info", name, &section) && !each_note(file, &section, take_of_kernel, name, out))
        return false;
    if (!file->is_later) { // which has them in the section's flags, and no notes of spills
        out->barriers = (uint32_t)(code->flags >> 20) & MOST_BARRIERS;
        out->spills = SLR_RESOURCE_UNKNOWN;
    }
    take_shared(file, name, out);
    take_constants(file, name, out);
    return out->registers != 0;
}

slr_status slri_cubin_read(const void *cubin, size_t bytes, const char *name, slr_resources *out)
{
    struct file file;
    struct section code;
    slr_resources made = {0};
    if (!open_file(cubin, bytes, &file))
        return SLRI_FAIL(UNSUPPORTED, "the machine code of %s has an unknown layout", name);
    if (!find_section(&file, ".text", name, &code))
        return SLRI_FAIL(NOT_FOUND, "the machine code has no kernel %s", name);
    if (!read_kernel(&file, &code, name, &made))
        return SLRI_FAIL(UNSUPPORTED, "the machine code of %s does not list its resources", name);
    *out = made;
    return SLR_OK;
}
