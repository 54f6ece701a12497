// SPDX-License-Identifier: Apache-2.0
/// The NATS client library, libnats, opened at run time: connections, TLS and keys are its work. Only functions whose
/// arguments are plain or opaque are used, so that no struct of its headers must fit. JetStream is spoken as requests
/// and headers (nats.c).
#ifndef SLRI_CLUSTER_NATS_API_H
#define SLRI_CLUSTER_NATS_API_H

#include <slipring/status.h>

#include <stdbool.h>
#include <stdint.h>

typedef struct natsOptions natsOptions;
typedef struct natsConnection natsConnection;
typedef struct natsMsg natsMsg;
typedef struct natsSubscription natsSubscription;

/// natsStatus: those that are told apart.
enum {
    SLRI_NATS_OK = 0,
    SLRI_NATS_IO_ERROR = 3,
    SLRI_NATS_STALE = 7,
    SLRI_NATS_DISCONNECTED = 10,
    SLRI_NATS_AUTH_FAILED = 11,
    SLRI_NATS_NOT_FOUND = 13,
    SLRI_NATS_NO_BUFFER = 23,
    SLRI_NATS_TIMEOUT = 26,
    SLRI_NATS_NO_RESPONDERS = 34
};

// Result, name, parameters.
#define SLRI_NATS_FUNCTIONS(X)                                                                                         \
    X(const char *, nats_GetVersion, (void))                                                                           \
    X(const char *, natsStatus_GetText, (int status))                                                                  \
    X(const char *, nats_GetLastError, (int *status))                                                                  \
    X(int, natsOptions_Create, (natsOptions **))                                                                       \
    X(void, natsOptions_Destroy, (natsOptions *))                                                                      \
    X(int, natsOptions_SetServers, (natsOptions *, const char **servers, int count))                                   \
    X(int, natsOptions_SetName, (natsOptions *, const char *name))                                                     \
    X(int, natsOptions_SetTimeout, (natsOptions *, int64_t ms))                                                        \
    X(int, natsOptions_SetSendAsap, (natsOptions *, bool))                                                             \
    X(int, natsOptions_SetMaxReconnect, (natsOptions *, int))                                                          \
    X(int, natsOptions_SetReconnectWait, (natsOptions *, int64_t ms))                                                  \
    X(int, natsOptions_SetReconnectJitter, (natsOptions *, int64_t ms, int64_t tls_ms))                                \
    X(int, natsOptions_SetMaxPendingMsgs, (natsOptions *, int))                                                        \
    X(int, natsOptions_SetErrorHandler,                                                                                \
      (natsOptions *, void (*handler)(natsConnection *, natsSubscription *, int status, void *user), void *user))      \
    X(int, natsOptions_SetUserCredentialsFromFiles, (natsOptions *, const char *file, const char *seed_file))          \
    X(int, natsOptions_SetNKeyFromSeed, (natsOptions *, const char *public_key, const char *seed_file))                \
    X(int, natsOptions_SetSecure, (natsOptions *, bool))                                                               \
    X(int, natsOptions_LoadCATrustedCertificates, (natsOptions *, const char *file))                                   \
    X(int, natsOptions_LoadCertificatesChain, (natsOptions *, const char *certificate, const char *key))               \
    X(int, natsConnection_Connect, (natsConnection **, natsOptions *))                                                 \
    X(void, natsConnection_Destroy, (natsConnection *))                                                                \
    X(int, natsConnection_GetConnectedUrl, (natsConnection *, char *buffer, size_t bytes))                             \
    X(int64_t, natsConnection_GetMaxPayload, (natsConnection *))                                                       \
    X(int, natsConnection_SubscribeSync, (natsSubscription **, natsConnection *, const char *subject))                 \
    X(int, natsConnection_Publish, (natsConnection *, const char *subject, const void *data, int bytes))               \
    X(int, natsConnection_PublishMsg, (natsConnection *, natsMsg *))                                                   \
    X(int, natsConnection_PublishRequest,                                                                              \
      (natsConnection *, const char *subject, const char *reply, const void *data, int bytes))                         \
    X(int, natsConnection_RequestMsg, (natsMsg **, natsConnection *, natsMsg *, int64_t ms))                           \
    X(int, natsSubscription_SetPendingLimits, (natsSubscription *, int messages, int bytes))                           \
    X(int, natsSubscription_NextMsg, (natsMsg **, natsSubscription *, int64_t ms))                                     \
    X(void, natsSubscription_Destroy, (natsSubscription *))                                                            \
    X(int, natsMsg_Create, (natsMsg **, const char *subject, const char *reply, const char *data, int bytes))          \
    X(void, natsMsg_Destroy, (natsMsg *))                                                                              \
    X(const char *, natsMsg_GetSubject, (const natsMsg *))                                                             \
    X(const char *, natsMsg_GetReply, (const natsMsg *))                                                               \
    X(const char *, natsMsg_GetData, (const natsMsg *))                                                                \
    X(int, natsMsg_GetDataLength, (const natsMsg *))                                                                   \
    X(int, natsMsgHeader_Set, (natsMsg *, const char *key, const char *value))                                         \
    X(int, natsMsgHeader_Get, (natsMsg *, const char *key, const char **value))                                        \
    X(int, natsInbox_Create, (char **))                                                                                \
    X(void, natsInbox_Destroy, (char *))

#define SLRI_NATS_FIELD(result, name, parameters) result(*name) parameters;
typedef struct slri_nats_api {
    SLRI_NATS_FUNCTIONS(SLRI_NATS_FIELD)
} slri_nats_api;
#undef SLRI_NATS_FIELD

/// Opens the library once: SLIPRING_NATS_LIB, else the names that Debian and the project's own builds give it.
/// Errors: UNSUPPORTED (it is not there, or lacks a function: says what to install).
slr_status slri_nats_api_get(const slri_nats_api **out);

#endif
