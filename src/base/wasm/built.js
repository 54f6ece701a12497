// SPDX-License-Identifier: Apache-2.0
// Code that `slipring build --target wasm` has made, for dl_system.c. Each thread of a page has its own JavaScript and its own
// table of functions: the page's thread adds such code (Module.addBuilt), and the others take it from the library's memory.

mergeInto(LibraryManager.library, {
  $slriBuilt__postset: 'slriBuilt.begin();',
  $slriBuilt__deps: ['malloc'],
  $slriBuilt: {
    stackBytes: 65536,

    begin: function () {
      slriBuilt.functions = new Map(); // by their names, which end in the key of their text
      slriBuilt.keys = new Set();
      slriBuilt.modules = 0;           // of the library's list that are here
      slriBuilt.places = [];           // of functions, in this thread's table
      Module['addBuilt'] = slriBuilt.add;
    },

    refuse: function (status, why) {
      var error = new Error('slipring: ' + why);
      error.status = status;
      throw error;
    },

    // Reads numbers of WebAssembly's, from `at` on.
    reader: function (bytes, at) {
      var reader = { at: at, number: function () {
        var value = 0, shift = 0;
        do {
          value |= (bytes[reader.at] & 127) << shift;
          shift += 7;
        } while (bytes[reader.at++] & 128);
        return value >>> 0;
      } };
      return reader;
    },

    // A number in five bytes, as it may be written.
    number: function (value) {
      return [0, 7, 14, 21].map(function (shift) { return value >>> shift & 127 | 128; }).concat([value >>> 28]);
    },

#if USE_PTHREADS
    // The same module, which imports a memory that threads share. In a valid module only its import's type says otherwise.
    share: function (bytes) {
      var reader = slriBuilt.reader(bytes, 8), section, end, kind;
      do {
        section = reader.at;
        kind = bytes[reader.at++];
        end = reader.number() + reader.at;
        if (kind !== 2)
          reader.at = end;
      } while (kind !== 2 && reader.at < bytes.length);
      var first = reader.at;
      for (var left = kind === 2 ? reader.number() : 0; left > 0; left--) {
        for (var names = 0; names < 2; names++)
          reader.at = reader.number() + reader.at;
        var of = bytes[reader.at++], limits = reader.at;
        if (of === 2) {
          var has_most = reader.number(), least = reader.number();
          if (has_most & 1)
            reader.number();
          var imports = [].concat(Array.from(bytes.subarray(first, limits)), [3], slriBuilt.number(least),
                                  slriBuilt.number({{{ MAXIMUM_MEMORY / 65536 }}}), Array.from(bytes.subarray(reader.at, end)));
          return new Uint8Array([].concat(Array.from(bytes.subarray(0, section)), [2], slriBuilt.number(imports.length), imports,
                                          Array.from(bytes.subarray(end))));
        }
        if (of === 1) // a table: its elements' type, and its limits
          reader.number();
        if (of === 1 && reader.number() & 1)
          reader.number();
        reader.number(); // a function's type; a table's least; a global's type, and
        if (of === 3)
          reader.number(); // whether it changes
      }
      return bytes;
    },
#endif

    // Bytes of data and their alignment, of an Emscripten side module.
    dylink: function (module) {
      var section = WebAssembly.Module.customSections(module, 'dylink.0')[0];
      if (!section)
        slriBuilt.refuse('SLR_INVALID', 'this WebAssembly is not what slipring build makes');
      var number = slriBuilt.reader(new Uint8Array(section), 0).number;
      if (number() !== 1 || number() < 3) // the part about memory comes first
        slriBuilt.refuse('SLR_INVALID', 'this WebAssembly says nothing of its memory');
      return { dataBytes: number(), alignment: 1 << number(), functions: number() };
    },

    // It has a stack and data of its own in the library's memory, which stay.
    imports: function (module) {
      var needs = slriBuilt.dylink(module);
      var data = _malloc(needs.dataBytes + needs.alignment), stack = _malloc(slriBuilt.stackBytes);
      if (!data || !stack || needs.functions)
        slriBuilt.refuse(needs.functions ? 'SLR_UNSUPPORTED' : 'SLR_NO_MEMORY', 'no place for code that was built ahead');
      var base = Math.ceil(data / needs.alignment) * needs.alignment;
      new Uint8Array(wasmMemory.buffer).fill(0, base, base + needs.dataBytes);
      var given = { memory: wasmMemory, memcpy: Module['_memcpy'], memmove: Module['_memmove'], memset: Module['_memset'],
        __memory_base: new WebAssembly.Global({ value: 'i32' }, base), __table_base: new WebAssembly.Global({ value: 'i32' }, 0),
        __stack_pointer: new WebAssembly.Global({ value: 'i32', mutable: true }, stack + slriBuilt.stackBytes) };
      WebAssembly.Module.imports(module).forEach(function (one) {
        if (!given[one.name])
          slriBuilt.refuse('SLR_UNSUPPORTED', 'code that was built ahead needs ' + one.name + ', which a page does not have');
      });
      return { env: given };
    },

    take: function (instance) {
      var exports = instance.exports;
      ['__wasm_apply_data_relocs', '__wasm_call_ctors'].forEach(function (name) {
        if (exports[name])
          exports[name]();
      });
      Object.keys(exports).forEach(function (name) {
        var key = /_([0-9a-f]{32})$/.exec(name);
        if (key) {
          slriBuilt.keys.add(key[1]);
          slriBuilt.functions.set(name, exports[name]);
        }
      });
      slriBuilt.modules++;
    },

    // On the page's own thread, which may not wait for a compiler. Gives the number of texts so far.
    add: async function (from) {
      var bytes = new Uint8Array(from.buffer || from, from.byteOffset || 0, from.byteLength);
#if USE_PTHREADS
      if (WebAssembly.validate(bytes))
        bytes = slriBuilt.share(bytes);
#endif
      var module = await WebAssembly.compile(bytes);
      slriBuilt.take(await WebAssembly.instantiate(module, slriBuilt.imports(module)));
      var copy = _malloc(bytes.byteLength);
      if (copy)
        new Uint8Array(wasmMemory.buffer).set(bytes, copy);
      if (!copy || !Module['_slri_dl_share'](copy, bytes.byteLength))
        slriBuilt.refuse('SLR_NO_MEMORY', 'no place for code that was built ahead');
      return slriBuilt.keys.size;
    },

    // `first`: struct shared of dl_system.c: the bytes, how many they are, the next one.
    catchUp: function (first) {
      var words = new Uint32Array(wasmMemory.buffer);
      for (var i = 0, at = first >> 2; at; at = words[at + 2] >> 2, i++) {
        if (i < slriBuilt.modules)
          continue;
        var module = new WebAssembly.Module(new Uint8Array(wasmMemory.buffer).slice(words[at], words[at] + words[at + 1]));
        slriBuilt.take(new WebAssembly.Instance(module, slriBuilt.imports(module)));
      }
    },
  },

  // NULL asks for any at all.
  slri_js_has_built__deps: ['$slriBuilt'],
  slri_js_has_built: function (first, key) {
    slriBuilt.catchUp(first);
    return (key ? slriBuilt.keys.has(UTF8ToString(key)) : slriBuilt.keys.size > 0) ? 1 : 0;
  },

  slri_js_has_function__deps: ['$slriBuilt'],
  slri_js_has_function: function (first, name) {
    slriBuilt.catchUp(first);
    return slriBuilt.functions.has(UTF8ToString(name)) ? 1 : 0;
  },

  // Where it is in this thread's table.
  slri_js_find_built__deps: ['$slriBuilt'],
  slri_js_find_built: function (first, number, name) {
    if (!slriBuilt.places[number]) {
      slriBuilt.catchUp(first);
      slriBuilt.places[number] = wasmTable.length;
      wasmTable.grow(1);
      wasmTable.set(slriBuilt.places[number], slriBuilt.functions.get(UTF8ToString(name)));
    }
    return slriBuilt.places[number];
  },
});
