import type { ServerResponse } from "node:http";
import { json, type Recorded, serve, validKey } from "../server.ts";

/** What a runtime's run of the conformance suite came to. */
export interface RuntimeReport {
  runtime: string;
  results: { name: string; error?: string }[];
}

/** The service that the conformance suite talks to. */
export interface ConformanceServer extends AsyncDisposable {
  /** Its address, with a slash at its end. */
  url: string;
  /** Settles when a runtime has reported. */
  reportOf(runtime: string): Promise<RuntimeReport>;
}

const cors = {
  "access-control-allow-origin": "*",
  "access-control-allow-methods": "GET, POST",
  "access-control-allow-headers": "content-type, x-api-key",
};

function checkKey({ body }: Recorded, response: ServerResponse): void {
  json(response, JSON.parse(body).apiKey === "valid-key" ? validKey : { apiKeyValid: false });
}

/**
 * Starts the server. The path of a request is `/scenario/run/endpoint`, so that each run of the suite
 * begins anew.
 */
export async function serveConformance(): Promise<ConformanceServer> {
  const hits = new Map<string, number>();
  const reports = new Map<string, PromiseWithResolvers<RuntimeReport>>();

  function reportFor(runtime: string): PromiseWithResolvers<RuntimeReport> {
    const report = reports.get(runtime) ?? Promise.withResolvers<RuntimeReport>();
    reports.set(runtime, report);
    return report;
  }

  const server = await serve((request, response) => {
    for (const [name, value] of Object.entries(cors)) response.setHeader(name, value);
    if (request.method === "OPTIONS") return void response.writeHead(204).end();
    const { pathname, search } = new URL(request.url, "http://127.0.0.1");
    const [scenario, run, endpoint] = pathname.slice(1).split("/");
    const place = `${scenario}/${run}`;
    const count = (hits.get(place) ?? 0) + 1;
    hits.set(place, count);
    switch (scenario) {
      case "service":
        if (endpoint === "checkKey") return checkKey(request, response);
        return json(response, {
          method: request.method,
          query: search,
          apiKey: request.headers["x-api-key"],
          contentType: request.headers["content-type"],
          body: request.body,
        });
      case "flaky":
        return count === 1 ? json(response, "busy", 503) : checkKey(request, response);
      case "failing":
        return json(response, { reason: "test" }, 500);
      case "endless": {
        response.writeHead(200, { "content-type": "application/json" });
        const timer = setInterval(() => response.write(" "), 50);
        return void response.on("close", () => clearInterval(timer));
      }
      case "redirect":
        return void response.writeHead(307, { location: `/target/${run}/checkKey` }).end();
      case "target":
        return checkKey(request, response);
      case "malformed":
        return void response.writeHead(200, { "content-type": "application/json" }).end('{"api');
      case "silent":
        return;
      case "hits":
        return json(response, hits.get(`${endpoint}/${run}`) ?? 0);
      case "report": {
        const report: RuntimeReport = JSON.parse(request.body);
        reportFor(report.runtime).resolve(report);
        return json(response, null);
      }
      default:
        response.writeHead(404).end();
    }
  });
  return {
    url: server.url,
    reportOf: (runtime) => reportFor(runtime).promise,
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}
