"""Stands in for GitHub's REST API: api.py PORT_FILE RECORD. Each request is a line of JSON in the record."""

import http.server
import json
import os
import sys

port_file, record = sys.argv[1:]


class Handler(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        status = 204 if self.path.endswith("/dispatches") else 201 if self.path.endswith("/comments") else 404
        with open(record, "a") as file:
            authorization = self.headers["Authorization"]
            file.write(json.dumps({"path": self.path, "authorization": authorization, "body": body}, sort_keys=True) + "\n")
        self.send_response(status)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
with open(port_file + ".new", "w") as file:
    file.write(str(server.server_port))
os.rename(port_file + ".new", port_file)
server.serve_forever()
