// Every way from the model of the last start to that of this one.
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { dataLayout } from '../data-layout.ts';
import { decideModel, modelInUse, rememberedModel, rememberModel, type ModelFacts } from './model-source.ts';

const facts: ModelFacts = {
  credential: undefined,
  demoAsked: false,
  remembered: undefined,
  inUse: undefined,
  restart: false,
};
const KEY = 'ANTHROPIC_API_KEY';

describe('the model of a start', () => {
  it.each<[string, Partial<ModelFacts>, object]>([
    ['the first start without a key', {}, { use: 'demo' }],
    ['the next one', { remembered: 'demo', inUse: 'demo' }, { use: 'demo' }],
    ['a key', { credential: KEY }, { use: KEY }],
    ['a key after the demo model', { credential: KEY, remembered: 'demo', inUse: 'demo' }, { use: KEY }],
    [
      'another kind of key',
      { credential: 'CLAUDE_CODE_OAUTH_TOKEN', remembered: KEY },
      { use: 'CLAUDE_CODE_OAUTH_TOKEN' },
    ],
    ['the demo model in place of a key', { demoAsked: true, remembered: KEY, inUse: 'credential' }, { use: 'demo' }],
    ['the demo model over a key that is set', { demoAsked: true, credential: KEY }, { use: 'demo' }],
    ['no key where the services still have it', { remembered: KEY, inUse: 'credential' }, { keep: KEY }],
    ['the same, started by an earlier version', { inUse: 'credential' }, { keep: `${KEY} or CLAUDE_CODE_OAUTH_TOKEN` }],
  ])('OPS-34 %s', (_what, given, decision) => {
    expect(decideModel({ ...facts, ...given })).toEqual(decision);
  });

  it.each<[string, Partial<ModelFacts>]>([
    ['nothing runs', {}],
    ['a switch to the key was interrupted', { inUse: 'demo' }],
    ['the services are to be started anew', { inUse: 'credential', restart: true }],
  ])('OPS-34 is refused without the key, with both ways on, when %s', (_what, given) => {
    const start = () => decideModel({ ...facts, remembered: KEY, ...given });
    const command = given.restart ? 'make restart' : 'make up';
    expect(start).toThrow(/got its model key from ANTHROPIC_API_KEY, which is not set now/);
    expect(start).toThrow(
      expect.objectContaining({
        next: `Give the key again: ${KEY}=… ${command}\nOr use the demo model from now on: GANTRY_DEMO_MODEL=1 ${command}`,
      }) as Error,
    );
  });
});

it('OPS-34 only services that all run tell which model they use', () => {
  const services = (...names: string[]) =>
    names.map((name) => ({ name, state: 'running' as const, pid: 1, sinceMs: 1, restarts: 0, lastExit: null }));
  expect(modelInUse(services('gateway', 'worker', 'broker'))).toBe('credential');
  expect(modelInUse(services('gateway', 'worker', 'broker', 'demo-model'))).toBe('demo');
  expect(modelInUse(services('gateway', 'broker'))).toBeUndefined();
  expect(modelInUse([])).toBeUndefined();
});

it('OPS-34 the name of the source is remembered, in a private file', () => {
  const folder = mkdtempSync(join(tmpdir(), 'gantry-model-'));
  try {
    const layout = dataLayout(folder);
    expect(rememberedModel(layout)).toBeUndefined();
    rememberModel(layout, 'demo');
    rememberModel(layout, KEY);
    expect(rememberedModel(layout)).toBe(KEY);
    expect(readFileSync(layout.model, 'utf8')).toBe(`{"source":"${KEY}"}\n`);
    expect(statSync(layout.model).mode & 0o777).toBe(0o600);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
