// SPDX-License-Identifier: Apache-2.0
// WebGPU by navigator.gpu, for the C code of this folder: it writes a list of commands, and this executes it. What is
// answered later is awaited by Asyncify (slri_js_check, turn, adapter, device), or told in a ticket (MAP, AWAIT).

mergeInto(LibraryManager.library, {
  $slriPage__postset: 'slriPage.begin();',
  $slriPage: {
    // In the order of struct slri_page_adapter; a device asks for what its adapter has.
    limits: ['maxStorageBuffersPerShaderStage', 'maxUniformBufferBindingSize', 'maxStorageBufferBindingSize',
      'minUniformBufferOffsetAlignment', 'minStorageBufferOffsetAlignment', 'maxBufferSize',
      'maxComputeWorkgroupStorageSize', 'maxComputeInvocationsPerWorkgroup', 'maxComputeWorkgroupSizeX',
      'maxComputeWorkgroupSizeY', 'maxComputeWorkgroupSizeZ', 'maxComputeWorkgroupsPerDimension'],
    // In the order of enum slri_page_op.
    operations: ['createBuffer', 'createModule', 'createGroupLayout', 'createLayout', 'createPipeline', 'createGroup',
      'createQueries', 'createEncoder', 'beginPass', 'setPipeline', 'setGroup', 'dispatch', 'endPass', 'copy', 'clear',
      'resolve', 'finish', 'write', 'writeHere', 'submit', 'map', 'awaitWork', 'destroy', 'release'],

    begin: function () {
      slriPage.objects = new Map();
      slriPage.errors = [];   // { device, type, text }
      slriPage.answers = [];  // promises of what was created
      slriPage.devices = [];  // numbers
      slriPage.ids = 1 << 30; // of adapters
      slriPage.wake = null;   // ends a turn
    },

    text: function (at, length) {
      return UTF8ToString(at, length);
    },

    get: function (id) {
      return slriPage.objects.get(id);
    },

    // Types of webgpu.h.
    note: function (device, error) {
      var type = typeof GPUOutOfMemoryError !== 'undefined' && error instanceof GPUOutOfMemoryError ? 3
               : typeof GPUInternalError !== 'undefined' && error instanceof GPUInternalError ? 4 : 2;
      slriPage.errors.push({ device: device, type: type, text: String(error && error.message || error) });
    },

    tell: function (ticket, status) {
      HEAPU32[ticket >> 2] = status;
      if (slriPage.wake)
        slriPage.wake();
    },

    // ---- commands: the words of one begin at h[i], and there are n ------------------------------------------------

    createBuffer: function (h, i) {
      slriPage.objects.set(h[i + 1], slriPage.get(h[i]).createBuffer({ size: h[i + 2], usage: h[i + 3] }));
    },

    createModule: function (h, i) {
      var device = h[i], module = slriPage.get(device).createShaderModule({ code: slriPage.text(h[i + 2], h[i + 3]) });
      slriPage.objects.set(h[i + 1], module);
      slriPage.answers.push(module.getCompilationInfo().then(function (info) {
        var wrong = info.messages.filter(function (one) { return one.type === 'error'; });
        if (wrong.length)
          slriPage.note(device, wrong.map(function (one) {
            return 'wgsl:' + one.lineNum + ':' + one.linePos + ' ' + one.message;
          }).join('\n'));
      }));
    },

    createGroupLayout: function (h, i, n) {
      var entries = [];
      for (var k = i + 2; k < i + n; k += 3)
        entries.push({ binding: h[k], visibility: GPUShaderStage.COMPUTE,
          buffer: { type: h[k + 1] ? 'uniform' : 'storage', hasDynamicOffset: !!h[k + 2] } });
      slriPage.objects.set(h[i + 1], slriPage.get(h[i]).createBindGroupLayout({ entries: entries }));
    },

    createLayout: function (h, i) {
      slriPage.objects.set(h[i + 1], slriPage.get(h[i]).createPipelineLayout({ bindGroupLayouts: [slriPage.get(h[i + 2])] }));
    },

    createPipeline: function (h, i) {
      var device = h[i], id = h[i + 1], constants = {};
      if (h[i + 6])
        constants[slriPage.text(h[i + 6], h[i + 7])] = h[i + 8];
      slriPage.answers.push(slriPage.get(device).createComputePipelineAsync({ layout: slriPage.get(h[i + 2]),
        compute: { module: slriPage.get(h[i + 3]), entryPoint: slriPage.text(h[i + 4], h[i + 5]), constants: constants } })
        .then(function (pipeline) { slriPage.objects.set(id, pipeline); },
              function (error) { slriPage.note(device, error); }));
    },

    createGroup: function (h, i, n) {
      var entries = [];
      for (var k = i + 3; k < i + n; k += 4)
        entries.push({ binding: h[k], resource: { buffer: slriPage.get(h[k + 1]), offset: h[k + 2], size: h[k + 3] } });
      slriPage.objects.set(h[i + 1], slriPage.get(h[i]).createBindGroup({ layout: slriPage.get(h[i + 2]), entries: entries }));
    },

    createQueries: function (h, i) {
      slriPage.objects.set(h[i + 1], slriPage.get(h[i]).createQuerySet({ type: 'timestamp', count: h[i + 2] }));
    },

    createEncoder: function (h, i) {
      slriPage.objects.set(h[i + 1], slriPage.get(h[i]).createCommandEncoder());
    },

    beginPass: function (h, i) {
      var how = h[i + 2] ? { timestampWrites: { querySet: slriPage.get(h[i + 2]), beginningOfPassWriteIndex: h[i + 3],
                                                endOfPassWriteIndex: h[i + 4] } } : {};
      slriPage.objects.set(h[i + 1], slriPage.get(h[i]).beginComputePass(how));
    },

    setPipeline: function (h, i) {
      slriPage.get(h[i]).setPipeline(slriPage.get(h[i + 1]));
    },

    setGroup: function (h, i) {
      slriPage.get(h[i]).setBindGroup(h[i + 1], slriPage.get(h[i + 2]), h[i + 3] ? [h[i + 4]] : []);
    },

    dispatch: function (h, i) {
      slriPage.get(h[i]).dispatchWorkgroups(h[i + 1], h[i + 2], h[i + 3]);
    },

    endPass: function (h, i) {
      slriPage.get(h[i]).end();
    },

    copy: function (h, i) {
      slriPage.get(h[i]).copyBufferToBuffer(slriPage.get(h[i + 1]), h[i + 2], slriPage.get(h[i + 3]), h[i + 4], h[i + 5]);
    },

    clear: function (h, i) {
      slriPage.get(h[i]).clearBuffer(slriPage.get(h[i + 1]), h[i + 2], h[i + 3]);
    },

    resolve: function (h, i) {
      slriPage.get(h[i]).resolveQuerySet(slriPage.get(h[i + 1]), h[i + 2], h[i + 3], slriPage.get(h[i + 4]), h[i + 5]);
    },

    finish: function (h, i) {
      slriPage.objects.set(h[i + 1], slriPage.get(h[i]).finish());
    },

    write: function (h, i) {
      slriPage.get(h[i]).queue.writeBuffer(slriPage.get(h[i + 1]), h[i + 2], HEAPU8, h[i + 4], h[i + 3]);
    },

    writeHere: function (h, i) {
      slriPage.get(h[i]).queue.writeBuffer(slriPage.get(h[i + 1]), h[i + 2], HEAPU8, 4 * (i + 4), h[i + 3]);
    },

    submit: function (h, i) {
      slriPage.get(h[i]).queue.submit(h[i + 1] ? [slriPage.get(h[i + 1])] : []);
    },

    // What is mapped is in the library's memory before the ticket tells of it; nobody maps it again by hand.
    map: function (h, i) {
      var id = h[i], at = h[i + 1], bytes = h[i + 2], to = h[i + 3], ticket = h[i + 4], buffer = slriPage.get(id);
      buffer.mapAsync(GPUMapMode.READ, at, bytes).then(function () {
        if (slriPage.get(id) !== buffer)
          throw new Error('the buffer has gone');
        HEAPU8.set(new Uint8Array(buffer.getMappedRange(at, bytes)), to);
        buffer.unmap();
        slriPage.tell(ticket, 1);
      }).catch(function () { slriPage.tell(ticket, 2); });
    },

    awaitWork: function (h, i) {
      var ticket = h[i + 1];
      slriPage.get(h[i]).queue.onSubmittedWorkDone().then(function () { slriPage.tell(ticket, 1); },
                                                          function () { slriPage.tell(ticket, 2); });
    },

    destroy: function (h, i) {
      var dying = slriPage.get(h[i]);
      if (dying)
        dying.destroy();
    },

    release: function (h, i) {
      slriPage.objects.delete(h[i]);
      slriPage.devices = slriPage.devices.filter(function (id) { return id !== h[i]; });
    },

    // ---- lists ----------------------------------------------------------------------------------------------------

    run: function (list, words) {
      for (var i = list >> 2, end = i + words, count; i < end; i += 1 + count) {
        count = HEAPU32[i] >>> 8;
        try {
          slriPage[slriPage.operations[HEAPU32[i] & 255]](HEAPU32, i + 1, count);
        } catch (error) {
          slriPage.note(HEAPU32[i + 1], error);
        }
      }
    },

    check: async function (list, words) {
      var scopes = ['internal', 'out-of-memory', 'validation'], popped = [];
      var devices = slriPage.devices.map(function (id) { return { id: id, device: slriPage.get(id) }; });
      devices.forEach(function (one) { scopes.forEach(function (scope) { one.device.pushErrorScope(scope); }); });
      slriPage.run(list, words);
      devices.forEach(function (one) {
        scopes.forEach(function () {
          popped.push(one.device.popErrorScope().then(function (error) { return error && { id: one.id, error: error }; },
                                                      function () { return null; })); // it is lost, which is told
        });
      });
      var before = slriPage.errors.length;
      await Promise.all(slriPage.answers.splice(0));
      (await Promise.all(popped)).forEach(function (one) {
        if (one && slriPage.errors.length === before) // a compiler has more to say of the same
          slriPage.note(one.id, one.error);
      });
    },

    open: async function (id, number) {
      var adapter = slriPage.get(id), limits = {};
      slriPage.limits.forEach(function (name) { limits[name] = adapter.limits[name]; });
      var device = await adapter.requestDevice({ requiredLimits: limits,
        requiredFeatures: adapter.features.has('timestamp-query') ? ['timestamp-query'] : [] });
      slriPage.objects.set(number, device);
      slriPage.devices.push(number);
      device.addEventListener('uncapturederror', function (event) {
        event.preventDefault(); // the library tells of it
        slriPage.note(number, event.error);
      });
      device.lost.then(function (info) {
        if (info.reason !== 'destroyed')
          slriPage.errors.push({ device: number, type: 100, text: info.message || 'the browser says that it is lost' });
        if (slriPage.wake)
          slriPage.wake();
      });
    },
  },

  slri_js_run__deps: ['$slriPage'],
  slri_js_run: function (list, words) {
    slriPage.run(list, words);
    return slriPage.errors.length;
  },

  slri_js_take_error__deps: ['$slriPage'],
  slri_js_take_error: function (device, text, room) {
    var error = slriPage.errors.shift();
    HEAPU32[device >> 2] = error.device;
    stringToUTF8(error.text, text, room);
    return error.type;
  },

  slri_js_check__deps: ['$slriPage', '$Asyncify'],
  slri_js_check: function (list, words) {
    return Asyncify.handleAsync(async function () {
      await slriPage.check(list, words);
      return slriPage.errors.length;
    });
  },

  slri_js_turn__deps: ['$slriPage', '$Asyncify'],
  slri_js_turn: function (milliseconds) {
    return Asyncify.handleAsync(function () {
      return new Promise(function (resolve) {
        var timer = setTimeout(resolve, milliseconds);
        slriPage.wake = function () { clearTimeout(timer); resolve(); };
      }).then(function () {
        slriPage.wake = null;
        return slriPage.errors.length;
      });
    });
  },

  slri_js_adapter__deps: ['$slriPage', '$Asyncify'],
  slri_js_adapter: function (out) {
    return Asyncify.handleAsync(async function () {
      var gpu = typeof navigator !== 'undefined' && navigator.gpu;
      var adapter = gpu && await gpu.requestAdapter({ powerPreference: 'high-performance' }).catch(function () { return null; });
      if (!adapter)
        return 0;
      var info = adapter.info || {}, number = ++slriPage.ids;
      slriPage.objects.set(number, adapter);
      stringToUTF8(info.device || ((info.vendor || '') + ' ' + (info.architecture || '')).trim() || 'GPU', out, 64);
      stringToUTF8(info.description || 'by navigator.gpu', out + 64, 96);
      HEAPU32[(out >> 2) + 40] = number;
      HEAPU32[(out >> 2) + 41] = info.isFallbackAdapter || adapter.isFallbackAdapter ? 1 : 0;
      HEAPU32[(out >> 2) + 42] = adapter.features.has('timestamp-query') ? 1 : 0;
      slriPage.limits.forEach(function (name, i) { HEAPF64[((out + 176) >> 3) + i] = adapter.limits[name]; });
      return 1;
    });
  },

  slri_js_device__deps: ['$slriPage', '$Asyncify'],
  slri_js_device: function (adapter, number, why, room) {
    return Asyncify.handleAsync(async function () {
      try {
        await slriPage.open(adapter, number);
        return 1;
      } catch (error) {
        stringToUTF8(String(error.message || error), why, room);
        return 0;
      }
    });
  },
});
