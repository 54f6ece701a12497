// SPDX-License-Identifier: Apache-2.0
// Own algorithms: panels, whose operands are packed first, and tiles in shared memory. And libraries.
#include "ops/product.h"

#include "base/alloc.h"
#include "device/stream.h"
#include "ops/blas.h"
#include "ops/clblast.h"
#include "ops/cublaslt.h"
#include "ops/pick.h"

#include <slipring/pool.h>

#include <stdio.h>
#include <string.h>

// The heuristic takes the next one where one cannot do it: on a cpu from the first, elsewhere from the third.
enum { BLAS, PANEL, CUBLASLT, CLBLAST, TILE, ALGORITHMS };

// As in source/matmul.cu.
#define ROWS 12u
#define COLUMNS 32u
#define LANES 16u
#define SIDE 16u
#define LARGE_SIDE 64u
#define PACK_ROWS 64u

static uint32_t strips(uint32_t n, uint32_t width)
{
    return (n + width - 1) / width;
}

// ---- own ------------------------------------------------------------------------------------------------------------

// With 16 elements a thread, where that leaves a block for each unit. Not on the host's cores, which it slows down.
static bool has_large_tiles(const slr_ops *ops, const struct slri_product *p)
{
    const slr_device *device = ops->device;
    bool is_gpu = device->facts.device_class <= SLR_DEVICE_INTEGRATED_GPU || strcmp(device->backend->name, "cuda") == 0;
    uint64_t blocks = (uint64_t)p->batch * (p->m / LARGE_SIDE) * (p->n / LARGE_SIDE);
    return is_gpu && blocks > 0 && blocks >= ops->device->facts.limits.units;
}

static slr_status by_tiles(slr_ops *ops, slr_stream *stream, const struct slri_product *p, slr_point *out)
{
    bool is_large = has_large_tiles(ops, p);
    uint32_t side = is_large ? LARGE_SIDE : SIDE;
    slr_shape shape = SLR_GRID_2D(strips(p->n, side), strips(p->m, side), SIDE, SIDE);
    shape.grid[2] = p->batch;
    return SLRI_OPS_LAUNCH(ops, stream, is_large ? SLRI_K_MATMUL_BLOCK : SLRI_K_MATMUL_TILE, p->dtype, shape, out,
                           slr_arg_buffer(p->a), slr_arg_buffer(p->b), slr_arg_buffer(p->c), slr_arg_buffer(p->pre),
                           slr_arg_buffer(p->bias), slri_arg_n(p->m), slri_arg_n(p->n), slri_arg_n(p->k),
                           slri_arg_n(p->a_count), slri_arg_n(p->b_count), slri_arg_n(p->transpose_a ? 1 : p->k),
                           slri_arg_n(p->transpose_a ? p->m : 1), slri_arg_n(p->transpose_b ? 1 : p->n),
                           slri_arg_n(p->transpose_b ? p->k : 1), slri_arg_n(p->bias_by_row ? p->a_count * p->m : 0),
                           slr_arg_float((double)p->alpha), slr_arg_float((double)p->beta),
                           slri_arg_n((uint32_t)p->activation));
}

static uint64_t packed_elements(uint32_t matrices, uint32_t n, uint32_t width, uint32_t depth)
{
    return (uint64_t)matrices * strips(n, width) * width * depth;
}

// The `n` side of each matrix becomes strips. `contiguous`: that side is the one whose elements lie side by side.
static slr_status pack(slr_ops *ops, slr_stream *stream, slr_scalar dtype, slr_buffer *from, slr_buffer *to,
                       uint32_t matrices, uint32_t n, uint32_t depth, uint32_t width, bool contiguous)
{
    slr_shape shape = contiguous ? SLR_GRID_2D(strips(n, width), strips(depth, PACK_ROWS), COLUMNS, 1)
                                 : SLR_GRID_2D(strips(depth, PACK_ROWS), strips(n, width), PACK_ROWS, 1);
    shape.grid[2] = matrices;
    return SLRI_OPS_LAUNCH(ops, stream, contiguous ? SLRI_K_PACK_COLUMNS : SLRI_K_PACK_ROWS, dtype, shape, NULL,
                           slr_arg_buffer(from), slr_arg_buffer(to), slri_arg_n(n), slri_arg_n(depth),
                           slri_arg_n(width));
}

static slr_status multiply_packed(slr_ops *ops, slr_stream *stream, const struct slri_product *p, slr_buffer *a,
                                  slr_buffer *b, slr_point *out)
{
    SLRI_TRY(pack(ops, stream, p->dtype, p->a, a, p->a_count, p->m, p->k, ROWS, p->transpose_a));
    SLRI_TRY(pack(ops, stream, p->dtype, p->b, b, p->b_count, p->n, p->k, COLUMNS, !p->transpose_b));
    slr_shape shape = SLR_GRID_2D(strips(p->m, ROWS), strips(p->n, COLUMNS), LANES, 1);
    shape.grid[2] = p->batch;
    return SLRI_OPS_LAUNCH(ops, stream, SLRI_K_MATMUL_PANEL, p->dtype, shape, out, slr_arg_buffer(a), slr_arg_buffer(b),
                           slr_arg_buffer(p->c), slr_arg_buffer(p->pre), slr_arg_buffer(p->bias), slri_arg_n(p->m),
                           slri_arg_n(p->n), slri_arg_n(p->k), slri_arg_n(p->a_count), slri_arg_n(p->b_count),
                           slri_arg_n(p->bias_by_row ? p->a_count * p->m : 0), slr_arg_float((double)p->alpha),
                           slr_arg_float((double)p->beta), slri_arg_n((uint32_t)p->activation));
}

static slr_status by_panels(slr_ops *ops, slr_stream *stream, const struct slri_product *p, slr_point *out)
{
    slr_buffer *a, *b;
    SLRI_TRY(slri_ops_workspace(ops, 4 * packed_elements(p->a_count, p->m, ROWS, p->k), &a));
    slr_status status = slri_ops_workspace(ops, 4 * packed_elements(p->b_count, p->n, COLUMNS, p->k), &b);
    if (status == SLR_OK) {
        status = multiply_packed(ops, stream, p, a, b, out);
        slr_buffer_destroy(b);
    }
    slr_buffer_destroy(a);
    return status;
}

// ---- libraries ------------------------------------------------------------------------------------------------------

// What a library leaves to do: `bias` may be NULL.
static slr_status finish(slr_ops *ops, slr_stream *stream, const struct slri_product *p, slr_buffer *bias,
                         slr_point *out)
{
    uint32_t elements = p->batch * p->m * p->n;
    return SLRI_OPS_LAUNCH(ops, stream, SLRI_K_MATMUL_FINISH, p->dtype, slri_shape_each(elements), out,
                           slr_arg_buffer(p->c), slr_arg_buffer(p->pre), slr_arg_buffer(bias), slri_arg_n(elements),
                           slri_arg_n(p->n), slri_arg_n(p->bias_by_row ? p->a_count * p->m : 0),
                           slri_arg_n((uint32_t)p->activation));
}

static slr_status by_cublaslt(slr_ops *ops, slr_stream *stream, const struct slri_product *p, slr_point *out)
{
    const char *why_not;
    const struct slri_cublaslt_plan *plan = slri_cublaslt_plan_of(ops, p, &why_not);
    bool finished;
    if (!plan)
        return SLRI_FAIL(UNSUPPORTED, "cublaslt.matmul: %s", why_not);
    SLRI_TRY(slri_cublaslt_submit(ops, stream, plan, p, out, &finished));
    return finished ? SLR_OK : finish(ops, stream, p, NULL, out);
}

static bool has_epilogue(const struct slri_product *p)
{
    return p->bias || p->pre || p->activation;
}

static slr_status by_clblast(slr_ops *ops, slr_stream *stream, const struct slri_product *p, slr_point *out)
{
    SLRI_TRY(slri_clblast_submit(ops, stream, p, has_epilogue(p) ? NULL : out));
    return has_epilogue(p) ? finish(ops, stream, p, p->bias, out) : SLR_OK;
}

// OpenBLAS's: a host function of the stream.

struct job {
    slr_device *device;
    size_t bytes;
    uint32_t count;
    int threads;
    struct slri_blas_product product[];
};

static void multiply_job(void *user, slr_status status)
{
    const struct job *job = user;
    if (status == SLR_OK) // else an earlier command of the stream has failed
        slri_blas_multiply(job->product, job->count, job->threads);
}

static void settle(void *user)
{
    struct job *job = user;
    slri_free(job->device->allocator, job, job->bytes);
}

static slr_status make_job(slr_ops *ops, const struct slri_product *p, struct job **out)
{
    size_t bytes = sizeof(struct job) + p->batch * sizeof(struct slri_blas_product);
    struct job *job = slri_alloc(ops->device->allocator, bytes);
    if (!job)
        return SLRI_FAIL(NO_MEMORY, "no memory for a product of %u matrices", p->batch);
    uint32_t threads = ops->device->facts.limits.units;
    *job =
        (struct job){.device = ops->device, .bytes = bytes, .count = p->batch, .threads = threads ? (int)threads : 1};
    for (uint32_t z = 0; z < p->batch; ++z)
        job->product[z] = (struct slri_blas_product){
            p->transpose_a,
            p->transpose_b,
            (int)p->m,
            (int)p->n,
            (int)p->k,
            p->alpha,
            p->beta,
            slri_buffer_at(p->a, 4ull * (z % p->a_count) * p->m * p->k),
            slri_buffer_at(p->b, 4ull * (z % p->b_count) * p->k * p->n),
            slri_buffer_at(p->c, 4ull * z * p->m * p->n),
        };
    *out = job;
    return SLR_OK;
}

static slr_status by_blas(slr_ops *ops, slr_stream *stream, const struct slri_product *p, slr_point *out)
{
    struct job *job;
    bool finishes = has_epilogue(p);
    SLRI_TRY(make_job(ops, p, &job));
    const struct slri_command command = {.op = SLRI_CALL, .call = {multiply_job, job}};
    const struct slri_buffer_use use[] = {{p->a, 0, p->a->bytes, SLRI_READS, false},
                                          {p->b, 0, p->b->bytes, SLRI_READS, false},
                                          {p->c, 0, p->c->bytes, SLRI_WRITES, false}};
    const struct slri_work work = {
        .command = &command, .commands = 1, .use = use, .uses = 3, .settle = settle, .user = job};
    slr_status status = slri_stream_submit(stream, &work, finishes ? NULL : out);
    if (status != SLR_OK) {
        settle(job);
        return status;
    }
    return finishes ? finish(ops, stream, p, p->bias, out) : SLR_OK;
}

// ---- which one ------------------------------------------------------------------------------------------------------

static slr_status multiply_by(slr_ops *ops, slr_stream *stream, const struct slri_product *product, uint32_t algorithm,
                              slr_point *out)
{
    return algorithm == BLAS       ? by_blas(ops, stream, product, out)
           : algorithm == PANEL    ? by_panels(ops, stream, product, out)
           : algorithm == CUBLASLT ? by_cublaslt(ops, stream, product, out)
           : algorithm == CLBLAST  ? by_clblast(ops, stream, product, out)
                                   : by_tiles(ops, stream, product, out);
}

static const char *why_no_blas(const slr_ops *ops, slr_scalar dtype)
{
    if (dtype != SLR_F32)
        return "it multiplies floats alone";
    if (strcmp(ops->device->backend->name, "cpu") != 0)
        return "its memory is the host's, and this device is no cpu";
    return slri_blas_is_there() ? NULL : slri_blas_describe()->why_not;
}

static void write_product_key(const void *problem, char *key)
{
    const struct slri_product *p = problem;
    snprintf(key, SLRI_PICK_KEY_BYTES, "ops.matmul %s%s %s x%u/%u/%u%s", p->transpose_a ? "t" : "n",
             p->transpose_b ? "t" : "n", slri_real_name(p->dtype), p->batch, p->a_count, p->b_count,
             has_epilogue(p) ? " epilogue" : "");
}

// Packing costs memory traffic, and vectors of the host need it; a group of a GPU has shared memory.
static void fill_product_pick(slr_ops *ops, const struct slri_product *p, struct slri_pick *out)
{
    uint64_t packed =
        4 * (packed_elements(p->a_count, p->m, ROWS, p->k) + packed_elements(p->b_count, p->n, COLUMNS, p->k));
    bool is_host = ops->device->backend->is_host;
    *out = (struct slri_pick){
        .sizes = {p->m, p->n, p->k}, .flops = 2.0 * p->m * p->n * p->k * p->batch, .count = ALGORITHMS};
    out->write_key = write_product_key, out->problem = p;
    out->contender[BLAS] =
        (struct slri_contender){"openblas.sgemm", "openblas", 0, false, why_no_blas(ops, p->dtype), 0};
    out->contender[PANEL] = (struct slri_contender){
        "own.panel", "own", packed, true, packed / 4 > 0x7FFFFFFF ? "packed, it has 2^31 elements or more" : NULL, 0};
    const char *why_not;
    const struct slri_cublaslt_plan *lt = slri_cublaslt_plan_of(ops, p, &why_not);
    out->contender[CUBLASLT] = (struct slri_contender){
        "cublaslt.matmul", "cublaslt", lt ? slri_cublaslt_workspace(lt) : 0, lt && slri_cublaslt_is_deterministic(lt),
        why_not,           0};
    uint64_t workspace_bytes;
    why_not = slri_clblast_check(ops, p, &workspace_bytes);
    out->contender[CLBLAST] = (struct slri_contender){"clblast.sgemm", "clblast", workspace_bytes, false, why_not, 0};
    out->contender[TILE] = (struct slri_contender){"own.tile", "own", 0, true, NULL, 0};
    out->heuristic = is_host ? BLAS : CUBLASLT;
}

// A call into memory that nobody reads.
struct rehearsal {
    slr_ops *ops;
    struct slri_product product;
};

static slr_status rehearse_product(void *user, uint32_t algorithm, slr_stream *stream)
{
    struct rehearsal *rehearsal = user;
    return multiply_by(rehearsal->ops, stream, &rehearsal->product, algorithm, NULL);
}

static slr_status begin_product_rehearsal(slr_ops *ops, const struct slri_product *product, struct rehearsal *out)
{
    slr_pool *pool;
    uint64_t elements = (uint64_t)product->batch * product->m * product->n;
    *out = (struct rehearsal){ops, *product};
    out->product.c = out->product.pre = NULL;
    SLRI_TRY(slr_device_get_pool(ops->device, &pool));
    slr_status status = slr_pool_acquire(pool, elements, SLR_F32, &out->product.c);
    if (status == SLR_OK && product->pre)
        status = slr_pool_acquire(pool, elements, SLR_F32, &out->product.pre);
    return status;
}

static void end_product_rehearsal(struct rehearsal *rehearsal)
{
    slr_buffer_destroy(rehearsal->product.c);
    slr_buffer_destroy(rehearsal->product.pre);
}

slr_status slri_product_run(slr_ops *ops, slr_stream *stream, const struct slri_product *product, slr_point *out)
{
    struct slri_pick pick;
    struct rehearsal rehearsal = {ops, *product};
    uint32_t algorithm;
    fill_product_pick(ops, product, &pick);
    pick.run = rehearse_product, pick.user = &rehearsal;
    if (ops->desc.choice != SLR_CHOICE_BENCHMARK) {
        SLRI_TRY(slri_pick_choose(ops, stream, &pick, &algorithm));
        return multiply_by(ops, stream, product, algorithm, out);
    }
    slr_status status = begin_product_rehearsal(ops, product, &rehearsal);
    if (status == SLR_OK)
        status = slri_pick_choose(ops, stream, &pick, &algorithm);
    end_product_rehearsal(&rehearsal);
    return status == SLR_OK ? multiply_by(ops, stream, product, algorithm, out) : status;
}

slr_status slri_product_bench(slr_ops *ops, slr_stream *stream, const struct slri_product *product,
                              slr_algorithm_visitor *visit, void *user)
{
    struct slri_pick pick;
    struct rehearsal rehearsal;
    fill_product_pick(ops, product, &pick);
    slr_status status = begin_product_rehearsal(ops, product, &rehearsal);
    pick.run = rehearse_product, pick.user = &rehearsal;
    if (status == SLR_OK)
        status = slri_pick_bench(ops, stream, &pick, visit, user);
    end_product_rehearsal(&rehearsal);
    return status;
}
