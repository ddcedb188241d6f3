// The kernel: ids, errors, time and the shared constant lists. Imports nothing.
export * from './clock.js';
export * from './constants.js';
export * from './error-codes.js';
export * from './error-policy.js';
export * from './errors.js';
export * from './http-status.js';
export * from './ids.js';
export * from './keyed-queue.js';
