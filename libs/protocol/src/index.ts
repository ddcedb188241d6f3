// The wire: the only source of the names and shapes that clients rely on. Safe in a browser.
export * from './claude-options.schema.js';
export * from './client-events.js';
export * from './error.schema.js';
export * from './event-payloads.js';
export * from './handshake.schema.js';
export * from './limits.js';
export * from './models.schema.js';
export * from './output.schema.js';
export * from './primitives.schema.js';
export * from './project-settings.schema.js';
export * from './rest-openapi.js';
export * from './rest-problem.schema.js';
export * from './rest-routes.js';
export * from './server-events.js';
