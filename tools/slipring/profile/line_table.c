// SPDX-License-Identifier: Apache-2.0
// "DWARF Debugging Information Format", version 5, section 6.2. Whatever does not fit ends the unit that it is in.
#define _GNU_SOURCE
#include "profile/line_table.h"

#include "memory.h"

#include <elf.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct line_row {
    uint64_t address;
    uint32_t file, line, order; // file: one more than its place in `files`; 0: here a sequence ends
} line_row;

struct line_table {
    const unsigned char *bytes;
    size_t size;
    line_row *rows;
    size_t row_count, row_room;
    char **files;
    uint32_t file_count;
};

// ---- reading -------------------------------------------------------------------------------------------------------

typedef struct cursor {
    const unsigned char *at, *end;
    bool is_bad;
} cursor;

static uint64_t take(cursor *c, size_t bytes)
{
    uint64_t value = 0;
    if ((size_t)(c->end - c->at) < bytes) {
        c->is_bad = true;
        c->at = c->end;
        return 0;
    }
    memcpy(&value, c->at, bytes);
    c->at += bytes;
    return value;
}

static void skip(cursor *c, uint64_t bytes)
{
    if ((uint64_t)(c->end - c->at) < bytes) {
        c->is_bad = true;
        bytes = (uint64_t)(c->end - c->at);
    }
    c->at += bytes;
}

static uint64_t take_leb(cursor *c, bool is_signed)
{
    uint64_t value = 0, byte;
    unsigned shift = 0;
    do {
        byte = take(c, 1);
        value |= shift < 64 ? (byte & 127) << shift : 0;
        shift += 7;
    } while (byte & 128);
    if (is_signed && (byte & 64) && shift < 64)
        value |= ~UINT64_C(0) << shift;
    return value;
}

static const char *take_text(cursor *c)
{
    const char *text = (const char *)c->at;
    const unsigned char *zero = memchr(c->at, 0, (size_t)(c->end - c->at));
    if (zero == NULL) {
        c->is_bad = true;
        c->at = c->end;
        return "";
    }
    c->at = zero + 1;
    return text;
}

// ---- the file ------------------------------------------------------------------------------------------------------

typedef struct sections {
    cursor line, text, line_text; // .debug_line, .debug_str, .debug_line_str
} sections;

static const void *part_of(const line_table *table, uint64_t at, uint64_t bytes)
{
    return at <= table->size && bytes <= table->size - at ? table->bytes + at : NULL;
}

static const void *headers_of(const line_table *table, uint64_t at, uint64_t bytes)
{
    return at % sizeof(uint64_t) == 0 ? part_of(table, at, bytes) : NULL;
}

static bool is_ours(const Elf64_Ehdr *head)
{
    const uint16_t one = 1;
    unsigned char first;
    memcpy(&first, &one, 1);
    return head != NULL && memcmp(head->e_ident, ELFMAG, SELFMAG) == 0 && head->e_ident[EI_CLASS] == ELFCLASS64 &&
           head->e_ident[EI_DATA] == (first == 1 ? ELFDATA2LSB : ELFDATA2MSB);
}

static void take_section(const line_table *table, const Elf64_Shdr *section, const char *name, sections *out)
{
    const unsigned char *at = part_of(table, section->sh_offset, section->sh_size);
    bool is_plain = at != NULL && section->sh_type == SHT_PROGBITS && !(section->sh_flags & SHF_COMPRESSED);
    cursor *to = strcmp(name, ".debug_line") == 0       ? &out->line
                 : strcmp(name, ".debug_str") == 0      ? &out->text
                 : strcmp(name, ".debug_line_str") == 0 ? &out->line_text
                                                        : NULL;
    if (is_plain && to != NULL)
        *to = (cursor){at, at + section->sh_size, false};
}

static bool find_sections(const line_table *table, sections *out)
{
    const Elf64_Ehdr *head = part_of(table, 0, sizeof *head);
    if (!is_ours(head) || head->e_shentsize != sizeof(Elf64_Shdr) || head->e_shstrndx >= head->e_shnum)
        return false;
    const Elf64_Shdr *all = headers_of(table, head->e_shoff, (uint64_t)head->e_shnum * sizeof *all);
    const Elf64_Shdr *of_names = all != NULL ? &all[head->e_shstrndx] : NULL;
    const char *names = of_names != NULL ? part_of(table, of_names->sh_offset, of_names->sh_size) : NULL;
    if (names == NULL || of_names->sh_size == 0 || names[of_names->sh_size - 1] != '\0')
        return false;
    for (unsigned i = 0; i < head->e_shnum; i++)
        if (all[i].sh_name < of_names->sh_size)
            take_section(table, &all[i], names + all[i].sh_name, out);
    return out->line.at != NULL;
}

// ---- a unit's header -----------------------------------------------------------------------------------------------

enum { MOST_FORMATS = 8, MOST_OPCODES = 64 };

typedef struct unit {
    cursor c;
    unsigned version, offset_bytes, least_step, base, range, opcodes;
    int line_base;
    unsigned char operands[MOST_OPCODES];
    const char **folders;
    uint32_t folder_count, first_file, file_count; // its files lie in the table's from `first_file` on
} unit;

static uint32_t add_file(line_table *table, const unit *u, const char *name, uint64_t folder)
{
    bool has_folder = *name != '/' && folder > 0 && folder < u->folder_count && *u->folders[folder] != '\0';
    char *path = NULL;
    table->files = memory_grow(table->files, table->file_count + 1, sizeof *table->files);
    if (asprintf(&path, "%s%s%s", has_folder ? u->folders[folder] : "", has_folder ? "/" : "", name) < 0)
        path = NULL;
    table->files[table->file_count] = path;
    return table->file_count++;
}

static void add_folder(unit *u, const char *name)
{
    u->folders = memory_grow(u->folders, u->folder_count + 1, sizeof *u->folders);
    u->folders[u->folder_count++] = name;
}

// The first of a version below 5 is the folder of the compilation, and its files count from 1.
static void take_old_names(line_table *table, unit *u)
{
    const char *name;
    add_folder(u, "");
    while (!u->c.is_bad && *(name = take_text(&u->c)) != '\0')
        add_folder(u, name);
    u->first_file = add_file(table, u, "", 0);
    while (!u->c.is_bad && *(name = take_text(&u->c)) != '\0') {
        uint64_t folder = take_leb(&u->c, false);
        take_leb(&u->c, false); // when it was changed, and its length
        take_leb(&u->c, false);
        add_file(table, u, name, folder);
    }
}

static const char *text_at(cursor section, uint64_t offset)
{
    skip(&section, offset);
    return section.at != NULL && !section.is_bad ? take_text(&section) : "";
}

// One field of an entry: a text or a number. An unknown form ends the unit.
static uint64_t take_form(unit *u, const sections *of, uint64_t form, const char **text)
{
    switch (form) {
    case 0x08: // DW_FORM_string, _strp, _line_strp
        *text = take_text(&u->c);
        return 0;
    case 0x0e:
        *text = text_at(of->text, take(&u->c, u->offset_bytes));
        return 0;
    case 0x1f:
        *text = text_at(of->line_text, take(&u->c, u->offset_bytes));
        return 0;
    case 0x0b: // _data1, _data2, _data4, _data8, _data16, _udata, _block
        return take(&u->c, 1);
    case 0x05:
        return take(&u->c, 2);
    case 0x06:
        return take(&u->c, 4);
    case 0x07:
        return take(&u->c, 8);
    case 0x1e:
        skip(&u->c, 16);
        return 0;
    case 0x0f:
        return take_leb(&u->c, false);
    case 0x09:
        skip(&u->c, take_leb(&u->c, false));
        return 0;
    default:
        u->c.is_bad = true;
        return 0;
    }
}

static void take_entries(line_table *table, unit *u, const sections *of, bool are_files)
{
    uint64_t content[MOST_FORMATS], form[MOST_FORMATS];
    unsigned formats = (unsigned)take(&u->c, 1);
    u->c.is_bad |= formats > MOST_FORMATS;
    for (unsigned i = 0; i < formats && !u->c.is_bad; i++) {
        content[i] = take_leb(&u->c, false);
        form[i] = take_leb(&u->c, false);
    }
    uint64_t count = take_leb(&u->c, false);
    for (uint64_t k = 0; k < count && formats > 0 && !u->c.is_bad; k++) {
        const char *name = "", *text = "";
        uint64_t folder = 0;
        for (unsigned i = 0; i < formats && !u->c.is_bad; i++) {
            uint64_t number = take_form(u, of, form[i], &text);
            if (content[i] == 1) // DW_LNCT_path, _directory_index
                name = text;
            else if (content[i] == 2)
                folder = number;
        }
        if (are_files)
            add_file(table, u, name, folder);
        else
            add_folder(u, name);
    }
}

static void take_header(line_table *table, unit *u, const sections *of)
{
    u->version = (unsigned)take(&u->c, 2);
    u->c.is_bad |= u->version < 2 || u->version > 5;
    if (u->version == 5)
        skip(&u->c, 2);
    uint64_t header = take(&u->c, u->offset_bytes);
    cursor program = u->c;
    skip(&program, header);
    u->least_step = (unsigned)take(&u->c, 1);
    skip(&u->c, u->version >= 4 ? 2 : 1); // operations an instruction; whether statements begin
    u->line_base = (signed char)take(&u->c, 1);
    u->range = (unsigned)take(&u->c, 1);
    u->opcodes = (unsigned)take(&u->c, 1);
    u->c.is_bad |= u->range == 0 || u->opcodes == 0 || u->opcodes > MOST_OPCODES;
    for (unsigned i = 1; i < u->opcodes && !u->c.is_bad; i++)
        u->operands[i] = (unsigned char)take(&u->c, 1);
    u->first_file = table->file_count;
    if (u->version < 5)
        take_old_names(table, u);
    else {
        take_entries(table, u, of, false);
        take_entries(table, u, of, true);
    }
    u->file_count = table->file_count - u->first_file;
    u->c.at = program.at;
    u->c.is_bad |= program.is_bad;
}

// ---- a unit's program ----------------------------------------------------------------------------------------------

typedef struct state {
    uint64_t address, file, line; // numbers that wrap, whatever the file holds
} state;

static void add_row(line_table *table, const unit *u, const state *s, bool is_end)
{
    bool is_known = !is_end && s->file < u->file_count && s->line > 0 && s->line < UINT32_MAX;
    if (table->row_count == table->row_room) { // doubled, because a program may have 100,000 rows
        table->row_room = table->row_room ? 2 * table->row_room : 1024;
        table->rows = memory_grow(table->rows, table->row_room, sizeof *table->rows);
    }
    table->rows[table->row_count] = (line_row){s->address, is_known ? u->first_file + (uint32_t)s->file + 1 : 0,
                                               is_known ? (uint32_t)s->line : 0, (uint32_t)table->row_count};
    table->row_count++;
}

static void run_extended(line_table *table, unit *u, state *s)
{
    uint64_t bytes = take_leb(&u->c, false);
    cursor own = u->c;
    skip(&u->c, bytes);
    own.end = u->c.at;
    switch (take(&own, 1)) {
    case 1: // DW_LNE_end_sequence, _set_address
        add_row(table, u, s, true);
        *s = (state){0, 1, 1};
        break;
    case 2:
        s->address = take(&own, own.end - own.at < 8 ? (size_t)(own.end - own.at) : 8);
        break;
    default:
        break;
    }
}

static void run_standard(line_table *table, unit *u, state *s, unsigned opcode)
{
    switch (opcode) {
    case 1: // DW_LNS_copy, _advance_pc, _advance_line, _set_file
        add_row(table, u, s, false);
        break;
    case 2:
        s->address += u->least_step * take_leb(&u->c, false);
        break;
    case 3:
        s->line += take_leb(&u->c, true);
        break;
    case 4:
        s->file = take_leb(&u->c, false);
        break;
    case 8: // _const_add_pc, _fixed_advance_pc
        s->address += (uint64_t)u->least_step * ((255 - u->opcodes) / u->range);
        break;
    case 9:
        s->address += take(&u->c, 2);
        break;
    default:
        for (unsigned i = 0; i < u->operands[opcode]; i++)
            take_leb(&u->c, false);
        break;
    }
}

static void run_program(line_table *table, unit *u)
{
    state s = {0, 1, 1};
    while (!u->c.is_bad && u->c.at < u->c.end) {
        unsigned opcode = (unsigned)take(&u->c, 1);
        if (opcode == 0) {
            run_extended(table, u, &s);
        } else if (opcode < u->opcodes) {
            run_standard(table, u, &s, opcode);
        } else {
            s.address += (uint64_t)u->least_step * ((opcode - u->opcodes) / u->range);
            s.line += (uint64_t)(int64_t)(u->line_base + (int)((opcode - u->opcodes) % u->range));
            add_row(table, u, &s, false);
        }
    }
}

static void read_units(line_table *table, const sections *of)
{
    cursor all = of->line;
    while (all.at < all.end && !all.is_bad) {
        unit u = {.offset_bytes = 4};
        uint64_t bytes = take(&all, 4);
        if (bytes == UINT32_MAX) {
            u.offset_bytes = 8;
            bytes = take(&all, 8);
        }
        u.c = all;
        skip(&all, bytes);
        u.c.end = all.at;
        take_header(table, &u, of);
        run_program(table, &u);
        free(u.folders);
    }
}

// ---- the table -----------------------------------------------------------------------------------------------------

// Where one sequence ends another may begin: the end comes first.
static int by_address(const void *a, const void *b)
{
    const line_row *x = a, *y = b;
    if (x->address != y->address)
        return x->address < y->address ? -1 : 1;
    if ((x->file == 0) != (y->file == 0))
        return x->file == 0 ? -1 : 1;
    return (x->order > y->order) - (x->order < y->order);
}

static bool map_file(const char *path, line_table *out)
{
    struct stat of;
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return false;
    bool is_file = fstat(file, &of) == 0 && S_ISREG(of.st_mode) && of.st_size > 0;
    void *at = is_file ? mmap(NULL, (size_t)of.st_size, PROT_READ, MAP_PRIVATE, file, 0) : MAP_FAILED;
    close(file);
    if (at == MAP_FAILED)
        return false;
    out->bytes = at;
    out->size = (size_t)of.st_size;
    return true;
}

line_table *line_table_open(const char *path)
{
    line_table *table = memory_take(1, sizeof *table);
    sections of = {{0}, {0}, {0}};
    if (map_file(path, table) && find_sections(table, &of))
        read_units(table, &of);
    if (table->row_count == 0) {
        line_table_free(table);
        return NULL;
    }
    qsort(table->rows, table->row_count, sizeof *table->rows, by_address);
    return table;
}

void line_table_free(line_table *table)
{
    if (table == NULL)
        return;
    for (uint32_t i = 0; i < table->file_count; i++)
        free(table->files[i]);
    if (table->bytes != NULL)
        munmap((void *)(uintptr_t)table->bytes, table->size);
    free(table->files);
    free(table->rows);
    free(table);
}

// Where the loader puts what is at this place of the file; UINT64_MAX: nowhere.
static uint64_t address_of(const line_table *table, uint64_t offset)
{
    const Elf64_Ehdr *head = (const void *)table->bytes;
    const Elf64_Phdr *all = headers_of(table, head->e_phoff, (uint64_t)head->e_phnum * sizeof *all);
    for (unsigned i = 0; all != NULL && i < head->e_phnum; i++)
        if (all[i].p_type == PT_LOAD && offset >= all[i].p_offset && offset - all[i].p_offset < all[i].p_filesz)
            return offset - all[i].p_offset + all[i].p_vaddr;
    return UINT64_MAX;
}

// Where the loader puts the file's first byte, as the file has it: 0, unless a program has a fixed place.
static uint64_t base_of(const line_table *table)
{
    const Elf64_Ehdr *head = (const void *)table->bytes;
    const Elf64_Phdr *all = headers_of(table, head->e_phoff, (uint64_t)head->e_phnum * sizeof *all);
    uint64_t least = UINT64_MAX;
    for (unsigned i = 0; all != NULL && i < head->e_phnum; i++)
        if (all[i].p_type == PT_LOAD && all[i].p_vaddr < least)
            least = all[i].p_vaddr;
    return least == UINT64_MAX ? 0 : least & ~(uint64_t)4095;
}

static uint32_t find_address(const line_table *table, uint64_t address, const char **file)
{
    size_t low = 0, high = table->row_count; // the rows below `low` are at or before the address
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (table->rows[middle].address <= address)
            low = middle + 1;
        else
            high = middle;
    }
    if (address == UINT64_MAX || low == 0 || table->rows[low - 1].file == 0)
        return 0;
    const char *name = table->files[table->rows[low - 1].file - 1];
    *file = name != NULL ? name : "";
    return table->rows[low - 1].line;
}

uint32_t line_table_find(const line_table *table, uint64_t offset, const char **file)
{
    return find_address(table, address_of(table, offset), file);
}

uint32_t line_table_find_loaded(const line_table *table, uint64_t offset, const char **file)
{
    return find_address(table, base_of(table) + offset, file);
}
