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
  /** What the model has said since the prompt or the last result: the beginning of an answer that was cut off and is to go on. */
  said: string;
  /** How many user messages with a text there are, this prompt included. */
  prompts: number;
  /** Everything that earlier prompts asked to remember, oldest first. */
  memory: string[];
}

/** Blocks that the client writes in the user's name: reminders, and the traces of its own commands. */
const NOT_TYPED = /^\s*<(system-reminder|local-command-[a-z]+|command-[a-z]+)>/;

/** With these words Claude Code 2.1.330 asks for the rest of an answer whose stream broke off, or that met `max_tokens`; the last are Gantry's. */
const GO_ON =
  /^(Your response (above )?was cut off|Output token limit hit|\[Your previous response reached the output limit|The model could not be reached\. Go on)/;

export function readConversation(messages: readonly Message[]): Conversation {
  const texts = messages.map((message) => (message.role === 'user' ? promptTexts(message) : []));
  const at = texts.findLastIndex((found) => found.length > 0);
  const prompt = texts[at]?.at(-1) ?? '';
  const after = messages.slice(at + 1);
  return {
    prompt,
    results: after.flatMap(toolResults),
    said: after
      .slice(after.findLastIndex((message) => toolResults(message).length > 0) + 1)
      .filter(({ role }) => role === 'assistant')
      .flatMap((message) => blocks(message).filter(({ type }) => type === 'text'))
      .map(blockText)
      .join(''),
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
    .filter((text) => text.trim() !== '' && !NOT_TYPED.test(text) && !GO_ON.test(text));
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
