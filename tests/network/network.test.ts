// TLS and HTTP/2, as the fetch of Deno and Node.js sees them.
import { expect } from "@std/expect";
import { spawnSync } from "node:child_process";

import { makeFolder } from "../../scripts/support/files.ts";
import { skip } from "../../scripts/support/skip.ts";
import { bundle, play, runtimes } from "../process/support.ts";
import { serveSockets, type TestServer } from "../server.ts";
import { Authority } from "./certificates.ts";
import type { Target } from "./child.ts";
import {
  CANCEL,
  type Exchange,
  INTERNAL_ERROR,
  REFUSED_STREAM,
  respondInHttp1,
  serveHttp2,
  serveTls,
} from "./servers.ts";

/** A server, how the calls of it must end, and how it is called, unless in the usual way. */
type Case = [server: Promise<TestServer>, outcome: RegExp, target?: Partial<Target>];

const ok = /^ok$/;
const timeout = /^timeout: /;
/** A NetworkError with the reason of Deno or that of Node.js. */
const network = (reason: string) =>
  new RegExp(`^network: "[A-Z]+ https://\\S+" got .*: .*(${reason})`);
/** A connection that is gone: the reason depends on when the runtime sees it. */
const broken = network(".");
/** The time-out where nothing comes; elsewhere it is longer, so that a busy machine cannot meet it. */
const short = { timeout: 500 };

const HOST = "IP:127.0.0.1";
const HTTP_400 = "HTTP/1.1 400 Bad Request\r\n\r\n";

async function tlsCases(trusted: Authority, unknown: Authority): Promise<Record<string, Case>> {
  const ca = trusted.certificate;
  const own = await trusted.issue(HOST);
  const expired = await trusted.issue(HOST, { expired: true });
  const elsewhere = await trusted.issue("DNS:service.example");
  const stranger = await unknown.issue(HOST);
  const serve = (options: object) => serveTls(options, respondInHttp1);
  const mutual = { ...own, ca, requestCert: true, rejectUnauthorized: true };
  // One case only: Deno resumes TLS sessions by the server's name, and all servers of this process
  // share the keys of sessions.
  const environment = { tls: undefined };
  const unverified = network("UnknownIssuer|unable to verify the first certificate");
  const misnamed = network("not valid for name|does not match certificate's altnames");
  return {
    "a certificate of the right authority": [serve(own), ok],
    "the right authority, in the environment": [serve(own), ok, environment],
    "a certificate of an unknown authority": [serve(stranger), unverified],
    "a certificate that has expired": [serve(expired), network("expired")],
    "a certificate for another host": [serve(elsewhere), misnamed],
    "a client's certificate": [serve(mutual), ok, { tls: { ca, ...own } }],
    "no certificate of the client": [serve(mutual), broken],
    "a client's certificate of an unknown authority": [serve(mutual), broken, {
      tls: { ca, ...stranger },
    }],
    "a handshake that is cut": [
      serveSockets((socket) => socket.once("data", () => socket.destroy()), "https"),
      broken,
    ],
    "a handshake without a response": [serveSockets(() => {}, "https"), timeout, short],
    "a server without TLS": [
      serveSockets((socket) => socket.once("data", () => socket.end(HTTP_400)), "https"),
      network("corrupt message|wrong version number"),
    ],
  };
}

async function http2Cases(trusted: Authority): Promise<Record<string, Case>> {
  const own = await trusted.issue(HOST);
  const serve = (respond: (exchange: Exchange) => void) => serveHttp2(own, respond);
  /** Handles every second request only. */
  const serveSecond = (fail: (exchange: Exchange) => void) =>
    serveHttp2(own, (exchange, count) => count % 2 ? fail(exchange) : exchange.send());
  const cases: Record<string, Case> = {
    "HTTP/2": [serve((exchange) => exchange.send()), ok],
    "GOAWAY": [serve((exchange) => exchange.goAway()), broken],
    "GOAWAY once": [serveSecond((exchange) => exchange.goAway()), ok, { retries: 1 }],
    "a connection that breaks before the response": [
      serve((exchange) => exchange.socket.destroy()),
      broken,
    ],
    "a connection that breaks within the body": [
      serve((exchange) => {
        exchange.send("{", false);
        exchange.socket.end();
      }),
      broken,
    ],
    "a stream without a response": [serve(() => {}), timeout, short],
    "a body that stops": [serve((exchange) => exchange.send("{", false)), timeout, short],
    "a window that never opens": [
      serve((exchange) => exchange.send()),
      timeout,
      { ...short, upload: 100_000 }, // the first window has 65,535 bytes
    ],
    "no settings and no response": [serveHttp2(own, () => {}, false), timeout, short],
    // hyper does not wait for them, and Node.js calls it a protocol error.
    "a response without settings": [
      serveHttp2(own, (exchange) => exchange.send(), false),
      /^ok$|^network: .*(Protocol error|session has been destroyed)$/,
    ],
  };
  for (const [name, code] of Object.entries({ CANCEL, INTERNAL_ERROR, REFUSED_STREAM })) {
    cases[`RST_STREAM with ${name}`] = [
      serve((exchange) => exchange.reset(code)),
      network(`stream error received|${name}|stream closed before the response`),
    ];
    cases[`RST_STREAM with ${name} once`] = [
      serveSecond((exchange) => exchange.reset(code)),
      ok,
      { retries: 1 },
    ];
    cases[`RST_STREAM with ${name} within the body`] = [
      serve((exchange) => {
        exchange.send("{", false);
        exchange.reset(code);
      }),
      // Both runtimes take CANCEL for the end of the body, which then is not JSON.
      name === "CANCEL" ? /^invalid_response: / : network(`reading a body|${name}`),
    ];
  }
  return cases;
}

const ignore = spawnSync("openssl", ["version"]).status !== 0;
const why = ignore ? skip("no openssl in PATH to make certificates with") : "";
const title = "calls of TLS and HTTP/2 servers succeed or fail as documented, in time";
Deno.test(`${title}${why}`, { ignore }, async (test) => {
  await using stack = new AsyncDisposableStack();
  const { path: folder } = stack.use(await makeFolder());
  const trusted = await Authority.create(`${folder}/trusted`);
  const unknown = await Authority.create(`${folder}/unknown`);
  const cases = Object.entries({
    ...await tlsCases(trusted, unknown),
    ...await http2Cases(trusted),
  });
  const targets: Record<string, Target> = {};
  for (const [name, [server, , target]] of cases) {
    const { url } = stack.use(await server);
    targets[name] = { url, tls: { ca: trusted.certificate }, ...target };
  }
  const program = stack.use(await bundle("tests/network/child.ts"));
  const file = `${folder}/trusted/ca.pem`;
  const env = { DENO_CERT: file, NODE_EXTRA_CA_CERTS: file };
  for (const runtime of runtimes.filter(({ ignore }) => !ignore)) {
    const args = [JSON.stringify(targets)];
    const { outcomes, unhandled } = await play(runtime, program.path, args, {
      timeout: 40_000,
      env,
    });
    expect(unhandled).toEqual([]);
    for (const [name, [, outcome]] of cases) {
      await test.step(`${runtime.name}: ${name}`, () => {
        expect(outcomes[name].length).toBeGreaterThan(0);
        for (const seen of outcomes[name]) expect(seen).toMatch(outcome);
      });
    }
  }
});
