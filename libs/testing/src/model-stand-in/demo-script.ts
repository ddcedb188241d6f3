// What a prompt can ask the demo model to do.

/** One tool call that the model will ask for. */
export interface ToolStep {
  name: string;
  input: Record<string, unknown>;
}

/** A fault of one request. `afterTools` says how many tool results the turn must hold for it to strike. */
export type Fault = { afterTools: number } & (
  | { kind: 'error'; status: number; times: number }
  /** A usage limit: every request is refused until that long after the first one. */
  | { kind: 'limit'; seconds: number }
  | { kind: 'cut'; words: number; times: number }
  | { kind: 'hang'; words: number | undefined }
);

/** How the turn ends when no tool call is left to make. */
export type Ending =
  | { kind: 'plain' }
  | { kind: 'help' }
  | { kind: 'say'; text: string }
  | { kind: 'words'; count: number; delayMs: number }
  | { kind: 'echo' }
  | { kind: 'remember'; text: string }
  | { kind: 'recall' }
  | { kind: 'misspelt'; line: string; reason: string };

export interface DemoScript {
  thoughts: { afterTools: number; text: string }[];
  tools: ToolStep[];
  /** All tool calls in one message instead of one after another. */
  together: boolean;
  faults: Fault[];
  ending: Ending;
  usage: { inputTokens: number; outputTokens: number } | undefined;
}

export function emptyScript(): DemoScript {
  return { thoughts: [], tools: [], together: false, faults: [], ending: { kind: 'plain' }, usage: undefined };
}
