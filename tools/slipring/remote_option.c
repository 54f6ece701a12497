// SPDX-License-Identifier: Apache-2.0
#include "remote_option.h"

#include "say.h"
#include "verbs.h"

bool remote_option_take(slr_remote_desc *to, int option, const char *value)
{
    switch (option) {
    case REMOTE_CLUSTER:
        to->servers = value;
        return true;
    case REMOTE_NAME:
        to->name = value;
        return true;
    case REMOTE_CREDENTIALS:
        to->credentials = value;
        return true;
    case REMOTE_NKEY:
        to->nkey = value;
        return true;
    case REMOTE_TLS_CA:
        to->tls_ca = value;
        return true;
    case REMOTE_TLS_CERTIFICATE:
        to->tls_certificate = value;
        return true;
    case REMOTE_TLS_KEY:
        to->tls_key = value;
        return true;
    case REMOTE_ANONYMOUS:
        to->allow_anonymous = 1;
        return true;
    default:
        return false;
    }
}

int remote_option_check(const slr_remote_desc *desc)
{
    if (desc->servers == NULL)
        return say_usage("--cluster is missing: the NATS servers, with commas between them");
    if (desc->name == NULL)
        return say_usage("--name is missing: the name that the workers share");
    return -1;
}

int remote_option_say(slr_status status, const char *what)
{
    if (status == SLR_INVALID)
        return say_usage("%s", slr_error_message());
    return say_failure(status, what);
}
