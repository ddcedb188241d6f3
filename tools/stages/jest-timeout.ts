// Gives the tests of a Jest project the time limit that jest.config.js sets for it: Jest itself has one limit for all projects.
export {};

declare global {
  var TEST_TIMEOUT_MS: number;
}

jest.setTimeout(globalThis.TEST_TIMEOUT_MS);
