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
     * Whether an API key is valid and how many credits it has.
     * Takes the key in the body and needs no `X-API-Key` header (sections 4 and 5.3). It only reports on the key, so it may be sent again after a failure.
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
    /** The key to check (section 4). */
    CheckKeyRequest: {
      /** The value of the API key to check (section 2). */
      apiKey: string;
    };
    /** What the service reports on an API key (sections 2 and 4). `apiKeyValid` tells the two forms apart. */
    KeyStatus: components["schemas"]["ValidKey"] | components["schemas"]["InvalidKey"];
    /** The key is valid, and its credits are known (section 4, rule 1). */
    ValidKey: {
      /**
       * True, because the key is valid (section 2).
       * @constant
       */
      apiKeyValid: true;
      /** Holds the key's credits (section 2). */
      data: {
        /** The key's credit balance, a whole number (sections 2 and 8). What an operation costs is not shown. */
        credits: number;
      };
    };
    /** The key is not valid. What else the response holds is not shown (section 4, rule 2). */
    InvalidKey: {
      /**
       * False, because the key is not valid (section 2).
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
  /** `checkKey` of the OpenAPI document. */
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
      /** The key's status (section 4). Which success status is sent is not shown. */
      "2XX": {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["KeyStatus"];
        };
      };
      /** Status codes and error payloads are not shown (section 7). */
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "*/*": unknown;
        };
      };
    };
  };
}
