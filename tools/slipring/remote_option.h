// SPDX-License-Identifier: Apache-2.0
/// --cluster, --name and who we are there: of every verb that talks to other machines. Secrets come by file alone.
#ifndef REMOTE_OPTION_H
#define REMOTE_OPTION_H

#include <slipring/remote.h>

#include <getopt.h>
#include <stdbool.h>

enum {
    REMOTE_CLUSTER = 0x600,
    REMOTE_NAME,
    REMOTE_CREDENTIALS,
    REMOTE_NKEY,
    REMOTE_TLS_CA,
    REMOTE_TLS_CERTIFICATE,
    REMOTE_TLS_KEY,
    REMOTE_ANONYMOUS
};

#define REMOTE_LONG                                                                                                    \
    {"cluster", required_argument, NULL, REMOTE_CLUSTER}, {"name", required_argument, NULL, REMOTE_NAME},              \
        {"credentials", required_argument, NULL, REMOTE_CREDENTIALS}, {"nkey", required_argument, NULL, REMOTE_NKEY},  \
        {"tls-ca", required_argument, NULL, REMOTE_TLS_CA},                                                            \
        {"tls-certificate", required_argument, NULL, REMOTE_TLS_CERTIFICATE},                                          \
        {"tls-key", required_argument, NULL, REMOTE_TLS_KEY},                                                          \
    {                                                                                                                  \
        "anonymous", no_argument, NULL, REMOTE_ANONYMOUS                                                               \
    }

#define REMOTE_HELP                                                                                                    \
    "  --cluster URL,..     NATS servers with JetStream, as nats://HOST:PORT or\n"                                     \
    "                       tls://HOST:PORT\n"                                                                         \
    "  --name NAME          the name that the workers of a handler share\n"                                            \
    "  --credentials FILE   this program's identity: a file of NATS credentials\n"                                     \
    "  --nkey FILE          or a file with a public NKey and its seed, one a line\n"                                   \
    "  --tls-ca FILE        certificates that check the servers\n"                                                     \
    "  --tls-certificate FILE, --tls-key FILE\n"                                                                       \
    "                       or a certificate with this program's identity\n"                                           \
    "  --anonymous          connects without an identity, also to other machines\n"

/// Takes one of these options. False: it is another one.
bool remote_option_take(slr_remote_desc *to, int option, const char *value);

/// --cluster and --name are there. -1, or the exit code of a mistake.
int remote_option_check(const slr_remote_desc *desc);

/// Says why a library call failed. What cannot be is a wrong command line. An exit code.
int remote_option_say(slr_status status, const char *what);

#endif
