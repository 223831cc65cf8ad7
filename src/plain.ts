// Stand-ins for a `Request` and a `Response`: without middleware, only openapi-fetch sees them. Making
// and reading the real ones takes a quarter of the CPU time of a call.

/** The parts of a request. openapi-fetch creates it like a `Request`, and passes it on. */
export class PlainRequest {
  readonly method: string;
  readonly headers: Headers;
  readonly body: BodyInit | null;

  constructor(readonly url: string, { method, headers, body }: PlainRequestInit) {
    this.method = method;
    this.headers = headers;
    this.body = body ?? null;
  }
}

/** What openapi-fetch creates a request with. The headers are made for it, so they need no copy. */
type PlainRequestInit = Pick<PlainRequest, "method" | "headers"> & { body?: BodyInit | undefined };

/** A `Uint8Array`, in the form that all versions of TypeScript accept as a body. */
export type Bytes = ReturnType<typeof Uint8Array.from>;

/** Tells whether a status is 2xx: a mock of a response may have no `ok`, or a wrong one. */
export const isSuccess = (status: number): boolean => status >= 200 && status <= 299;

/** A response and its body, of which openapi-fetch reads the text. */
export class PlainResponse {
  readonly ok: boolean;
  readonly status: number;
  readonly headers: Headers;

  /**
   * @param original The response, whose body has been read.
   * @param body The body; with an error status, the part of it that was read.
   */
  constructor(readonly original: Response, readonly body: Bytes) {
    this.ok = isSuccess(original.status);
    this.status = original.status;
    this.headers = original.headers;
  }

  /** Decodes the body. */
  text(): string {
    return new TextDecoder().decode(this.body);
  }
}
