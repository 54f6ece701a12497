// SPDX-License-Identifier: Apache-2.0
// `slipring serve` as systemd sees it: what it tells the notify socket, and what signals do; and the verbs of
// operators.
#define _GNU_SOURCE
#include "tests/cli/shell.h"

#include "tests/cluster/nats_server.h"

#include <poll.h>
#include <sys/un.h>

static nats_servers servers;
static int notify_socket = -1;

enum { PATIENCE_MS = 120000 };

static const char counts_cu[] = "struct message { unsigned value; };\n"
                                "struct count { unsigned handled; };\n"
                                "__ring__ void counts(struct count *self, const struct message *in)\n"
                                "{\n"
                                "    self->handled += 1u / (1u - in->value);\n"
                                "    ring_reply(&self->handled);\n"
                                "}\n";

// As systemd does: a socket of datagrams, whose path is in the environment.
static void open_notify_socket(void)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    snprintf(address.sun_path, sizeof address.sun_path, "%s/notify", folder);
    notify_socket = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    assert_true(notify_socket >= 0);
    assert_int_equal(bind(notify_socket, (struct sockaddr *)&address, sizeof address), 0);
    assert_int_equal(setenv("NOTIFY_SOCKET", address.sun_path, 1), 0);
    assert_int_equal(setenv("WATCHDOG_USEC", "300000", 1), 0);
}

static int set_up(void **state)
{
    (void)state;
    if (shell_begin() != 0)
        return -1;
    write_file("counts.cu", counts_cu);
    open_notify_socket();
    char url[280];
    snprintf(url, sizeof url, "--cluster %s", servers.list);
    return setenv("U", url, 1);
}

static int tear_down(void **state)
{
    close(notify_socket);
    return shell_end(state);
}

// Waits for a message that holds `part`, and passes others over, but for one that holds `never`.
static void is_told(const char *part, const char *never)
{
    char text[256];
    for (;;) {
        struct pollfd readable = {.fd = notify_socket, .events = POLLIN};
        if (poll(&readable, 1, PATIENCE_MS) != 1)
            fail_msg("nobody has told '%s'", part);
        ssize_t bytes = recv(notify_socket, text, sizeof text - 1, 0);
        assert_true(bytes >= 0);
        text[bytes] = '\0';
        if (strstr(text, part))
            return;
        if (never && strstr(text, never))
            fail_msg("told '%s' before '%s'", text, part);
    }
}

static bool has_message(void)
{
    struct pollfd readable = {.fd = notify_socket, .events = POLLIN};
    return poll(&readable, 1, 0) == 1;
}

static pid_t serve(const char *name)
{
    pid_t process = fork();
    if (process == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (!freopen("served", "w", stdout) || !freopen("problems", "w", stderr))
            _exit(126);
        execl(getenv("SLIPRING_TOOL"), "slipring", "serve", "counts.cu", "--cluster", servers.list, "--name", name,
              "--partitions", "3", "--instances", "100", "--keys", "number", (char *)NULL);
        _exit(127);
    }
    return process;
}

static int end_of(pid_t process)
{
    int status;
    assert_int_equal(waitpid(process, &status, 0), process);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void a_service_tells_when_it_is_ready_reloads_and_stops(void **state)
{
    (void)state;
    pid_t process = serve("told");
    is_told("READY=1", "STOPPING=1");
    is_told("WATCHDOG=1", "STOPPING=1");
    assert_int_equal(kill(process, SIGHUP), 0);
    is_told("RELOADING=1\nMONOTONIC_USEC=", "STOPPING=1");
    is_told("READY=1", "STOPPING=1");
    says("cat problems", 0, "the handler was replaced");
    assert_int_equal(kill(process, SIGTERM), 0);
    is_told("STOPPING=1", NULL);
    assert_int_equal(end_of(process), 0);
    says("cat served", 0, "handed over ");
}

static void a_service_that_cannot_start_is_never_ready(void **state)
{
    (void)state;
    while (has_message())
        is_told("", NULL);
    says("$S serve counts.cu --cluster nats://127.0.0.1:1 --name unready 2>&1", 1, "no connection");
    assert_false(has_message());
}

static void a_drained_service_ends_with_0(void **state)
{
    (void)state;
    pid_t process = serve("drained");
    is_told("READY=1", NULL);
    says("$S cluster drain $U --name drained --worker nobody 2>&1", 1, "no worker 'nobody'");
    says("$S cluster drain $U --name nothing 2>&1", 1, "nobody has served the name 'nothing'");
    says("$S cluster drain $U --name drained --timeout soon 2>&1", 2, "'soon' is not a time");
    gives("$S cluster drain $U --name drained --timeout 120s", 0, "");
    is_told("STOPPING=1", NULL);
    assert_int_equal(end_of(process), 0);
    gives("$S cluster show $U --name drained | grep -c ^worker", 0, "1\n"); // none is listed
}

// Nobody else is there to forget it.
static void a_killed_service_is_lost_and_a_drain_goes_on(void **state)
{
    (void)state;
    pid_t process = serve("killed");
    is_told("READY=1", NULL);
    says("await '$S cluster show $U --name killed >show; grep -q \"for 3 of 3\" show'; cat show", 0, "workers     1,");
    assert_int_equal(kill(process, SIGKILL), 0);
    assert_int_equal(end_of(process), -1);
    gives("$S cluster drain $U --name killed --timeout 120s", 0, "");
    says("$S cluster show $U --name killed | tee show", 0, "workers     0, for 0 of 3 partitions");
    says("cat show", 0, "; process ");
    says("grep ^lost show", 0, ", silent for ");
    says("$S cluster show $U --name killed --json", 0, "\"draining\": true,\n      \"lost\": true");
}

static void a_service_tells_when_its_servers_are_back(void **state)
{
    (void)state;
    pid_t process = serve("back");
    is_told("READY=1", NULL);
    assert_int_equal(kill(servers.process[0], SIGSTOP), 0);
    says("await 'grep -q NATS: problems'; cat problems", 0, "NATS: ");
    assert_int_equal(kill(servers.process[0], SIGCONT), 0);
    says("await 'grep -q again problems'; cat problems", 0, "the NATS servers answer again");
    assert_int_equal(kill(process, SIGTERM), 0);
    is_told("STOPPING=1", NULL);
    (void)end_of(process);
}

static void a_mistake_is_named_as_it_was_typed(void **state)
{
    (void)state;
    const char *const counts[] = {"--partitions", "--instances", "--capacity", "--replicas", "--key-bytes"};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        char command[128], want[64];
        snprintf(command, sizeof command, "$S serve counts.cu $U --name zero %s 0 2>&1", counts[i]);
        snprintf(want, sizeof want, "%s: '0' is not a number from 1", counts[i]);
        says(command, 2, want);
    }
    says("$S serve counts.cu --cluster http://127.0.0.1 --name x 2>&1 | grep -v slr_", 0,
         "the address of a NATS server is not nats://HOST:PORT");
    says("$S serve counts.cu $U --name 'a b' 2>&1 | grep -v slr_", 0, "the name 'a b' is not 1 to");
    says("$S serve counts.cu $U --name x --partitions 2000 2>&1 | grep -v slr_", 0, "2000 partitions: a name has 1 to");
    says("$S serve counts.cu --cluster nats://a.example:4222 --name x 2>&1", 2, "allow it with --anonymous");
    says("$S run counts.cu $U --name x --key key --input in.csv --stats 2>&1", 2, "no command prints their rates");
}

static const char model_cu[] =
    "struct message { float x[2]; };\n"
    "struct state { unsigned handled; };\n"
    "struct score { float value; };\n"
    "__ring__ void model(struct state *self, const struct message *in, const float *weights,\n"
    "                    float bias)\n"
    "{\n"
    "    struct score out = { in->x[0] * weights[0] + in->x[1] * weights[1] + bias };\n"
    "    self->handled += 1;\n"
    "    ring_reply(&out);\n"
    "}\n";

// 1 * 2 + 1 * 4 + 0.5 is 6.5, and with the weights that come later 1 * 8 + 1 * 16 + 0.5 is 24.5: floats d0 40, c4 41.
static void a_worker_scores_with_the_weights_that_were_bound(void **state)
{
    (void)state;
    write_file("model.cu", model_cu);
    write_file("weights.txt", "2 4\n");
    says("$S serve model.cu $U --name model 2>&1", 2, "handler model needs --bind weights=FILE");
    says("$S serve model.cu $U --name model --bind weights=weights.txt --bind bias=1 --bind c=1 2>&1", 2,
         "handler model has no parameter with that name");
    says("$S serve model.cu $U --name model --bind weights=none.txt --bind bias=1 2>&1", 1, "cannot read 'none.txt'");
    says("env -u NOTIFY_SOCKET $S serve model.cu $U --name model --keys number --partitions 1 --bind "
         "weights=weights.txt --bind bias=0.5 "
         ">out 2>err & pid=$!; "
         "score() { $S cluster call $U --name model --key 1 --message 0000803f0000803f 2>&1; }; "
         "await 'score | grep -q 0000d040'; "
         "echo 8 16 >weights.txt; kill -HUP $pid; await 'score | grep -q 0000c441'; "
         "echo 1 >weights.txt; kill -HUP $pid; await 'grep -c \"was replaced\" err | grep -q 2'; score; "
         "echo 2 4 >weights.txt; kill -HUP $pid; await 'score | grep -q 0000d040'; "
         "kill $pid; wait $pid",
         0, "0000c441\n"); // weights[1] is missing: the handler before goes on, with its weights
    says("cat out", 0, "faulted 0,");
    says("cat err", 0, "the new handler faulted, and the one before goes on");
}

static const char twice_cu[] = "struct message { unsigned value; };\n"
                               "struct count { unsigned handled; };\n"
                               "__ring__ void twice(struct count *self, const struct message *in)\n"
                               "{\n"
                               "    for (unsigned i = 0; i < in->value; i++)\n"
                               "        self->handled += 1u;\n"
                               "    ring_reply(&self->handled);\n"
                               "    if (in->value > 1) ring_reply(&self->handled);\n"
                               "}\n";

// What `run` can do with a handler, `serve` can; and a handler that is given too little of it says so, once and in all.
static void a_handler_with_two_replies_is_served(void **state)
{
    (void)state;
    write_file("twice.cu", twice_cu);
    write_file("twice.csv", "key,value\n1,1\n2,2\n3,3\n4,9000\n");
    says("$S serve twice.cu $U --name x --replies 65 2>&1", 2, "--replies: '65' is not a number from 1 to 64");
    says("$S serve twice.cu $U --name x --replies 0 2>&1", 2, "--replies: '0' is not a number from 1 to 64");
    says("$S serve twice.cu $U --name x --fuel 0 2>&1", 2, "--fuel: '0' is not a number from 1");
    // one NAME OPTION...: serves that name until it has handled the file.
    write_file("one",
               "name=$1; shift; $S serve twice.cu $U --name $name --keys number --partitions 1 \"$@\" "
               ">$name.out 2>$name.err & pid=$!; "
               "await \"$S cluster show $U --name $name >/dev/null\" && "
               "$S run twice.cu $U --name $name --key key --input twice.csv && "
               "await \"$S cluster show $U --name $name --json | grep -q messages.:.4\"; kill $pid; wait $pid\n");
    gives("unset NOTIFY_SOCKET; set -- few; . ./one", 0, "");
    says("cat few.out", 0, "handled 1, faulted 3, outputs 1,");
    says("cat few.err", 0, "a message became a dead letter: ");
    says("cat few.err", 0, "more replies than the ring kernel's max_replies");
    says("cat few.err", 0, "3 messages became dead letters");
    gives("wc -l <few.err", 0, "2\n");
    gives("unset NOTIFY_SOCKET; set -- enough --replies 2 --fuel 100; . ./one", 0, "");
    says("cat enough.out", 0, "handled 3, faulted 1, outputs 5,");
    says("$S cluster dead $U --name enough", 0, "\"message\": 4, \"instance\": 3, \"reason\"");
    gives("unset NOTIFY_SOCKET; set -- all --replies 2; . ./one", 0, "");
    says("cat all.out", 0, "handled 4, faulted 0, outputs 7,");
    gives("cat all.err", 0, "");
}

// A row of a name that is served, then copied and restored under another name.
static void a_name_is_listed_and_copied(void **state)
{
    (void)state;
    pid_t process = serve("first");
    is_told("READY=1", NULL);
    write_file("in.csv", "key,value\n1,0\n2,0\n3,1\n1,0\n");
    says("$S run counts.cu $U --name first --key key --input in.csv --json 2>&1", 0, "\"messages\": 4");
    // Names of the tests before are in the list, too, and may have as many messages.
    says("await '$S cluster ls $U --json > ls; grep -A 8 name.:..first ls > first; grep -q messages.:.4, first && "
         "grep -q owned.:.3 first'; cat first",
         0, "\"name\": \"first\"");
    says("cat first", 0, "\"faulted\": 1");
    says("$S cluster ls $U", 0, "3/3 partitions");
    says("$S cluster show $U --name first --json", 0, "\"partitions\": 3,\n      \"draining\": false");
    says("$S cluster dead $U --name first", 0, "integer division by zero\", \"bytes\": \"01000000\"}");
    says("$S cluster snapshot $U --name first 2>&1", 2, "--to is missing");
    says("$S cluster snapshot $U --name first --to copy", 0, "3 partitions: 3 states of 4 messages");
    says("$S cluster snapshot $U --name first --to copy 2>&1", 2, "holds a copy already");
    says("$S cluster restore $U --name first --from copy 2>&1", 1, "is in use");
    says("$S cluster restore $U --name second --from nothing 2>&1", 1, "nothing");
    says("$S cluster restore $U --name second --from copy --json", 0, "\"dead_letters\": 1");
    says("$S cluster ls $U", 0, "0/3 partitions            4 messages");
    says("$S cluster outputs $U --name first | grep -c '\"key\": [12], \"instance\": [0-9]*, \"reply\": \"'", 0, "3\n");
    gives("$S cluster outputs $U --name first --raw > 1; $S cluster outputs $U --name second --raw | cmp - 1", 0, "");
    gives("$S cluster dead $U --name second --release | wc -l; $S cluster dead $U --name second | wc -l", 0, "1\n0\n");
    // Key 1 has had two messages; the reply is the third.
    gives("$S cluster call $U --name first --key 1 --message 00000000", 0, "03000000\n");
    says("$S cluster call $U --name first --key 1 --message 00000000 --json", 0, "\"reply\": \"04000000\"");
    says("$S cluster call $U --name first --key 1 --message 01000000 2>&1", 1, "the handler faulted");
    says("$S cluster call $U --name first --key 1 --message 0000 2>&1", 2, "messages of 4 B");
    says("$S cluster call $U --name first --key 1 --message xx 2>&1", 2, "'xx' is not hexadecimal digits");
    says("$S cluster call $U --name first --key one --message 00000000 2>&1", 2, "--key: 'one' is not");
    // Nobody has listened for a while: signs of life have been left out, and the worker has gone on.
    assert_int_equal(kill(process, SIGTERM), 0);
    is_told("STOPPING=1", NULL);
    assert_int_equal(end_of(process), 0);
}

// The keys of a text file come out as `slipring run` writes them, whatever their bytes are.
static void outputs_name_their_keys(void **state)
{
    (void)state;
    // Without keys, and keys of text.
    write_file("some",
               "name=$1; shift; $S serve counts.cu $U --name $name --partitions 2 $2 >$name.out 2>$name.err & pid=$!; "
               "await \"$S cluster show $U --name $name >/dev/null\" && "
               "$S run counts.cu $U --name $name $1 --input $name.csv && "
               "await \"$S cluster show $U --name $name --json | grep -q messages.:.3\"; kill $pid; wait $pid\n");
    write_file("text.csv", "bed,value\n\"a \"\"b\"\"\",0\n\xc3\xa4,0\nq\xff,0\n");
    write_file("plain.csv", "value\n0\n0\n0\n");
    gives("unset NOTIFY_SOCKET; set -- text '--key bed' '--keys text'; . ./some", 0, "");
    gives("$S cluster outputs $U --name text | sed 's/.*\\(\"key.*\\), .instance.*/\\1/' | LC_ALL=C sort", 0,
          "\"key\": \"a \\\"b\\\"\"\n\"key\": \"q\\u00ff\"\n\"key\": \"\xc3\xa4\"\n");
    gives("unset NOTIFY_SOCKET; set -- plain '' '--keys none'; . ./some", 0, "");
    gives("$S cluster outputs $U --name plain | grep -c instance; $S cluster outputs $U --name plain | grep -c key", 1,
          "3\n0\n");
}

static void doctor_says_what_a_message_survives(void **state)
{
    (void)state;
    says("$S doctor $U", 0, "survives    a kill of the server, but a power cut");
    says("$S doctor $U --json", 0, "\"sync\": \"unknown\"");
    says("$S doctor $U --replicas 3 2>&1", 1, "replicas");
    says("$S doctor --cluster nats://a.example:4222 2>&1", 2, "--anonymous");
    says("$S doctor --cluster nats://127.0.0.1:1 2>&1", 1, "no connection");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_service_tells_when_it_is_ready_reloads_and_stops),
        cmocka_unit_test(a_service_that_cannot_start_is_never_ready),
        cmocka_unit_test(a_drained_service_ends_with_0),
        cmocka_unit_test(a_killed_service_is_lost_and_a_drain_goes_on),
        cmocka_unit_test(a_worker_scores_with_the_weights_that_were_bound),
        cmocka_unit_test(a_service_tells_when_its_servers_are_back),
        cmocka_unit_test(a_mistake_is_named_as_it_was_typed),
        cmocka_unit_test(a_name_is_listed_and_copied),
        cmocka_unit_test(a_handler_with_two_replies_is_served),
        cmocka_unit_test(outputs_name_their_keys),
        cmocka_unit_test(doctor_says_what_a_message_survives),
    };
    if (!nats_open(&servers, 1, NULL))
        return 77;
    int bad = cmocka_run_group_tests(tests, set_up, tear_down);
    nats_close(&servers);
    return bad;
}
