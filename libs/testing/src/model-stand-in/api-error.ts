// Errors in the form of the Messages API. Source: https://docs.claude.com/en/api/errors

const ERROR_TYPES: Readonly<Record<number, string>> = {
  400: 'invalid_request_error',
  401: 'authentication_error',
  402: 'billing_error',
  403: 'permission_error',
  404: 'not_found_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
  504: 'timeout_error',
  529: 'overloaded_error',
};

/** The `error.type` that the API uses with an HTTP status. */
export function errorType(status: number): string {
  return ERROR_TYPES[status] ?? (status < 500 ? 'invalid_request_error' : 'api_error');
}

export function errorBody(status: number, message: string, requestId: string): object {
  return { type: 'error', error: { type: errorType(status), message }, request_id: requestId };
}
