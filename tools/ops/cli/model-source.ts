// Where the installation's answers come from, a key or the demo model: remembered by name, so that a start without the key changes nothing silently.
import type { DataLayout } from '../data-layout.ts';
import { readIfPresent, writePrivate } from '../host/private-file.ts';
import { StepError } from '../step.ts';
import type { ServiceStatus } from '../supervisor/service-spec.ts';

/** A credential by the name of its variable, never by its value; or the demo model. */
export type ModelSource = Credential | 'demo';
type Credential = 'ANTHROPIC_API_KEY' | 'CLAUDE_CODE_OAUTH_TOKEN';

const ANY_CREDENTIAL = 'ANTHROPIC_API_KEY or CLAUDE_CODE_OAUTH_TOKEN';

/** What the last start used; undefined before the first one. */
export function rememberedModel(layout: DataLayout): ModelSource | undefined {
  const text = readIfPresent(layout.model);
  return text === undefined ? undefined : (JSON.parse(text) as { source: ModelSource }).source;
}

/** Written before services are started with it: who is killed in between is asked for the key again, and never switched. */
export function rememberModel(layout: DataLayout, source: ModelSource): void {
  if (rememberedModel(layout) !== source) writePrivate(layout.model, `${JSON.stringify({ source })}\n`);
}

/** What the services that run now use; undefined unless all of them run. */
export function modelInUse(services: readonly ServiceStatus[]): 'credential' | 'demo' | undefined {
  const running = new Set(services.flatMap(({ name, state }) => (state === 'running' ? [name] : [])));
  if (!['gateway', 'worker', 'broker'].every((name) => running.has(name))) return undefined;
  return running.has('demo-model') ? 'demo' : 'credential';
}

export interface ModelFacts {
  /** Given in the environment now. */
  credential: Credential | undefined;
  /** GANTRY_DEMO_MODEL=1: also over a credential that is set. */
  demoAsked: boolean;
  remembered: ModelSource | undefined;
  inUse: ReturnType<typeof modelInUse>;
  /** `restart`: what runs cannot stay as it is. */
  restart: boolean;
}

/** `keep`: what runs has a credential that is not given now; it stays as it is, whatever else changed. */
export type ModelDecision = { use: ModelSource } | { keep: string };

/** Never leads from a credential to the demo model unless asked to (OPS-34): then it throws what changed and the two ways on. */
export function decideModel({ credential, demoAsked, remembered, inUse, restart }: ModelFacts): ModelDecision {
  if (demoAsked) return { use: 'demo' };
  if (credential) return { use: credential };
  // Installations of an earlier version remember nothing; what runs tells.
  const before = remembered ?? (inUse === 'credential' ? ANY_CREDENTIAL : 'demo');
  if (before === 'demo') return { use: 'demo' };
  if (inUse === 'credential' && !restart) return { keep: before };
  const command = restart ? 'make restart' : 'make up';
  const example = before === ANY_CREDENTIAL ? 'ANTHROPIC_API_KEY' : before;
  throw new StepError(
    `This installation got its model key from ${before}, which is not set now. Nothing was changed: without the key the demo model would answer.`,
    `Give the key again: ${example}=… ${command}\nOr use the demo model from now on: GANTRY_DEMO_MODEL=1 ${command}`,
  );
}
