# SPDX-License-Identifier: Apache-2.0
# cmake -DINPUT=file -DOUTPUT=file.c -DSYMBOL=name -P embed_text.cmake
# Numbers, not a string literal: ISO C promises only 4,095 characters of one.
file(READ ${INPUT} hex HEX)
string(LENGTH "${hex}" digits)
math(EXPR bytes "${digits} / 2")
string(REGEX REPLACE "(..)" "0x\\1, " numbers "${hex}")
string(REPEAT "......" 16 line)
string(REGEX REPLACE "(${line})" "\\1\n" numbers "${numbers}")
cmake_path(GET INPUT FILENAME name)
file(WRITE ${OUTPUT} "// Made from ${name} by cmake/embed_text.cmake
#include <stddef.h>
extern const char ${SYMBOL}[];
extern const size_t ${SYMBOL}_bytes;
const size_t ${SYMBOL}_bytes = ${bytes};
const char ${SYMBOL}[] = {
${numbers}0};
")
