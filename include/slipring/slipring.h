// SPDX-License-Identifier: Apache-2.0
/// This header includes all of slipring's API for host programs. Kernel sources include <slipring/device.h> instead of
/// this header.
#ifndef SLIPRING_SLIPRING_H
#define SLIPRING_SLIPRING_H

#include <slipring/api.h>
#include <slipring/autocast.h>
#include <slipring/baseline.h>
#include <slipring/buffer.h>
#include <slipring/cache.h>
#include <slipring/check.h>
#include <slipring/cluster.h>
#include <slipring/cluster_ring.h>
#include <slipring/cluster_route.h>
#include <slipring/collective.h>
#include <slipring/dead_letter.h>
#include <slipring/decide.h>
#include <slipring/devices.h>
#include <slipring/diagnose.h>
#include <slipring/emit.h>
#include <slipring/event.h>
#include <slipring/explain.h>
#include <slipring/fuse.h>
#include <slipring/graph.h>
#include <slipring/heap.h>
#include <slipring/kernel.h>
#include <slipring/key.h>
#include <slipring/keys.h>
#include <slipring/layers.h>
#include <slipring/limits.h>
#include <slipring/loop.h>
#include <slipring/metrics.h>
#include <slipring/native/metal.h>
#include <slipring/occupancy.h>
#include <slipring/operate.h>
#include <slipring/ops.h>
#include <slipring/peer.h>
#include <slipring/pool.h>
#include <slipring/port.h>
#include <slipring/print.h>
#include <slipring/profile.h>
#include <slipring/program.h>
#include <slipring/remote.h>
#include <slipring/ring.h>
#include <slipring/route.h>
#include <slipring/serve.h>
#include <slipring/slice.h>
#include <slipring/status.h>
#include <slipring/stream.h>
#include <slipring/suggest.h>
#include <slipring/supervisor.h>
#include <slipring/symbol.h>
#include <slipring/telemetry.h>
#include <slipring/tiling.h>
#include <slipring/topic.h>
#include <slipring/trace.h>
#include <slipring/tune.h>

#endif
