// Pure decisions and the ports they need.
export * from './broker/token-directory.port.js';
export * from './sandbox/sandbox-runtime.port.js';
