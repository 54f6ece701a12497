// SPDX-License-Identifier: Apache-2.0
// A handler that is given many messages a call: it scores feature vectors against a model, and reads each row of the
// model once for the whole batch instead of once for each message. The batch may take 200 us to fill.
#include "example.h"

enum { FEATURES = 32, CLASSES = 16, MOST = 32, VECTORS = 2000 };

struct vector {
    uint32_t number;
    float feature[FEATURES];
};

struct verdict {
    uint32_t number, best;
    float score;
};

struct model {
    float weight[CLASSES][FEATURES];
    uint32_t calls, most; // batches, and the largest of them
};

static float dot(const float *a, const float *b)
{
    float sum = 0;
    for (uint32_t i = 0; i < FEATURES; ++i)
        sum += a[i] * b[i];
    return sum;
}

static void judge(struct verdict *verdict, uint32_t class, float score)
{
    if (class > 0 && score <= verdict->score)
        return;
    verdict->best = class;
    verdict->score = score;
}

static slr_status score(void *user, const slr_delivery *deliveries, uint32_t count)
{
    struct model *model = user;
    struct verdict verdict[MOST];
    for (uint32_t class = 0; class < CLASSES; ++class)
        for (uint32_t k = 0; k < count; ++k)
            judge(&verdict[k], class,
                  dot(model->weight[class], ((const struct vector *)deliveries[k].message)->feature));
    model->calls += 1; // one instance, so one call at a time
    model->most = count > model->most ? count : model->most;
    for (uint32_t k = 0; k < count; ++k) {
        verdict[k].number = ((const struct vector *)deliveries[k].message)->number;
        TRY(slr_reply_to(&deliveries[k], &verdict[k], sizeof verdict[k]));
    }
    return SLR_OK;
}

static struct vector make_vector(uint32_t number)
{
    struct vector vector = {.number = number};
    for (uint32_t i = 0; i < FEATURES; ++i)
        vector.feature[i] = (float)((number * 31 + i * 17) % 101) - 50;
    return vector;
}

static void expect(const struct model *model, const struct verdict *got)
{
    struct vector vector = make_vector(got->number);
    struct verdict alone = {0};
    for (uint32_t class = 0; class < CLASSES; ++class)
        judge(&alone, class, dot(model->weight[class], vector.feature));
    check(got->best == alone.best && got->score == alone.score, "a batch says what a single call says");
}

int main(void)
{
    static struct model model;
    for (uint32_t class = 0; class < CLASSES; ++class)
        for (uint32_t i = 0; i < FEATURES; ++i)
            model.weight[class][i] = (float)((class * 13 + i * 7) % 19) - 9;
    slr_device *device;
    slr_ring *ring;
    slr_port *port;
    slr_address to;
    slr_ring_desc desc = SLR_RING_DESC_INIT;
    desc.name = "score";
    desc.on_batch = score;
    desc.user = &model;
    desc.message_bytes = sizeof(struct vector);
    desc.reply_bytes = sizeof(struct verdict);
    desc.max_batch = MOST;
    desc.linger_ns = 200000;
    MUST(slr_device_open("cpu", NULL, &device));
    MUST(slr_ring_create(device, &desc, &ring));
    MUST(slr_ring_launch(ring));
    MUST(slr_ring_activate(ring, 60 * SECOND));
    MUST(slr_ring_get_address(ring, 0, &to));
    MUST(slr_port_open(device, &port));

    static uint32_t judged[VECTORS];
    for (uint32_t sent = 0, received = 0; received < VECTORS;) {
        for (; sent < VECTORS && sent < received + 100; ++sent) { // at most 100 under way
            struct vector vector = make_vector(sent);
            MUST(slr_send(port, to, &vector, sizeof vector, 60 * SECOND));
        }
        slr_reply reply;
        struct verdict verdict;
        MUST(slr_receive(port, &reply, &verdict, sizeof verdict, 60 * SECOND));
        expect(&model, &verdict);
        check(judged[verdict.number]++ == 0, "each vector is judged once");
        ++received;
    }
    slr_ring_stats stats;
    MUST(slr_ring_terminate(ring, 60 * SECOND, NULL, NULL, &stats));
    check(stats.handled == VECTORS, "all were handled");
    check(model.calls < VECTORS && model.most > 1, "calls get several messages");
    printf("%d vectors in %u calls, the largest of %u\n", VECTORS, model.calls, model.most);
    slr_port_close(port);
    slr_ring_destroy(ring);
    slr_device_close(device);
    return 0;
}
