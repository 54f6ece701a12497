// SPDX-License-Identifier: Apache-2.0
// CAF, the C++ Actor Framework: request and reply between two event-based actors, 64 B a message, pipelined. For each
// line on standard input it measures once and prints one line of JSON; so `echo | slipring_peer_caf` measures once.
//
// The fastest of the ways that were tried with CAF 0.17: plain messages that carry the payload, without request(),
// which keeps a pending response each, and an answer sent by send(), not returned, which goes through a response
// promise. Both actors write and read each word.
#include <caf/all.hpp>

#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <future>
#include <iostream>
#include <string>

namespace {

constexpr std::uint32_t words = 16;
constexpr std::uint32_t warm_up = 2048;
constexpr std::uint32_t messages = 65536;
constexpr std::uint32_t window = 512; // sent and not yet answered

struct payload {
    std::array<std::uint32_t, words> word;
};

// A message that never leaves the process: CAF asks for an inspector all the same.
template <class Inspector> typename Inspector::result_type inspect(Inspector &f, payload &x)
{
    return f(x.word);
}

payload filled(std::uint32_t number)
{
    payload message;
    for (std::uint32_t i = 0; i < words; i++)
        message.word[i] = number + i;
    return message;
}

bool is_answer(const payload &answer, std::uint32_t number)
{
    std::uint32_t sum = 0;
    for (std::uint32_t word : answer.word)
        sum += word;
    return sum == words * number + words * (words - 1) / 2 + words;
}

caf::behavior server(caf::event_based_actor *self)
{
    return {[self](const payload &message) {
        payload answer;
        for (std::uint32_t i = 0; i < words; i++)
            answer.word[i] = message.word[i] + 1;
        self->send(caf::actor_cast<caf::actor>(self->current_sender()), answer);
    }};
}

struct client_state {
    std::uint32_t sent = 0, answered = 0, wrong = 0;
    std::chrono::steady_clock::time_point start;
};

caf::behavior client(caf::stateful_actor<client_state> *self, caf::actor to, std::promise<double> *result)
{
    while (self->state.sent < window)
        self->send(to, filled(self->state.sent++));
    return {[self, to, result](const payload &answer) {
        client_state &state = self->state;
        state.wrong += !is_answer(answer, state.answered++);
        if (state.answered == warm_up)
            state.start = std::chrono::steady_clock::now();
        if (state.sent < warm_up + messages) {
            self->send(to, filled(state.sent++));
        } else if (state.answered == warm_up + messages) {
            std::chrono::duration<double> took = std::chrono::steady_clock::now() - state.start;
            result->set_value(state.wrong == 0 ? messages / took.count() : 0.0);
            self->quit();
        }
    }};
}

double measure(caf::actor_system &system)
{
    std::promise<double> result;
    caf::actor to = system.spawn(server);
    system.spawn(client, to, &result);
    double per_second = result.get_future().get();
    caf::anon_send_exit(to, caf::exit_reason::user_shutdown);
    return per_second;
}

} // namespace

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(payload)

int main(int argc, char **argv)
{
    std::size_t workers = argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 2;
    caf::actor_system_config config;
    config.set("scheduler.max-threads", workers);
    caf::actor_system system(config);
    for (std::string line; std::getline(std::cin, line);) {
        std::printf("{\"peer\": \"CAF\", \"version\": \"%d.%d.%d\", \"workers\": %zu, \"msg_per_s\": %.0f}\n",
                    CAF_MAJOR_VERSION, CAF_MINOR_VERSION, CAF_PATCH_VERSION, workers, measure(system));
        std::fflush(stdout);
    }
    return 0;
}
