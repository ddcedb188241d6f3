// Decides what the demo model answers to one request. Pure: the same request gives the same answer, ids included.
import { createHash } from 'node:crypto';
import { endingText, words } from './answer-text.js';
import { type Conversation, readConversation, requestText, workingDirectory } from './conversation.js';
import type { DemoScript, Fault, ToolStep } from './demo-script.js';
import type { MessagesRequest } from './messages-request.schema.js';
import { parseDemoScript } from './parse-demo-script.js';
import { signThinking } from './thinking-signature.js';
import { countTokens } from './token-count.js';

export type AnswerBlock =
  | { type: 'thinking'; thinking: string; signature: string; tokens: number }
  | { type: 'text'; text: string; delayMs: number }
  | { type: 'tool_use'; id: string; name: string; input: Record<string, unknown> };

export interface Answer {
  id: string;
  model: string;
  blocks: AnswerBlock[];
  stopReason: 'end_turn' | 'tool_use' | 'max_tokens';
  usage: { inputTokens: number; outputTokens: number; thinkingTokens: number };
  /** The first fault of the script that may strike this request, in the order of the prompt. */
  faults: Fault[];
  /** The same for a request and its repetitions by a client that retries; faults are counted by it. */
  turnKey: string;
}

/** The answer to a request, faults still to be applied. */
export function answer(request: MessagesRequest): Answer {
  const conversation = readConversation(request.messages);
  const script = parseDemoScript(conversation.prompt);
  const id = createHash('sha256').update(JSON.stringify(request)).digest('hex');
  const whole = goOn(blocksOf(request, conversation, script, id), conversation.said);
  const { blocks, truncated } = cutToBudget(whole, request.max_tokens);
  const thinkingTokens = sum(blocks.map((block) => (block.type === 'thinking' ? blockTokens(block) : 0)));
  const asks = blocks.some((block) => block.type === 'tool_use');
  return {
    id: `msg_demo_${id.slice(0, 24)}`,
    model: request.model,
    blocks,
    stopReason: truncated ? 'max_tokens' : asks ? 'tool_use' : 'end_turn',
    usage: {
      inputTokens: script.usage?.inputTokens ?? countTokens(requestText(request)),
      outputTokens: script.usage?.outputTokens ?? sum(blocks.map(blockTokens)),
      thinkingTokens,
    },
    faults: script.faults.filter((fault) => fault.afterTools === conversation.results.length),
    turnKey: turnKey(request, conversation),
  };
}

function blocksOf(request: MessagesRequest, conversation: Conversation, script: DemoScript, id: string): AnswerBlock[] {
  const done = conversation.results.length;
  const blocks = thoughtsOf(request, script, done);
  const next = script.together ? (done === 0 ? script.tools : []) : script.tools.slice(done, done + 1);
  const missing = next.find((step) => !offers(request, step));
  if (missing !== undefined) {
    return [
      ...blocks,
      text(`I would have used the tool ${missing.name}, but it is not among those that I was offered.`),
    ];
  }
  if (next.length === 0) {
    const delayMs = script.ending.kind === 'words' ? script.ending.delayMs : 0;
    return [...blocks, text(endingText(request, conversation, script), delayMs)];
  }
  const calls = next.map((step, index) => toolUse(request, step, `${id}:${index}`));
  return [...blocks, text(next.map(announcement).join('\n')), ...calls];
}

function thoughtsOf(request: MessagesRequest, script: DemoScript, done: number): AnswerBlock[] {
  const asked = request.thinking;
  if (asked === undefined || asked === null || asked.type === 'disabled') return [];
  return script.thoughts
    .filter((thought) => thought.afterTools === done)
    .map((thought) => {
      const thinking = asked.display === 'omitted' ? '' : thought.text;
      return { type: 'thinking', thinking, signature: signThinking(thinking), tokens: countTokens(thought.text) };
    });
}

function text(content: string, delayMs = 0): AnswerBlock {
  return { type: 'text', text: content, delayMs };
}

function announcement(step: ToolStep): string {
  const command = step.input['command'] ?? step.input['file_path'];
  return typeof command === 'string' ? `I will use ${step.name}: ${command}` : `I will use ${step.name}.`;
}

function toolUse(request: MessagesRequest, step: ToolStep, seed: string): AnswerBlock {
  const id = createHash('sha256').update(seed).digest('base64url').replace(/[-_]/g, '0').slice(0, 22);
  return { type: 'tool_use', id: `toolu_01${id}`, name: step.name, input: absolutePath(request, step.input) };
}

/** Claude Code's file tools take absolute paths; a person who types `demo:write hello.txt` means one below the working directory. */
function absolutePath(request: MessagesRequest, input: Record<string, unknown>): Record<string, unknown> {
  const path = input['file_path'];
  if (typeof path !== 'string' || path.startsWith('/')) return input;
  const base = workingDirectory(request);
  return base === undefined ? input : { ...input, file_path: `${base.replace(/\/$/, '')}/${path}` };
}

function offers(request: MessagesRequest, step: ToolStep): boolean {
  return (request.tools ?? []).some((tool) => tool.name === step.name);
}

/** The rest of an answer of which the beginning was heard: what was said is not said again, nor thought again. */
function goOn(blocks: AnswerBlock[], said: string): AnswerBlock[] {
  const at = blocks.findIndex((block) => block.type === 'text');
  const first = blocks[at];
  if (said === '' || first?.type !== 'text' || !first.text.startsWith(said)) return blocks;
  const left = first.text.slice(said.length);
  const rest = blocks.slice(at + 1);
  if (left !== '') return [{ ...first, text: left }, ...rest];
  return rest.length > 0 ? rest : [text('That was all.')];
}

/** Stops at `max_tokens` as the API does: the text in progress is cut, what follows is not said. */
function cutToBudget(blocks: AnswerBlock[], maxTokens: number): { blocks: AnswerBlock[]; truncated: boolean } {
  const kept: AnswerBlock[] = [];
  let left = maxTokens;
  for (const block of blocks) {
    const tokens = blockTokens(block);
    if (tokens <= left) {
      kept.push(block);
      left -= tokens;
      continue;
    }
    if (block.type === 'text') {
      let said = '';
      for (const word of words(block.text)) {
        if (countTokens(said + word) > left) break;
        said += word;
      }
      kept.push({ ...block, text: said });
    }
    return { blocks: kept, truncated: true };
  }
  return { blocks: kept, truncated: false };
}

function blockTokens(block: AnswerBlock): number {
  switch (block.type) {
    case 'text':
      return countTokens(block.text);
    case 'thinking':
      return block.tokens;
    case 'tool_use':
      return countTokens(block.name + JSON.stringify(block.input));
  }
}

function sum(numbers: number[]): number {
  return numbers.reduce((total, value) => total + value, 0);
}

/** Client, model and messages may change between attempts (a fallback model, no streaming, a request to go on); the place of the prompt does not. */
function turnKey(request: MessagesRequest, { prompts, results, prompt }: Conversation): string {
  // A client ends the text of a message with a newline when it puts another behind it.
  const place = [request.metadata?.user_id ?? '', prompts, results.length, prompt.trimEnd()];
  return createHash('sha256').update(JSON.stringify(place)).digest('hex');
}
