/**
 * Packages that wrap the global `fetch` and send the request. Each function starts one, and resolves
 * to the name of a header that it adds to requests. Packages that send reports send them to `url`.
 */

/** Makes OpenTelemetry add a header, without an SDK. */
async function propagate(header) {
  const { propagation } = await import("@opentelemetry/api");
  propagation.setGlobalPropagator({
    inject: (_context, headers, setter) => setter?.set(headers, header, "test"),
    extract: (context) => context,
    fields: () => [header],
  });
  return header;
}

export const instrumentation = {
  async "@opentelemetry/instrumentation-fetch"() {
    const { FetchInstrumentation } = await import("@opentelemetry/instrumentation-fetch");
    new FetchInstrumentation({ propagateTraceHeaderCorsUrls: /./ });
    return await propagate("traceparent");
  },

  async "@opentelemetry/instrumentation-undici"() {
    const { UndiciInstrumentation } = await import("@opentelemetry/instrumentation-undici");
    new UndiciInstrumentation();
    return await propagate("traceparent");
  },

  async "@vercel/otel"(url) {
    const { registerOTel } = await import("@vercel/otel");
    const instrumentationConfig = { fetch: { propagateContextUrls: [url] } };
    registerOTel({ instrumentationConfig, spanProcessors: [] });
    return "traceparent";
  },

  async "dd-trace"(url) {
    const { default: tracer } = await import("dd-trace");
    tracer.init({ url, startupLogs: false });
    return "x-datadog-trace-id";
  },

  async "@sentry/node"(url) {
    const { init } = await import("@sentry/node");
    init({ dsn: `${url.replace("//", "//key@")}/1`, tracesSampleRate: 1 });
    return "sentry-trace";
  },

  async "aws-xray-sdk-fetch"() {
    const { default: xray } = await import("aws-xray-sdk-core");
    const { captureFetchGlobal } = await import("aws-xray-sdk-fetch");
    captureFetchGlobal();
    const namespace = xray.getNamespace();
    namespace.enter(namespace.createContext());
    xray.setSegment(new xray.Segment("test"));
    return "x-amzn-trace-id";
  },

  async "@happy-dom/global-registrator"(url) {
    const { GlobalRegistrator } = await import("@happy-dom/global-registrator");
    GlobalRegistrator.register({ url });
    return "referer";
  },
};
