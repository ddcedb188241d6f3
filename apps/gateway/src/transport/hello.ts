// The first push to every client: whom it talks to, as whom, and within which limits.
import type { Clock } from '#kernel';
import { LIMITS, PROTOCOL, type ServerPush } from '#protocol';
import type { SignedIn } from './handshake.js';

export interface HelloFacts {
  version: string;
  maxFrameBytes: number;
  demoModel: boolean;
  runs: { timeoutMs: number; timeoutMaxMs: number };
}

/** `projectRoots`: folders beneath which projects can be created. */
export const helloOf = (
  facts: HelloFacts,
  { user, maxMessageBytes }: SignedIn,
  projectRoots: string[],
  clock: Clock,
): ServerPush<'hello'> => ({
  version: facts.version,
  protocol: { ...PROTOCOL },
  server_time: clock.now().toISOString(),
  user: { user_id: user.userId, name: user.name, is_admin: user.isAdmin },
  limits: {
    max_frame_bytes: facts.maxFrameBytes,
    max_message_kb: maxMessageBytes / 1024,
    max_prompt_bytes: LIMITS.maxPromptBytes,
    run_timeout_ms: facts.runs.timeoutMs,
    run_timeout_max_ms: facts.runs.timeoutMaxMs,
  },
  demo_model: facts.demoModel,
  project_roots: projectRoots,
});
