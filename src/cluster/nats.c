// SPDX-License-Identifier: Apache-2.0
// A connection: who we are, whom we talk to, and requests.
#include "cluster/nats.h"

#include "base/file.h"
#include "base/sized.h"
#include "base/status.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    SERVERS_MOST = 16,
    LEAST_LEVEL = 1, // of JetStream's interface: batches of direct reads, which server 2.11 has
    RECONNECT_MS = 200,
    PENDING_MOST = 1 << 20, // above 2,097,151 libnats overflows
    NKEY_BYTES = 56,
    SIGN_TRIES = 5
};
#define MS 1000000u
#define DEFAULT_TIMEOUT_NS 5000000000u

slr_status slri_nats_fail(const slri_nats *nats, int status, const char *what)
{
    slr_status own = status == SLRI_NATS_TIMEOUT         ? SLR_TIMEOUT
                     : status == SLRI_NATS_NO_RESPONDERS ? SLR_NOT_FOUND
                                                         : SLR_SYSTEM;
    return slri_fail(own, "NATS: %s: %s", what, nats->api->natsStatus_GetText(status));
}

// ---- who we are ----------------------------------------------------------------------------------------------------

// A file with a seed has the public key in a line of its own: that one is no secret.
static slr_status take_nkey(const slri_nats *nats, natsOptions *options, const char *path)
{
    char *content;
    size_t bytes;
    char key[NKEY_BYTES + 1] = "";
    SLRI_TRY(slri_file_read(path, 1 << 16, &content, &bytes));
    for (char *line = content; line && !key[0]; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (*line == 'U' && strcspn(line, "\r\n ") == NKEY_BYTES)
            memcpy(key, line, NKEY_BYTES);
    }
    for (volatile char *at = content; at < content + bytes; ++at) // a memset before free may be left out
        *at = '\0';
    free(content);
    if (!key[0])
        return SLRI_FAIL(INVALID,
                         "%s: no line is a public NKey (U..., 56 characters). The file needs the public key and the "
                         "seed, one a line",
                         path);
    int status = nats->api->natsOptions_SetNKeyFromSeed(options, key, path);
    return status ? slri_nats_fail(nats, status, "the NKey") : SLR_OK;
}

static slr_status take_security(const slri_nats *nats, natsOptions *options, const slr_remote_desc *desc)
{
    const slri_nats_api *api = nats->api;
    int status = 0;
    if (desc->credentials) {
        status = api->natsOptions_SetUserCredentialsFromFiles(options, desc->credentials, NULL);
        if (status)
            return slri_nats_fail(nats, status, desc->credentials);
    }
    if (desc->nkey)
        SLRI_TRY(take_nkey(nats, options, desc->nkey));
    if (desc->tls_ca || desc->tls_certificate)
        status = api->natsOptions_SetSecure(options, true);
    if (status == 0 && desc->tls_ca) {
        status = api->natsOptions_LoadCATrustedCertificates(options, desc->tls_ca);
        if (status)
            return slri_nats_fail(nats, status, desc->tls_ca);
    }
    if (status == 0 && desc->tls_certificate)
        status = api->natsOptions_LoadCertificatesChain(options, desc->tls_certificate, desc->tls_key);
    return status ? slri_nats_fail(nats, status, "TLS certificate and key") : SLR_OK;
}

// ---- whom we talk to -----------------------------------------------------------------------------------------------

static bool is_loopback(const char *server, const char *host)
{
    static const char *const here[] = {"localhost", "127.0.0.1", "[::1]"};
    (void)server;
    for (size_t i = 0; i < sizeof here / sizeof *here; ++i) {
        size_t length = strlen(here[i]);
        if (strncmp(host, here[i], length) == 0 && (host[length] == ':' || host[length] == '\0'))
            return true;
    }
    return false;
}

// One server of the list, checked. Passwords in it would be seen by everybody who lists processes.
static slr_status check_server(const char *server, const slr_remote_desc *desc)
{
    bool is_tls = strncmp(server, "tls://", 6) == 0;
    const char *host = strncmp(server, "nats://", 7) == 0 ? server + 7 : is_tls ? server + 6 : NULL;
    if (!host || !*host)
        return SLRI_FAIL(INVALID, "the address of a NATS server is not nats://HOST:PORT or tls://HOST:PORT");
    if (strchr(host, '@'))
        return SLRI_FAIL(INVALID,
                         "the address of a NATS server has a user or a password, which every process list would "
                         "show: put them into a file, and name it as credentials or nkey");
    if (is_loopback(server, host) || desc->credentials || desc->nkey || desc->tls_certificate || desc->allow_anonymous)
        return SLR_OK;
    return SLRI_FAIL(INVALID,
                     "%s is another machine, and nothing says who we are: give credentials, an NKey or a certificate "
                     "by file; or allow it with --anonymous (in slr_remote_desc: allow_anonymous)",
                     server);
}

static slr_status split_servers(char *list, const slr_remote_desc *desc, const char *servers[SERVERS_MOST], int *count)
{
    for (char *at = list; at; ++*count) {
        char *comma = strchr(at, ',');
        if (comma)
            *comma = '\0';
        if (*count == SERVERS_MOST)
            return SLRI_FAIL(INVALID, "more than %d NATS servers", SERVERS_MOST);
        SLRI_TRY(check_server(at, desc));
        servers[*count] = at;
        at = comma ? comma + 1 : NULL;
    }
    return SLR_OK;
}

static void ignore_error(natsConnection *connection, natsSubscription *subscription, int status, void *user)
{
    (void)connection, (void)subscription, (void)status, (void)user; // what fails is seen where it is waited for
}

static slr_status set_options(const slri_nats *nats, natsOptions *options, const slr_remote_desc *desc,
                              const char **servers, int count)
{
    const slri_nats_api *api = nats->api;
    int status = api->natsOptions_SetServers(options, servers, count);
    status = status ? status : api->natsOptions_SetName(options, "slipring");
    status = status ? status : api->natsOptions_SetTimeout(options, (int64_t)(nats->timeout_ns / MS));
    status = status ? status : api->natsOptions_SetSendAsap(options, true);
    status = status ? status : api->natsOptions_SetMaxReconnect(options, -1);
    status = status ? status : api->natsOptions_SetReconnectWait(options, RECONNECT_MS);
    status = status ? status : api->natsOptions_SetReconnectJitter(options, RECONNECT_MS, RECONNECT_MS);
    status = status ? status : api->natsOptions_SetMaxPendingMsgs(options, PENDING_MOST);
    status = status ? status : api->natsOptions_SetErrorHandler(options, ignore_error, NULL);
    return status ? slri_nats_fail(nats, status, "options") : take_security(nats, options, desc);
}

// libnats 3.4 signs about one of 75 of the server's nonces so that the server refuses the signature (2 of 150
// connections with a good key). Each try gets another nonce; a wrong key is refused each time.
static int try_to_connect(slri_nats *nats, natsOptions *options, const slr_remote_desc *desc)
{
    int got = nats->api->natsConnection_Connect(&nats->connection, options);
    for (uint32_t i = 1; i < SIGN_TRIES && got == SLRI_NATS_AUTH_FAILED && (desc->nkey || desc->credentials); ++i)
        got = nats->api->natsConnection_Connect(&nats->connection, options);
    return got;
}

static slr_status connect_to(slri_nats *nats, const slr_remote_desc *desc)
{
    const char *servers[SERVERS_MOST];
    int count = 0;
    natsOptions *options;
    char *list = malloc(strlen(desc->servers) + 1);
    if (!list)
        return SLRI_FAIL(NO_MEMORY, "no memory for the names of servers");
    memcpy(list, desc->servers, strlen(desc->servers) + 1);
    slr_status status = split_servers(list, desc, servers, &count);
    if (status == SLR_OK) {
        int got = nats->api->natsOptions_Create(&options);
        status = got ? slri_nats_fail(nats, got, "options") : SLR_OK;
    }
    if (status == SLR_OK) {
        status = set_options(nats, options, desc, servers, count);
        int got = status == SLR_OK ? try_to_connect(nats, options, desc) : 0;
        if (got)
            status = SLRI_FAIL(SYSTEM, "no connection with %s: %s", desc->servers, nats->api->natsStatus_GetText(got));
        nats->api->natsOptions_Destroy(options);
    }
    free(list);
    return status;
}

static slr_status check_name(const char *name)
{
    static const char good[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";
    if (!name || !*name || strlen(name) >= SLR_REMOTE_NAME_BYTES || name[strspn(name, good)])
        return SLRI_FAIL(INVALID, "the name '%s' is not 1 to %d letters, digits, '_' and '-'", name ? name : "NULL",
                         SLR_REMOTE_NAME_BYTES - 1);
    return SLR_OK;
}

static slr_status check_server_level(slri_nats *nats)
{
    char answer[1 << 15]; // the level comes after the limits of all tiers
    slr_status status = SLR_TIMEOUT;
    for (uint32_t i = 0; i < SLRI_NATS_TRIES && status == SLR_TIMEOUT; ++i)
        status = slri_nats_ask(nats, "INFO", "", answer, sizeof answer);
    if (status == SLR_NOT_FOUND)
        return SLRI_FAIL(UNSUPPORTED, "the NATS server has no JetStream: start it with -js, or set jetstream in its "
                                      "configuration");
    SLRI_TRY(status);
    nats->level = (uint32_t)slri_nats_number(answer, "level");
    if (nats->level < LEAST_LEVEL)
        return SLRI_FAIL(UNSUPPORTED, "the NATS server is older than 2.11, whose streams slipring needs (2.12 or newer "
                                      "is tried; Debian's 2.9 loses streams): install a newer one");
    return SLR_OK;
}

slr_status slri_nats_connect(const slr_remote_desc *desc, slri_nats **out)
{
    slr_remote_desc own;
    SLRI_TRY(SLRI_TAKE_DESC(slr_remote_desc, &own, desc));
    SLRI_TRY(check_name(own.name));
    if (!own.servers)
        return SLRI_FAIL(INVALID, "slr_remote_desc.servers is NULL");
    if (!own.tls_certificate != !own.tls_key)
        return SLRI_FAIL(INVALID, "a TLS certificate needs its key, and a TLS key its certificate");
    slri_nats *nats = calloc(1, sizeof *nats);
    if (!nats)
        return SLRI_FAIL(NO_MEMORY, "no memory for a connection");
    memcpy(nats->name, own.name, strlen(own.name) + 1);
    nats->timeout_ns = own.timeout_ns ? own.timeout_ns : DEFAULT_TIMEOUT_NS;
    nats->replicas = own.replicas ? own.replicas : 1;
    slr_status status = slri_nats_api_get(&nats->api);
    if (status == SLR_OK)
        status = connect_to(nats, &own);
    if (status != SLR_OK) {
        slri_nats_close(nats);
        return status;
    }
    *out = nats;
    return SLR_OK;
}

slr_status slri_nats_open(const slr_remote_desc *desc, slri_nats **out)
{
    slri_nats *nats;
    SLRI_TRY(slri_nats_connect(desc, &nats));
    slr_status status = check_server_level(nats);
    if (status != SLR_OK) {
        slri_nats_close(nats);
        return status;
    }
    *out = nats;
    return SLR_OK;
}

slr_status slri_nats_open_any(const slr_remote_desc *desc, const char *name, slri_nats **out)
{
    slr_remote_desc own;
    SLRI_TRY(SLRI_TAKE_DESC(slr_remote_desc, &own, desc));
    own.name = own.name ? own.name : name;
    return slri_nats_open(&own, out);
}

void slri_nats_close(slri_nats *nats)
{
    if (!nats)
        return;
    if (nats->connection)
        nats->api->natsConnection_Destroy(nats->connection);
    free(nats);
}

// ---- requests ------------------------------------------------------------------------------------------------------

slr_status slri_nats_request(slri_nats *nats, const char *subject, const char *header, const char *value,
                             const void *data, size_t bytes, natsMsg **reply)
{
    const slri_nats_api *api = nats->api;
    natsMsg *message;
    int status = bytes > INT_MAX ? SLRI_NATS_TIMEOUT : api->natsMsg_Create(&message, subject, NULL, data, (int)bytes);
    if (status)
        return slri_nats_fail(nats, status, "a request");
    if (header)
        status = api->natsMsgHeader_Set(message, header, value);
    if (status == 0)
        status = api->natsConnection_RequestMsg(reply, nats->connection, message, (int64_t)(nats->timeout_ns / MS));
    api->natsMsg_Destroy(message);
    return status ? slri_nats_fail(nats, status, subject) : SLR_OK;
}

uint64_t slri_nats_number(const char *text, const char *name)
{
    char quoted[64];
    snprintf(quoted, sizeof quoted, "\"%s\":", name);
    const char *at = strstr(text, quoted);
    return at ? strtoull(at + strlen(quoted), NULL, 10) : 0;
}

slr_status slri_nats_answer(const char *text, const char *what, uint64_t *sequence)
{
    enum { WRONG_LAST = 10071, WRONG_LAST_OTHER = 10164, MAX_MESSAGES = 10077, MAX_BYTES = 10054, NO_STREAM = 404 };
    const char *error = strstr(text, "\"error\":");
    if (sequence)
        *sequence = error ? 0 : slri_nats_number(text, "seq");
    if (!error && sequence && *sequence == 0)
        return SLRI_FAIL(SYSTEM, "NATS: %s: an answer without a sequence", what);
    if (!error)
        return SLR_OK;
    uint64_t number = slri_nats_number(error, "err_code");
    slr_status status = number == WRONG_LAST || number == WRONG_LAST_OTHER ? SLR_WRONG_STATE
                        : number == MAX_MESSAGES || number == MAX_BYTES    ? SLR_FULL
                        : slri_nats_number(error, "code") == NO_STREAM     ? SLR_NOT_FOUND
                                                                           : SLR_SYSTEM;
    const char *why = strstr(error, "\"description\":\"");
    why = why ? why + strlen("\"description\":\"") : "";
    return slri_fail(status, "NATS: %s: %.*s (error %" PRIu64 ")", what, (int)strcspn(why, "\""), why, number);
}

slr_status slri_nats_ask(slri_nats *nats, const char *subject, const char *request, char *answer, size_t capacity)
{
    char whole[SLRI_NATS_SUBJECT + 64], text[512];
    natsMsg *reply;
    snprintf(whole, sizeof whole, "$JS.API.%s", subject);
    SLRI_TRY(slri_nats_request(nats, whole, NULL, NULL, request, strlen(request), &reply));
    char *to = answer ? answer : text;
    size_t room = answer ? capacity : sizeof text;
    size_t bytes = (size_t)nats->api->natsMsg_GetDataLength(reply);
    bytes = bytes < room - 1 ? bytes : room - 1;
    if (bytes)
        memcpy(to, nats->api->natsMsg_GetData(reply), bytes);
    to[bytes] = '\0';
    nats->api->natsMsg_Destroy(reply);
    return slri_nats_answer(to, subject, NULL);
}

bool slri_nats_header(const slri_nats *nats, natsMsg *message, const char *name, uint64_t *number)
{
    const char *value;
    if (nats->api->natsMsgHeader_Get(message, name, &value) != SLRI_NATS_OK || !value)
        return false;
    *number = strtoull(value, NULL, 10);
    return true;
}
