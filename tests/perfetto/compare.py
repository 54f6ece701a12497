# SPDX-License-Identifier: Apache-2.0
"""compare.py SOCKET TRACE PROFILE: loads the trace into the trace processor that serves SOCKET, and compares what it
makes of it with the profiler's rows. Exit code: 0 equal, 1 not."""
import json
import sys
import time

from perfetto.common.query_result_iterator import QueryResultIterator
from perfetto.trace_processor.platform import PlatformDelegate
from perfetto.trace_processor.protos import ProtoFactory
from perfetto.trace_processor.unix import TraceProcessorUnix

PIECE_BYTES = 8 << 20


class TraceProcessor(TraceProcessorUnix):
    """The package's own can ask but not load."""

    def tell(self, **request):
        stream = self.protos.TraceProcessorRpcStream()
        stream.msg.add(**request)
        self.transport.send(stream.SerializeToString())
        reply = self.protos.TraceProcessorRpc.FromString(self._read_payload())
        self._check_envelope(reply)
        return reply

    def load(self, path):
        rpc = self.protos.TraceProcessorRpc
        with open(path, 'rb') as file:
            while piece := file.read(PIECE_BYTES):
                reply = self.tell(request=rpc.TPM_APPEND_TRACE_DATA, append_trace_data=piece)
                if reply.append_result.error:
                    sys.exit(f'not loaded: {reply.append_result.error}')
        self.tell(request=rpc.TPM_FINALIZE_TRACE_DATA)

    def ask(self, sql):
        result = self.execute_query(sql)
        if result.error:
            sys.exit(f'{sql}: {result.error}')
        return [row.__dict__ for row in QueryResultIterator(list(result.column_names), result.batch)]


def sums(processor):
    """By kind and name: how many slices, and for how long together."""
    rows = processor.ask('select category, name, count(*) as n, sum(dur) as ns from slice group by 1, 2')
    return {(row['category'], row['name']): (row['n'], row['ns']) for row in rows}


def main(socket, trace, profile):
    processor = TraceProcessor(socket, ProtoFactory(PlatformDelegate()))
    begun = time.monotonic()
    processor.load(trace)
    took = time.monotonic() - begun
    [counted] = processor.ask('select (select count(*) from slice) as slices, (select count(*) from counter) as counts')
    print(f'{counted["slices"]} slices and {counted["counts"]} counter values loaded in {took:.1f} s')
    wrong = processor.ask("select name, value from stats where severity in ('error', 'data_loss') and value > 0")
    for row in wrong:
        print(f'trace processor: {row["name"]} {row["value"]}')
    found = sums(processor)
    with open(profile, encoding='utf-8') as file:
        rows = json.load(file)['rows']
    differ = 0
    for row in rows:
        if row['kind'] == 'caller':  # the same work once more, by the place of its call
            continue
        name = 'taken' if row['kind'] == 'memory' else row['name']  # marks; the program has one heap
        there = found.get((row['kind'], name))
        is_equal = there == (row['n'], row['total_ns'])
        differ += not is_equal
        print(f'{row["kind"]:9} {row["name"]:18} {row["n"]:9} times {row["total_ns"]:14} ns  '
              + ('equal' if is_equal else f'DIFFERS: {there}'))
    return 1 if wrong or differ or not rows else 0


if __name__ == '__main__':
    sys.exit(main(*sys.argv[1:]))
