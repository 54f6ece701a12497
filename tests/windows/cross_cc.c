// SPDX-License-Identifier: Apache-2.0
// The C compiler that programs find under Wine (SLIPRING_CC): a program of Windows that passes its arguments on to the
// cross compiler of the machine below. Wine can start a program of Linux, but gives neither its output nor its end. So
// this writes a script for the shell, which leaves both in files. "X:" paths become paths of Linux.
#define WIN32_LEAN_AND_MEAN
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <windows.h>

#define COMPILER "x86_64-w64-mingw32-gcc-posix"
#define WAIT_MS 600000

typedef char *CDECL path_function(const WCHAR *path); // Wine's own, of kernel32

static path_function *to_linux;

static int fail(const char *what)
{
    fprintf(stderr, "cross_cc: %s (error %lu)\n", what, GetLastError());
    return 127;
}

// In quotes for the shell.
static void put_word(FILE *script, const char *word)
{
    fputc('\'', script);
    for (; *word; ++word)
        fputs(*word == '\'' ? "'\\''" : (char[]){*word, '\0'}, script);
    fputs("' ", script);
}

static void put_argument(FILE *script, const char *argument)
{
    WCHAR wide[1024];
    char *path = NULL;
    if (argument[0] != '\0' && argument[1] == ':' && MultiByteToWideChar(CP_ACP, 0, argument, -1, wide, 1024) > 0)
        path = to_linux(wide);
    put_word(script, path ? path : argument);
    if (path)
        HeapFree(GetProcessHeap(), 0, path);
}

static int write_script(const char *base, char **argv)
{
    char name[MAX_PATH + 16];
    snprintf(name, sizeof name, "%s.sh", base);
    FILE *script = fopen(name, "wb");
    if (!script)
        return 0;
    fputs(COMPILER " ", script);
    for (char **word = argv + 1; *word; ++word)
        put_argument(script, *word);
    fputs("> ", script);
    snprintf(name, sizeof name, "%s.said", base);
    put_argument(script, name);
    fputs("2>&1 < /dev/null\necho $? > ", script);
    snprintf(name, sizeof name, "%s.now", base);
    put_argument(script, name);
    fputs("\nmv ", script); // whole when it is there
    put_argument(script, name);
    snprintf(name, sizeof name, "%s.code", base);
    put_argument(script, name);
    fputc('\n', script);
    return fclose(script) == 0;
}

static int start(const char *base)
{
    char line[2 * MAX_PATH], name[MAX_PATH + 16];
    WCHAR wide[MAX_PATH + 16];
    STARTUPINFOA how = {.cb = sizeof how};
    PROCESS_INFORMATION made = {0};
    snprintf(name, sizeof name, "%s.sh", base);
    MultiByteToWideChar(CP_ACP, 0, name, -1, wide, MAX_PATH + 16);
    char *path = to_linux(wide);
    if (!path)
        return 0;
    snprintf(line, sizeof line, "sh \"%s\"", path);
    HeapFree(GetProcessHeap(), 0, path);
    return CreateProcessA("Z:\\bin\\sh", line, NULL, NULL, FALSE, 0, NULL, NULL, &how, &made);
}

// The compiler's exit code, once it is there; -1 where it never comes.
static int wait_for_code(const char *base)
{
    char name[MAX_PATH + 16];
    int code = -1;
    snprintf(name, sizeof name, "%s.code", base);
    for (DWORD passed = 0; passed < WAIT_MS; passed += 2) {
        FILE *file = fopen(name, "rb");
        if (file) {
            if (fscanf(file, "%d", &code) != 1)
                code = -1;
            fclose(file);
            return code;
        }
        Sleep(2);
    }
    return code;
}

static void repeat_output(const char *base)
{
    char name[MAX_PATH + 16], text[4096];
    size_t got;
    snprintf(name, sizeof name, "%s.said", base);
    FILE *said = fopen(name, "rb");
    while (said && (got = fread(text, 1, sizeof text, said)) > 0)
        fwrite(text, 1, got, stdout);
    if (said)
        fclose(said);
}

static void remove_all(const char *base)
{
    static const char *const ends[] = {"sh", "said", "code"};
    char name[MAX_PATH + 16];
    for (int i = 0; i < 3; ++i) {
        snprintf(name, sizeof name, "%s.%s", base, ends[i]);
        remove(name);
    }
}

int main(int argc, char **argv)
{
    char folder[MAX_PATH], base[MAX_PATH];
    FARPROC found = GetProcAddress(GetModuleHandleA("kernel32"), "wine_get_unix_file_name");
    (void)argc;
    if (!found)
        return fail("this is not Wine");
    memcpy(&to_linux, &found, sizeof found);
    if (!GetTempPathA(sizeof folder, folder))
        return fail("no folder for files that are not kept");
    snprintf(base, sizeof base, "%.200s\\cc-%lu", folder, GetCurrentProcessId());
    remove_all(base);
    int code = write_script(base, argv) && start(base) ? wait_for_code(base) : -1;
    if (code >= 0)
        repeat_output(base);
    else
        fail("the compiler could not be run");
    remove_all(base);
    return code >= 0 ? code : 127;
}
