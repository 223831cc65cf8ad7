/**
 * Packages that respond to requests in place of the service. Each function mocks an origin: it calls
 * `record` with each request, and responds with `data` as JSON.
 */

export const mocks = {
  async "fetch-mock"(origin, record, data) {
    const { default: fetchMock } = await import("fetch-mock");
    fetchMock.mockGlobal().route(`begin:${origin}`, ({ url, options }) => {
      record(options.method.toUpperCase(), url, options.headers, options.body);
      return data;
    });
  },

  async msw(origin, record, data) {
    const { http, HttpResponse } = await import("msw");
    const { setupServer } = await import("msw/node");
    const handler = http.all(`${origin}/*`, async ({ request }) => {
      record(request.method, request.url, request.headers, await request.text());
      return HttpResponse.json(data);
    });
    setupServer(handler).listen();
  },

  async nock(origin, record, data) {
    const { default: nock } = await import("nock");
    const service = nock(origin).persist();
    service.post(/./).reply(200, data).get(/./).reply(200, data);
    // In nock 14, the request has a path; in newer versions, it has a URL.
    service.on("request", ({ method, path, url = origin + path, headers }, _interceptor, body) => {
      record(method, url, headers, body);
    });
  },

  async undici(origin, record, data) {
    const { MockAgent, setGlobalDispatcher } = await import("undici");
    const agent = new MockAgent();
    setGlobalDispatcher(agent);
    const all = { path: () => true, method: () => true };
    agent.get(origin).intercept(all).reply(200, ({ method, path, headers, body }) => {
      record(method, origin + path, headers, body);
      return data;
    }).persist();
  },
};
