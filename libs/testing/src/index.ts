// What tests and the demo share: services as processes, builders, the model stand-in.
export { describeHostChannel, handlersWith } from './contracts/host-channel.contract.js';
export { deltaOf, describeLiveBus, outputFrame } from './contracts/live-bus.contract.js';
export { describeTokenDirectory, type TokenDirectorySubject } from './contracts/token-directory.contract.js';
export { Deferred } from './deferred.js';
export { FaultProxy, type FaultProxyOptions, type MishapCounts, type Mishaps } from './fault-proxy.js';
export { Heard } from './heard.js';
export { InMemoryTokenDirectory } from './in-memory-token-directory.js';
export { freePort, type RedisProcess, startRedisProcess } from './redis-process.js';
export { type ModelStandIn, type ModelStandInOptions, startModelStandIn } from './model-stand-in/model-stand-in.js';
export type { Outcome, RecordedRequest } from './model-stand-in/request-log.js';
export { type SelfSignedCertificate, selfSignedCertificate } from './self-signed-certificate.js';
export { createTestDatabase, type TestDatabase } from './test-database.js';
export { CallError, type Push, SocketClient, type SocketClientOptions } from './socket-client.js';
export { testEnv, type TestEnv } from './test-env.js';
export {
  spawnService,
  waitUntilReady,
  type Probe,
  type ServiceName,
  type ServiceOptions,
  type ServiceProcess,
} from './service-process.js';
export { type SocketAddress, type SocketProxy, startSocketProxy } from './socket-proxy.js';
export { until } from './until.js';
export {
  planServices,
  removeSandboxes,
  startStack,
  type PlanFacts,
  type ServicePlan,
  type Stack,
  type StackOptions,
} from './stack.js';
