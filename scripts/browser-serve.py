#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""browser-serve.py FOLDER PORT [--one-thread]: serves the static files of FOLDER on this machine alone, with the two headers by
which a page is cross-origin isolated and may have threads. --one-thread: without them, as most servers do."""
import functools
import http.server
import sys


class Handler(http.server.SimpleHTTPRequestHandler):
    isolates = True

    def end_headers(self):
        if self.isolates:
            self.send_header("Cross-Origin-Opener-Policy", "same-origin")
            self.send_header("Cross-Origin-Embedder-Policy", "require-corp")
        super().end_headers()


def main():
    arguments = [one for one in sys.argv[1:] if one != "--one-thread"]
    if len(arguments) != 2 or not arguments[1].isdigit():
        sys.exit("usage: browser-serve.py FOLDER PORT [--one-thread]")
    Handler.isolates = "--one-thread" not in sys.argv
    Handler.extensions_map = {**Handler.extensions_map, ".mjs": "text/javascript", ".wasm": "application/wasm"}
    server = http.server.ThreadingHTTPServer(("127.0.0.1", int(arguments[1])),
                                             functools.partial(Handler, directory=arguments[0]))
    print(f"the heart monitor: http://127.0.0.1:{server.server_port}/", flush=True)
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        pass


main()
