// Options of runs: how many, how long, how often they are begun again, and how agents are kept.
import { withDefault } from './option.js';
import { flag, integer } from './values.schema.js';

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;

export const RUNS = {
  GANTRY_MAX_CONCURRENT_RUNS: withDefault(4, {
    description: 'Most runs at work at the same time on one host. Waiting, parked and paused runs do not count.',
    readBy: ['worker'],
    schema: integer(1, 1_000),
  }),
  GANTRY_RUN_TIMEOUT_MS: withDefault(5 * MINUTE_MS, {
    description: 'Active time after which a run is stopped, unless it asks for another.',
    readBy: ['gateway', 'worker'],
    schema: integer(1_000, 7 * DAY_MS),
    unit: 'ms',
  }),
  GANTRY_RUN_TIMEOUT_MAX_MS: withDefault(60 * MINUTE_MS, {
    description: 'Longest timeout that a run may ask for.',
    readBy: ['gateway', 'worker'],
    schema: integer(1_000, 7 * DAY_MS),
    unit: 'ms',
  }),
  GANTRY_WARM_AGENT_IDLE_MS: withDefault(15 * MINUTE_MS, {
    description: "How long an idle agent process is kept for its session's next prompt.",
    readBy: ['worker'],
    schema: integer(0, 7 * DAY_MS),
    unit: 'ms',
  }),
  GANTRY_MAX_WARM_AGENTS: withDefault(4, {
    description: 'Most idle agent processes kept on one host; the oldest goes first.',
    readBy: ['worker'],
    schema: integer(0, 1_000),
  }),
  GANTRY_SANDBOX_IDLE_MS: withDefault(30 * MINUTE_MS, {
    description:
      'How long nothing must have happened in a project before its container is stopped; 0 never stops one. What a command left running keeps it.',
    readBy: ['worker'],
    schema: integer(0, 30 * DAY_MS),
    unit: 'ms',
  }),
  GANTRY_SPARE_AGENTS: withDefault(true, {
    description:
      'Whether joining a project starts its sandbox and an agent that waits for the first prompt; counted with the warm agents.',
    readBy: ['worker'],
    schema: flag(),
  }),
  GANTRY_MODEL_RETRIES: withDefault(3, {
    description:
      'How often a turn is begun again inside its run because the model was overloaded; only while no tool has run.',
    readBy: ['worker'],
    schema: integer(0, 20),
  }),
  GANTRY_MODEL_RETRY_MS: withDefault(5_000, {
    description: 'Wait before the first of them; doubled with each, at most a minute, with up to half of it more.',
    readBy: ['worker'],
    schema: integer(10, 60_000),
    unit: 'ms',
  }),
  GANTRY_AGENT_API_RETRIES: withDefault(10, {
    description: 'How often the agent itself repeats a failed request to the model before its turn fails.',
    readBy: ['worker'],
    schema: integer(0, 100),
  }),
  GANTRY_LEASE_MS: withDefault(3_000, {
    description: "Length of a worker's lease of its Docker engine; renewed three times as often.",
    readBy: ['worker'],
    schema: integer(500, 60_000),
    unit: 'ms',
  }),
  GANTRY_PARK_AFTER_MS: withDefault(10 * MINUTE_MS, {
    description:
      'After so long a run that waits for an answer leaves its lane to others, unless its project says otherwise; 0 for never.',
    readBy: ['worker'],
    schema: integer(0, 365 * DAY_MS),
    unit: 'ms',
  }),
  GANTRY_RECONCILE_MS: withDefault(5_000, {
    description: 'Time between two comparisons of rows, jobs, containers and lanes.',
    readBy: ['worker'],
    schema: integer(100, 600_000),
    unit: 'ms',
  }),
} as const;
