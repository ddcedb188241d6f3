// The status of an HTTP answer that tells of an error: that of its kind, unless HTTP has a narrower one for the code.
import { ERROR_CODES, type ErrorCode } from './error-codes.js';
import { ERROR_POLICY } from './error-policy.js';

const NARROWER: Partial<Record<ErrorCode, number>> = {
  'request.method_not_allowed': 405,
  'request.unsupported_media_type': 415,
  'request.range_not_satisfiable': 416,
  'stream.expired': 410,
};

export const httpStatusOf = (code: ErrorCode): number => NARROWER[code] ?? ERROR_POLICY[ERROR_CODES[code]].http;
