// Reads a conversation as the demo model sees it: the prompt in force, the tool results after it, and what was said before.
import type { ContentBlock, CountTokensRequest, Message } from './messages-request.schema.js';
import { remembered } from './parse-demo-script.js';

export interface ToolResult {
  text: string;
  isError: boolean;
}

export interface Conversation {
  /** The last text block of the last user message that has one; reminders put there by the client do not count. */
  prompt: string;
  /** Results of the tool calls made since that prompt, in order. */
  results: ToolResult[];
  /** How many user messages with a text there are, this prompt included. */
  prompts: number;
  /** Everything that earlier prompts asked to remember, oldest first. */
  memory: string[];
}

/** Blocks that the client writes in the user's name: reminders, and the traces of its own commands. */
const NOT_TYPED = /^\s*<(system-reminder|local-command-[a-z]+|command-[a-z]+)>/;

export function readConversation(messages: readonly Message[]): Conversation {
  const texts = messages.map((message) => (message.role === 'user' ? promptTexts(message) : []));
  const at = texts.findLastIndex((found) => found.length > 0);
  const prompt = texts[at]?.at(-1) ?? '';
  return {
    prompt,
    results: messages.slice(at + 1).flatMap(toolResults),
    prompts: texts.filter((found) => found.length > 0).length,
    memory: [...new Set(texts.flat().slice(0, -1).flatMap(remembered))],
  };
}

/** All text of a request that costs tokens: system prompt, tools and messages, in that order. */
export function requestText(request: CountTokensRequest): string {
  const messages = request.messages.flatMap((message) => blocks(message).map(blockText));
  return [systemText(request), JSON.stringify(request.tools ?? []), ...messages].join('\n');
}

/** The whole system prompt; the client sends it as one text or as several. */
export function systemText(request: CountTokensRequest): string {
  if (request.system === undefined || typeof request.system === 'string') return request.system ?? '';
  return request.system.map((part) => part.text ?? '').join('\n');
}

/** The working directory that the client names in its environment section, for tools that want absolute paths. */
export function workingDirectory(request: CountTokensRequest): string | undefined {
  const said = [systemText(request), ...request.messages.flatMap((message) => blocks(message).map(blockText))];
  for (const text of said) {
    const match = /Primary working directory: (\/[^\n]*)/.exec(text) ?? /Working directory: (\/[^\n]*)/.exec(text);
    if (match?.[1] !== undefined) return match[1].trim();
  }
  return undefined;
}

function promptTexts(message: Message): string[] {
  return blocks(message)
    .filter((block) => block.type === 'text')
    .map(blockText)
    .filter((text) => text.trim() !== '' && !NOT_TYPED.test(text));
}

function toolResults(message: Message): ToolResult[] {
  return blocks(message)
    .filter((block) => block.type === 'tool_result')
    .map((block) => ({ text: blockText(block), isError: block['is_error'] === true }));
}

function blocks(message: Message): ContentBlock[] {
  return typeof message.content === 'string' ? [{ type: 'text', text: message.content }] : message.content;
}

function blockText(block: ContentBlock): string {
  const inner = block['text'] ?? block['thinking'] ?? block['content'] ?? block['input'] ?? '';
  if (typeof inner === 'string') return inner;
  if (Array.isArray(inner)) return (inner as ContentBlock[]).map(blockText).join('\n');
  return JSON.stringify(inner);
}
