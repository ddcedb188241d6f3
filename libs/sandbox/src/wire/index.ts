// The wire between a worker and sandboxd: what both ends must agree on, and nothing else. Described in docs/sandboxd-wire.md.
export * from './binary-frames.js';
export { isKey, isProcessId } from './control-values.js';
export * from './epoch-fence.js';
export * from './frame.js';
export * from './input-keys.js';
export * from './replies.js';
export * from './requests.js';
export * from './wire-error.js';
export type { KillScope, ProcessExit, ProcessInfo, ProcessSignal, StartProcess } from '#domain';
