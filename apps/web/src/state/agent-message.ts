// Reads the agent's own JSON (Claude Code's stream messages) as far as the page shows it. Never throws.
// Source of the shapes: https://docs.claude.com/en/api/messages and the Agent SDK's SDKMessage.

export type ContentBlock =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'thinking'; readonly text: string }
  | { readonly type: 'tool_use'; readonly id: string; readonly name: string; readonly input: Record<string, unknown> }
  | { readonly type: 'other'; readonly name: string };

export interface ToolResult {
  readonly toolUseId: string;
  readonly text: string;
  readonly isError: boolean;
  /** Images and other parts that are not text. */
  readonly otherParts: number;
}

/** The content blocks of an assistant message, in order. */
export function agentContent(agent: Record<string, unknown>): ContentBlock[] {
  return contentOf(agent).map(readBlock);
}

/** The tool results that a user message carries back to the model. */
export function toolResults(agent: Record<string, unknown>): ToolResult[] {
  return contentOf(agent)
    .filter((block) => block['type'] === 'tool_result')
    .map((block) => {
      const parts = partsOf(block['content']);
      return {
        toolUseId: text(block['tool_use_id']),
        text: parts
          .filter((part) => part['type'] === 'text')
          .map((part) => text(part['text']))
          .join('\n'),
        isError: block['is_error'] === true,
        otherParts: parts.filter((part) => part['type'] !== 'text').length,
      };
    });
}

/** Model and permission mode that a system message of subtype `init` names. */
export function readInit(agent: Record<string, unknown> | undefined): { model: string; mode: string } {
  return { model: text(agent?.['model']), mode: text(agent?.['permissionMode']) };
}

/** The model's service failed and is asked again. */
export interface ModelRetry {
  readonly status: number | undefined;
  readonly attempt: number;
  readonly maxRetries: number;
  readonly delayMs: number;
}

/** What a system message of subtype `api_retry` says. */
export function readRetry(agent: Record<string, unknown> | undefined): ModelRetry {
  const count = (key: string): number | undefined => {
    const value = agent?.[key];
    return typeof value === 'number' ? value : undefined;
  };
  const attempts = { attempt: count('attempt') ?? 1, maxRetries: count('max_retries') ?? 1 };
  return { status: count('error_status'), ...attempts, delayMs: count('retry_delay_ms') ?? 0 };
}

/** Whether the agent itself wrote the message, to tell of an error of the model's service. */
export function tellsOfError(agent: Record<string, unknown>): boolean {
  return text(agent['error']) !== '';
}

/** Tokens in and out of a result's usage, cached input included. */
export function readUsage(usage: Record<string, unknown> | undefined): { input: number; output: number } {
  const count = (key: string): number => {
    const value = usage?.[key];
    return typeof value === 'number' ? value : 0;
  };
  const input = count('input_tokens') + count('cache_read_input_tokens') + count('cache_creation_input_tokens');
  return { input, output: count('output_tokens') };
}

function readBlock(block: Record<string, unknown>): ContentBlock {
  switch (block['type']) {
    case 'text':
      return { type: 'text', text: text(block['text']) };
    case 'thinking':
      return { type: 'thinking', text: text(block['thinking']) };
    case 'tool_use':
      return { type: 'tool_use', id: text(block['id']), name: text(block['name']), input: record(block['input']) };
    default:
      return { type: 'other', name: text(block['type']) };
  }
}

function contentOf(agent: Record<string, unknown>): Record<string, unknown>[] {
  return partsOf(record(agent['message'])['content']);
}

/** A content is one text or a list of blocks. */
function partsOf(content: unknown): Record<string, unknown>[] {
  if (typeof content === 'string') return [{ type: 'text', text: content }];
  return Array.isArray(content) ? content.map(record) : [];
}

function record(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {};
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
