// Made by `deno task generate` from openapi/openapi.yaml. Do not edit.
// deno-lint-ignore-file
/** `paths` of the OpenAPI document. */
export interface paths {
  /** `/checkKey` of the OpenAPI document. */
  "/checkKey": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    /**
     * Checks whether an API key is valid and how many credits it has.
     * The key is sent in the body, without an `X-API-Key` header. The request only reads, so it is safe to repeat, and is retried after a temporary failure.
     */
    post: operations["checkKey"];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
}
export type webhooks = Record<string, never>;
/** `components` of the OpenAPI document. */
export interface components {
  /** `schemas` of the OpenAPI document. */
  schemas: {
    /** The key to check. */
    CheckKeyRequest: {
      /** The API key to check. */
      apiKey: string;
    };
    /** The status of an API key. `apiKeyValid` says which of the two forms it has. */
    KeyStatus: components["schemas"]["ValidKey"] | components["schemas"]["InvalidKey"];
    /** The status of a valid key, with its credits. */
    ValidKey: {
      /**
       * `true`: the key is valid.
       * @constant
       */
      apiKeyValid: true;
      /** The data of the key. */
      data: {
        /** The credit balance of the key, a whole number. What an operation costs is not documented. */
        credits: number;
      };
    };
    /** The status of a key that is not valid. What else it contains is not documented. */
    InvalidKey: {
      /**
       * `false`: the key is not valid.
       * @constant
       */
      apiKeyValid: false;
    } & {
      [key: string]: unknown;
    };
  };
  /** `responses` of the OpenAPI document. */
  responses: never;
  /** `parameters` of the OpenAPI document. */
  parameters: never;
  /** `requestBodies` of the OpenAPI document. */
  requestBodies: never;
  /** `headers` of the OpenAPI document. */
  headers: never;
  /** `pathItems` of the OpenAPI document. */
  pathItems: never;
}
export type $defs = Record<string, never>;
/** `operations` of the OpenAPI document. */
export interface operations {
  /**
   * Checks whether an API key is valid and how many credits it has.
   * The key is sent in the body, without an `X-API-Key` header. The request only reads, so it is safe to repeat, and is retried after a temporary failure.
   */
  checkKey: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["CheckKeyRequest"];
      };
    };
    responses: {
      /** The status of the key. */
      "2XX": {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["KeyStatus"];
        };
      };
      /** An error, whose status and body are not documented. */
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": unknown;
        };
      };
    };
  };
}
