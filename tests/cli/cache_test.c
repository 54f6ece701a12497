// SPDX-License-Identifier: Apache-2.0
// `slipring cache`, as the built program, on a cache of its own.
#include "tests/cli/shell.h"

static int set_up(void **state)
{
    (void)state;
    if (shell_begin() != 0)
        return -1;
    write_file("two.cu", "__global__ void one(int *to) { to[threadIdx.x] = 1; }\n"
                         "__global__ void two(int *to) { to[threadIdx.x] = 2; }\n");
    write_file("bad.cu", "__global__ void one(int *to) { to[threadIdx.x] = ; }\n");
    return setenv("SLIPRING_CACHE_DIR", "cache", 1);
}

static void help_and_mistakes(void **state)
{
    (void)state;
    says("$S cache --help", 0, "Usage: slipring cache VERB");
    says("$S cache ls --help", 0, "Usage: slipring cache ls");
    says("$S cache verify --help", 0, "Exit code: 1 if an entry is damaged");
    says("$S cache warm --help", 0, "Usage: slipring cache warm FILE.cu...");
    says("$S cache clear --help", 0, "--older-than AGE");
    says("$S cache 2>&1", 2, "a verb is missing");
    says("$S cache dance 2>&1", 2, "no verb 'dance'");
    says("$S cache ls more 2>&1", 2, "not 'more'");
    says("$S cache ls --older-than 1d 2>&1", 2, "no option '--older-than'");
    says("$S cache clear --older-than soon 2>&1", 2, "'soon' is not an age");
    says("$S cache clear --older-than 2>&1", 2, "needs a value");
    says("$S cache warm 2>&1", 2, "FILE.cu is missing");
    says("$S cache warm two.cu --block 1,2,3,4 2>&1", 2, "'1,2,3,4' is not X, X,Y or X,Y,Z");
    says("$S cache warm two.cu --block +8 2>&1", 2, "'+8' is not X, X,Y or X,Y,Z");
    says("$S cache warm two.cu --block '8, 8' 2>&1", 2, "'8, 8' is not X, X,Y or X,Y,Z");
    says("$S cache warm two.cu --block 8,,8 2>&1", 2, "'8,,8' is not X, X,Y or X,Y,Z");
    says("$S cache warm two.cu --optimize 3 2>&1", 2, "expected 1, 2 or both");
    says("$S cache warm two.cu --device 'cpu?engine=interpreted' 2>&1", 3, "nothing is compiled on cpu");
}

static void what_is_warmed_is_listed_and_launches_find_it(void **state)
{
    (void)state;
    gives("$S cache warm two.cu --kernel one --block 64 --optimize both", 0, "two.cu: kernel one\n");
    says("$S cache ls", 0, "  one  two.cu (block 64,1,1, optimize 1, ");
    says("$S cache ls", 0, "  one  two.cu (block 64,1,1, optimize 2, ");
    says("$S cache ls", 0, "2 entries, ");
    says("$S cache ls --json", 0, "\"kernel\": \"one\"");
    gives("$S cache warm two.cu --block 64 --json | grep -c '\"ok\": true'", 0, "3\n"); // the file and two kernels
    says("$S cache ls", 0, "3 entries, ");
    says("$S kernel run two.cu two --grid 1 --block 64 --device cpu --arg 'to=int[64]' --print to:3", 0, "to: 2 2 2\n");
    says("$S cache ls", 0, "3 entries, ");
    says("$S cache warm two.cu --kernel three 2>&1", 2, "--kernel 'three': not in these files");
    says("$S cache warm bad.cu two.cu --kernel one --block 64 2>/dev/null", 1, "two.cu: kernel one\n");
    says("$S cache warm bad.cu 2>&1", 1, "bad.cu:1:");
    says("$S cache warm nowhere.cu 2>&1", 1, "nowhere.cu");
}

static void damaged_entries_are_found_and_removed(void **state)
{
    (void)state;
    gives("$S cache clear >/dev/null && $S cache warm two.cu --block 32 >/dev/null; $S cache verify | sed 's/,.*//'", 0,
          "damaged: 0 entries\n");
    gives("for f in cache/*.so; do printf x | dd of=$f bs=1 seek=100 conv=notrunc 2>/dev/null; break; done; "
          "$S cache verify >out; echo $?; sed 's/.*damaged/damaged/; s/: [0-9a-f]*\\.so/: NAME/; s/,.*//' out",
          0, "1\ndamaged: NAME\ndamaged: 1 entry\n");
    says("$S cache clear --damaged", 0, "removed 1 entry, ");
    says("$S cache verify", 0, "damaged: 0 entries");
    says("$S cache ls", 0, "1 entry, ");
}

static void old_entries_are_cleared_and_others_stay(void **state)
{
    (void)state;
    says("$S cache clear >/dev/null; $S cache warm two.cu --block 32 >/dev/null; "
         "for f in cache/*.so; do touch -d '2 days ago' $f; break; done; touch cache/notes; "
         "$S cache clear --older-than 36h",
         0, "removed 1 entry, ");
    says("$S cache ls", 0, "1 entry, ");
    says("$S cache clear --json", 0, "\"seen\": 1");
    says("$S cache ls", 0, "0 entries, ");
    gives("ls cache", 0, "notes\n"); // not ours
}

static void hits_misses_and_bounds_are_told(void **state)
{
    (void)state;
    says("export SLIPRING_CACHE_DIR=counted; $S cache warm two.cu --block 32 >/dev/null; "
         "$S cache warm two.cu --block 32 >/dev/null; $S cache ls",
         0, "\nat most 1073 MB, unused for at most 90d; 2 hits, 2 misses, 2 stored, 0 evicted\n");
    says("SLIPRING_CACHE_DIR=counted SLIPRING_CACHE_BYTES=1K SLIPRING_CACHE_DAYS=0 $S cache ls --json", 0,
         "  \"limit_bytes\": 1024,\n  \"limit_unused_s\": null,\n  \"hits\": 2,\n  \"misses\": 2,\n  \"stores\": 2,\n"
         "  \"evicted\": 0,\n  \"evicted_bytes\": 0\n");
    says("SLIPRING_CACHE_DIR=counted SLIPRING_CACHE_BYTES=lots $S cache ls 2>&1", 1,
         "SLIPRING_CACHE_BYTES is 'lots': a number of bytes");
    says("SLIPRING_CACHE_DIR=noted SLIPRING_CACHE_DAYS=soon $S doctor", 0,
         "\n         note      SLIPRING_CACHE_DAYS is 'soon': a whole number of days; the\n"
         "                   default holds\n");
    says("SLIPRING_CACHE_DIR=counted $S cache prune --json", 0,
         "  \"removed\": 0,\n  \"removed_bytes\": 0,\n  \"entries\": 2,\n");
    says("touch -d '2 days ago' counted/*.so; for f in counted/*.so; do touch $f; break; done; "
         "SLIPRING_CACHE_DIR=counted $S cache prune --unused 36h",
         0, "removed 1 entry, ");
    says("SLIPRING_CACHE_DIR=counted $S cache prune --bytes 1K", 0, "; 0 remain, 0 B, in ");
    says("SLIPRING_CACHE_DIR=counted $S cache ls", 0, "; 2 hits, 2 misses, 2 stored, 2 evicted\n");
    says("$S cache prune --bytes many 2>&1", 2, "'many' is not a size");
    says("$S cache prune --unused 3 2>&1", 2, "--unused: '3' is not an age");
    says("$S cache prune --help", 0, "Usage: slipring cache prune");
}

// Eight programs at once: the compiler, behind a script that notes each compilation, runs once a kernel.
static void programs_that_want_one_kernel_compile_it_once(void **state)
{
    (void)state;
    gives("export SLIPRING_CACHE_DIR=once; printf '#!/bin/sh\ncase \"$*\" in *--version*) ;; *) echo x >>once.log; "
          "sleep 0.3;; esac\nexec cc \"$@\"\n' >slow-cc; chmod +x slow-cc; export SLIPRING_CC=./slow-cc; "
          "for i in 1 2 3 4 5 6 7 8; do $S cache warm two.cu --kernel one --block 32 --device cpu >/dev/null & done; "
          "wait; wc -l <once.log",
          0, "1\n");
    says("SLIPRING_CACHE_DIR=once $S cache ls", 0, "; 7 hits, 1 miss, 1 stored, 0 evicted\n");
}

static void cache_that_cannot_be_used_is_said(void **state)
{
    (void)state;
    says("mkdir open; chmod 777 open; SLIPRING_CACHE_DIR=open $S cache ls 2>&1", 1,
         "every user can write to the folder");
    says("env -u SLIPRING_CACHE_DIR -u XDG_CACHE_HOME -u HOME $S cache ls 2>&1", 1, "set SLIPRING_CACHE_DIR");
    says("SLIPRING_CACHE_DIR=open $S cache warm two.cu 2>&1", 1, "nothing would be kept: ");
    says("env -u SLIPRING_CACHE_DIR -u XDG_CACHE_HOME -u HOME $S cache warm two.cu 2>&1", 1, "set SLIPRING_CACHE_DIR");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(help_and_mistakes),
        cmocka_unit_test(what_is_warmed_is_listed_and_launches_find_it),
        cmocka_unit_test(damaged_entries_are_found_and_removed),
        cmocka_unit_test(old_entries_are_cleared_and_others_stay),
        cmocka_unit_test(hits_misses_and_bounds_are_told),
        cmocka_unit_test(programs_that_want_one_kernel_compile_it_once),
        cmocka_unit_test(cache_that_cannot_be_used_is_said),
    };
    return cmocka_run_group_tests(tests, set_up, shell_end);
}
