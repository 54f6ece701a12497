# SPDX-License-Identifier: Apache-2.0
"""A device of WebGPU, through the Python package of wgpu-native (naga) or of Dawn (Tint): both have one interface."""
import importlib
import re
import struct


def round_up(data, to):
    return data + bytes(-len(data) % to)


class Refused(Exception):
    """The compiler refuses a text; says what, with the line of the source that it is about."""


def place_of(text, line):
    """The last `// FILE:LINE` above that line of WGSL."""
    for above in reversed(text.split("\n")[:line]):
        match = re.match(r"\s*// (\S+:\d+)$", above)
        if match:
            return match[1]
    return "?"


class Device:
    def __init__(self, package):
        self.wgpu = importlib.import_module(package)
        adapters = [a for a in self.wgpu.gpu.enumerate_adapters_sync() if a.info["backend_type"] == "Vulkan"]
        if not adapters:
            raise LookupError(f"{package} finds no adapter of Vulkan")
        self.name = adapters[0].info["device"]
        self.device = adapters[0].request_device_sync()

    def compile(self, text, entry, constants):
        wgpu = self.wgpu
        found = re.findall(r"@binding\((\d+)\) var<(uniform|storage, read|storage, read_write)>", text)
        kinds = {"uniform": "uniform", "storage, read": "read-only-storage", "storage, read_write": "storage"}
        layout = self.device.create_bind_group_layout(entries=[
            {"binding": int(number), "visibility": wgpu.ShaderStage.COMPUTE, "buffer": {"type": kinds[kind]}} for number, kind in found])
        try:
            module = self.device.create_shader_module(code=text)
            stage = {"module": module, "entry_point": entry}
            if constants:
                stage["constants"] = constants
            pipeline = self.device.create_compute_pipeline(
                layout=self.device.create_pipeline_layout(bind_group_layouts=[layout]), compute=stage)
        except Exception as error:
            said = str(error)
            match = re.search(r"(?:wgsl|<stdin>|:)\D{0,12}(\d+):\d+", said)
            raise Refused(f"{place_of(text, int(match[1])) if match else '?'}: {said}") from error
        return pipeline, layout, [int(number) for number, _ in found]

    def run(self, compiled, buffers, values, present, grid):
        """`buffers`: bytes each, in the kernel's order; gives what they are in the end, and the fault's three words."""
        wgpu, device = self.wgpu, self.device
        pipeline, layout, declared = compiled
        usage = wgpu.BufferUsage.STORAGE | wgpu.BufferUsage.COPY_SRC
        bound = [device.create_buffer_with_data(data=round_up(data or bytes(4), 4), usage=usage) for data in buffers]
        words = struct.pack("<I", sum(1 << i for i, there in enumerate(present) if there)) + b"".join(round_up(v, 4) for v in values)
        more = [device.create_buffer_with_data(data=round_up(words, 16), usage=wgpu.BufferUsage.UNIFORM),
                device.create_buffer_with_data(data=bytes(1 << 16), usage=usage),
                device.create_buffer_with_data(data=bytes(12), usage=usage)]
        entries = [{"binding": i, "resource": {"buffer": b, "offset": 0, "size": b.size}} for i, b in enumerate(bound + more) if i in declared]
        group = device.create_bind_group(layout=layout, entries=entries)
        encoder = device.create_command_encoder()
        compute = encoder.begin_compute_pass()
        compute.set_pipeline(pipeline)
        compute.set_bind_group(0, group)
        compute.dispatch_workgroups(*grid)
        compute.end()
        device.queue.submit([encoder.finish()])
        left = [bytes(device.queue.read_buffer(b))[:len(data)] for b, data in zip(bound, buffers)]
        return left, struct.unpack("<3I", bytes(device.queue.read_buffer(more[2])))
