// An in-memory sandbox runtime for tests.
export { FakeSandboxRuntime, type FakeSandboxRuntimeOptions } from './fake-sandbox-runtime.adapter.js';
export { ScriptDeath, type Script, type ScriptIo, type ScriptRegistry } from './fake-script.js';
export { FLOOD_LINE } from './standard-scripts.js';
