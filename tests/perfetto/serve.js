// SPDX-License-Identifier: Apache-2.0
// serve.js FOLDER SOCKET: Perfetto's trace processor on a Unix socket, for one client. FOLDER holds the web page's
// engine_bundle.js and its WebAssembly. In the page that is a web worker which talks through a port: so is it here.
'use strict';
const fs = require('fs');
const net = require('net');
const path = require('path');
const vm = require('vm');

const [folder, socket] = process.argv.slice(2);
const node = process;

function fileOf(url) {
  const bytes = fs.readFileSync(path.join(folder, path.basename(url)));
  return bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length);
}

// What the bundle asks of a worker. It loads the WebAssembly in one go, so the request need not be asynchronous.
globalThis.self = globalThis;
globalThis.WorkerGlobalScope = class {};
globalThis.location = {href: 'http://localhost/engine_bundle.js'};
globalThis.XMLHttpRequest = class {
  open(method, url) {
    this.url = url;
  }
  send() {
    this.status = 200;
    this.response = fileOf(this.url);
  }
};
globalThis.process = undefined; // or it would take this for Node.js, which it was not built for
vm.runInThisContext(fs.readFileSync(path.join(folder, 'engine_bundle.js'), 'utf8'), {filename: 'engine_bundle.js'});
globalThis.process = node;

const port = {};
globalThis.onmessage({data: port}); // sets port.onmessage
const server = net.createServer(client => {
  server.close();
  port.postMessage = reply => client.write(reply);
  client.on('data', request => port.onmessage({data: new Uint8Array(request)}));
});
setImmediate(() => server.listen(socket)); // the engine ends its start in a microtask
