// Requests and responses in parts. To make and read a `Request` and a `Response` that only openapi-fetch
// sees takes a quarter of the CPU time of a call.

/** The parts of a request. openapi-fetch creates it like a `Request`, and passes it on. */
export class RequestParts {
  readonly method: string;
  readonly headers: Headers;
  readonly body: BodyInit | null;
  readonly signal: null = null;

  constructor(readonly url: string, { method, headers, body }: PartsInit) {
    this.method = method;
    this.headers = headers;
    this.body = body ?? null;
  }
}

/** What openapi-fetch creates a request with. */
type PartsInit = Pick<RequestParts, "method" | "headers"> & { body?: BodyInit | null };

/** The statuses of responses that have no body: the null body statuses of the fetch standard. */
const NULL_BODY_STATUSES = [204, 205, 304];

/** Tells whether a status is 2xx: a mock of a response may have no `ok`, or a wrong one. */
export const isSuccess = (status: number): boolean => status >= 200 && status <= 299;

/** A response whose body has been read. openapi-fetch reads its text, as from a `Response`. */
export class BufferedResponse {
  readonly ok: boolean;
  readonly status: number;
  readonly headers: Headers;

  /**
   * @param original The response, whose body has been read.
   * @param body The body, or its start.
   * @param isCut Whether the body is longer: it was cut at the limit.
   */
  constructor(readonly original: Response, readonly body: ArrayBuffer, readonly isCut: boolean) {
    this.ok = isSuccess(original.status);
    this.status = original.status;
    this.headers = original.headers;
  }

  /** Decodes the body. */
  text(): string {
    return new TextDecoder().decode(this.body);
  }

  /** Makes a response that can be read, for middleware. */
  toResponse(): Response {
    const { headers, status, statusText, url } = this.original;
    const body = NULL_BODY_STATUSES.includes(status) ? null : this.body;
    const response = new Response(body, { headers, status });
    // No option sets `url`, and the constructor refuses some reason phrases that Node.js receives.
    const own = { statusText: { value: statusText }, url: { value: url } };
    return Object.defineProperties(response, own);
  }
}
