// The server of the conformance program: one scenario for each of its cases.
import type { ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { type HttpServer, json, type Recorded, serve, validKey } from "../support/server.ts";
import { keyHeader } from "../support/client.ts";

function checkKey({ body }: Recorded, response: ServerResponse): void {
  json(response, JSON.parse(body).apiKey === "valid-key" ? validKey : { apiKeyValid: false });
}

/** Starts the server that one run of the program talks to: a path is `/scenario/endpoint`. */
export function serveConformance(): Promise<HttpServer> {
  const hits = new Map<string, number>();
  const used = new WeakSet<Socket>(); // These connections have had a request.
  return serve((request, response) => {
    const { pathname, search } = new URL(request.url, "http://127.0.0.1");
    const [scenario = "", endpoint = ""] = pathname.slice(1).split("/");
    const count = (hits.get(scenario) ?? 0) + 1;
    hits.set(scenario, count);
    const socket = response.socket!;
    const isKept = used.has(socket);
    used.add(socket);
    switch (scenario) {
      case "service":
        if (endpoint === "checkKey") return checkKey(request, response);
        return json(response, {
          method: request.method,
          query: search,
          apiKey: request.headers[keyHeader],
          contentType: request.headers["content-type"],
          body: request.body,
        });
      case "flaky":
        return count === 1 ? json(response, "busy", 503) : checkKey(request, response);
      case "failing":
        return json(response, { reason: "test" }, 500);
      case "broken":
        return json(
          response,
          { errors: Array(3_000).fill({ path: ["a", 1], message: "broken" }) },
          500,
        );
      case "endless": {
        response.writeHead(200, { "content-type": "application/json" });
        const timer = setInterval(() => response.write(" "), 50);
        return void response.on("close", () => clearInterval(timer));
      }
      case "redirect":
      case "moved":
        return void response
          .writeHead(scenario === "moved" ? 303 : 307, { location: "/target/checkKey" }).end();
      case "target":
        return request.body ? checkKey(request, response) : json(response, validKey);
      case "silent":
        return;
      case "kept": // The service has read the request, and then a kept connection breaks.
        if (endpoint === "warm" || !isKept) return json(response, "ok");
        return void socket.destroy();
      case "connection":
        return json(response, isKept);
      case "hits":
        return json(response, hits.get(endpoint) ?? 0);
      default:
        response.writeHead(404).end();
    }
  });
}
