# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# What bash reads before each shell test (BASH_ENV): where a command fails and ends the test, its line is printed, and the ends
# of the files that tests write a program's words to.
[[ ${0##*/} == *_test.sh ]] || return 0 # no test: a script that one runs

say_failure() { # CODE LINE COMMAND
    local file
    [[ $- == *e* ]] || return 0 # nothing ends here
    printf '%s:%s: exit code %s: %s\n' "$0" "$2" "$1" "$3"
    for file in {.,${folder:-.}}/{out,err,said,why,log}; do
        [[ ! -s $file ]] || { echo "the end of $file:" && tail -n 20 "$file"; }
    done
}
set -E
trap 'say_failure "$?" "$LINENO" "$BASH_COMMAND"' ERR
