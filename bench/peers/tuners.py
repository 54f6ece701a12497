#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tuners.py SLIPRING [--evaluations N] [--seeds N] [--strategy S] [--small] [--json]

slipring's tuner beside Kernel Tuner (PyPI kernel-tuner, with pyopencl): the same kernels of bench/kernels/tune, the
same candidates, the same number of evaluations, the same OpenCL device. Each chooses by its own measurements. Both
choices are then timed by `slipring kernel time`, in turn, so that neither tuner's clock counts.

Kernel Tuner gets the source as OpenCL C: CUDA's words are replaced one by one, and nothing else. A block's sides are
parameters that a restriction makes what "#pragma slipring block" says.
"""
import argparse, json, math, os, re, statistics, subprocess, sys

HERE = os.path.dirname(os.path.abspath(__file__))
FOLDER = os.path.join(HERE, '..', 'kernels', 'tune')
DEVICE = 'opencl:0'

# name: (side, whether the problem is a square, buffers: type, elements as a function of the side, what is in them)
SQUARE, LINE = (lambda n: n * n), (lambda n: 3 * n)
KERNELS = {
    'matmul': (512, True, [('float', SQUARE, 'random'), ('float', SQUARE, 'random'), ('float', SQUARE, 'zero')]),
    'reduce': (1 << 22, False, [('int', LINE, 'random'), ('int', lambda n: 256, 'zero')]),
    'transpose': (2048, True, [('float', SQUARE, 'random'), ('float', SQUARE, 'zero')]),
    'stencil': (2048, True, [('float', SQUARE, 'random'), ('float', SQUARE, 'zero')]),
    'nbody': (4096, False, [('float', LINE, 'random')] * 3 + [('float', LINE, 'zero')]),
    'histogram': (1 << 22, False, [('int', LINE, 'random'), ('int', lambda n: 256, 'zero')]),
}


def expression(text):
    """A condition of #if as one of Python."""
    return re.sub(r'(?<![<>=!])/(?!/)', '//', text.replace('&&', ' and ').replace('||', ' or '))


class Source:
    def __init__(self, name):
        self.name = name
        self.path = os.path.join(FOLDER, name + '.cu')
        with open(self.path) as file:
            self.text = file.read()
        self.values = {macro: [int(v) for v in values.split(',')] for macro, values in
                       re.findall(r'#pragma slipring tune (\w+) = ([^\n]*)', self.text)}
        self.default = {macro: int(re.search(r'#define %s (\d+)' % macro, self.text).group(1)) for macro in self.values}
        self.require = [expression(line) for line in re.findall(r'#pragma slipring require ([^\n]*)', self.text)]
        self.block = self.sides('block')
        self.items = self.sides('items') or self.block

    def sides(self, word):
        line = re.search(r'#pragma slipring %s %s = ([^\n]*)' % (word, self.name), self.text)
        return [expression(side.strip()) for side in line.group(1).split(',')] if line else []

    def allows(self, choice):
        return all(eval(rule, {}, dict(choice)) for rule in self.require)

    def opencl(self):
        text = re.sub(r'#pragma slipring[^\n]*', '', self.text)
        head, arguments, body = re.split(r'__global__ void %s\(([^)]*)\)' % self.name, text)
        arguments = re.sub(r'(const )?(\w+) \*', r'__global \1\2 *', arguments)
        for what, opencl in (('threadIdx.', 'get_local_id'), ('blockIdx.', 'get_group_id'), ('blockDim.', 'get_local_size')):
            for axis, letter in enumerate('xyz'):
                body = body.replace(what + letter, '((int)%s(%d))' % (opencl, axis))
                head = head.replace(what + letter, '((int)%s(%d))' % (opencl, axis))
        body = body.replace('__shared__', '__local').replace('__syncthreads()', 'barrier(CLK_LOCAL_MEM_FENCE)')
        body = re.sub(r'const float \*(\w+) = (\w+) \+', r'__global const float *\1 = \2 +', body)
        body = body.replace('atomicAdd', 'atomic_add')
        return ('%s__kernel void %s(%s)%s' % (head, self.name, arguments, body)).replace('sqrtf(', 'sqrt(')


def run(words):
    done = subprocess.run(words, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit('%s: %s' % (' '.join(words[:4]), done.stderr.strip()))
    return json.loads(done.stdout)


class Problem:
    """A kernel with a size, for both tuners."""

    def __init__(self, slipring, source, small):
        self.slipring, self.source = slipring, source
        self.side, self.is_square, self.buffers = KERNELS[source.name]
        if small:
            self.side = 128 if self.is_square else 4096
        self.size = '%dx%d' % (self.side, self.side) if self.is_square else str(self.side)
        with open(source.path) as file:
            names = re.findall(r'(\w+)[,)]', re.search(r'__global__ void \w+\(([^)]*\))', file.read()).group(1))
        self.options = ['--size', self.size, '--device', DEVICE, '--json', '--arg', '%s=%d' % (names[-1], self.side)]
        for name, (kind, count, fill) in zip(names, self.buffers):
            self.options += ['--arg', '%s=%s[%d]:%s' % (name, kind, count(self.side), fill)]

    def tune_by_slipring(self, evaluations, seed):
        answer = run([self.slipring, 'tune', self.source.path, self.source.name, *self.options, '--discard', '--keep',
                      'width', '--keep', 'branches', '--evaluations', str(evaluations), '--seed', str(seed)])
        problem = answer['problems'][0] if 'problems' in answer else answer
        return problem['defines'], problem['evaluations'], problem['space']

    def tune_by_kernel_tuner(self, evaluations, seed, strategy):
        import random
        import kernel_tuner
        import numpy
        random.seed(seed)
        numpy.random.seed(seed)
        source, names = self.source, ['BLOCK_SIDE_X', 'BLOCK_SIDE_Y'][:len(self.source.block)]
        params = dict(source.values)
        for name, side in zip(names, source.block):
            choices = [dict()]
            for macro, values in source.values.items():
                choices = [dict(c, **{macro: v}) for c in choices for v in values]
            params[name] = sorted({int(eval(side, {}, c)) for c in choices if source.allows(c)} - {0})
        fits = source.require + ['%s == %s' % pair for pair in zip(names, source.block)]
        arrays = []
        for kind, count, fill in self.buffers:
            of = numpy.float32 if kind == 'float' else numpy.int32
            size = count(self.side)
            arrays.append(numpy.zeros(size, of) if fill == 'zero' else
                          numpy.random.rand(size).astype(of) if kind == 'float' else
                          numpy.random.randint(0, 100, size).astype(of))
        divide = {'grid_div_' + axis: [side.replace('//', '/')] for axis, side in zip('xy', source.items)}
        os.makedirs('build', exist_ok=True)
        results, _ = kernel_tuner.tune_kernel(
            source.name, source.opencl(), (self.side, self.side) if self.is_square else self.side,
            arrays + [numpy.int32(self.side)], params, restrictions=fits, lang='OpenCL', block_size_names=names,
            strategy=strategy, strategy_options={'max_fevals': evaluations}, quiet=True, verbose=False, **divide)
        good = [r for r in results if isinstance(r['time'], float)]
        best = min(good, key=lambda r: r['time'])
        return ' '.join('%s=%d' % (m, best[m]) for m in source.values), len(results)

    def time(self, defines):
        words = [self.slipring, 'kernel', 'time', self.source.path, self.source.name, *self.options, '--repeats', '9']
        for define in defines.split():
            words += ['-D', define]
        return run(words)['p50_ns']

    def compare(self, ours, theirs, rounds):
        if dict(self.whole(ours)) == dict(self.whole(theirs)):
            return 1.0
        ratios = [self.time(theirs) / self.time(ours) for _ in range(rounds)]
        return statistics.median(ratios)

    def whole(self, defines):
        return dict(self.source.default, **{m: int(v) for m, v in (d.split('=') for d in defines.split())})


def main():
    asked = argparse.ArgumentParser(usage=__doc__)
    asked.add_argument('slipring')
    asked.add_argument('--evaluations', type=int, default=0)
    asked.add_argument('--seeds', type=int, default=3)
    asked.add_argument('--strategy', default='genetic_algorithm')
    asked.add_argument('--kernel', action='append')
    asked.add_argument('--small', action='store_true')
    asked.add_argument('--json', action='store_true')
    asked = asked.parse_args()
    rows, silence = [], open(os.devnull, 'w')
    for name in asked.kernel or KERNELS:
        problem = Problem(asked.slipring, Source(name), asked.small)
        for seed in range(1, asked.seeds + 1):
            evaluations = asked.evaluations or 12
            ours, used, space = problem.tune_by_slipring(evaluations, seed)
            stdout, sys.stdout = sys.stdout, silence # it prints its progress
            try:
                theirs, tried = problem.tune_by_kernel_tuner(used, seed, asked.strategy)
            finally:
                sys.stdout = stdout
            rows.append({'name': 'tune_%s_kernel_tuner' % name, 'seed': seed, 'evaluations': used, 'theirs_evaluations': tried,
                         'space': space, 'slipring': ours, 'kernel_tuner': theirs,
                         'ratio': problem.compare(ours, theirs, 1 if asked.small else 5)})
            if not asked.json:
                print('%(name)-32s seed %(seed)d  %(ratio)5.2f  %(evaluations)d of %(space)d  slipring: %(slipring)s  '
                      'Kernel Tuner (%(theirs_evaluations)d): %(kernel_tuner)s' % rows[-1], flush=True)
    mean = math.exp(sum(math.log(row['ratio']) for row in rows) / len(rows))
    if asked.json:
        print(json.dumps({'rows': rows, 'mean': mean, 'strategy': asked.strategy}, indent=2))
    else:
        print('geometric mean, time of its choice / of ours: %.3f' % mean)


main()
