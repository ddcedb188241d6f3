// The texts of the demo model: deterministic, short, and helpful to a person who types plain prompts.
import { type Conversation, systemText, type ToolResult } from './conversation.js';
import type { DemoScript } from './demo-script.js';
import { DEMO_WORDS } from './demo-words.js';
import type { MessagesRequest } from './messages-request.schema.js';

const QUOTE_LIMIT = 120;
const SYSTEM_TAIL = 400;

/** The text of a turn's last message, when no tool call is left. */
export function endingText(request: MessagesRequest, conversation: Conversation, script: DemoScript): string {
  const { ending } = script;
  switch (ending.kind) {
    case 'plain':
      if (script.tools.length > 0) return report(script, conversation.results);
      return isCompaction(conversation.prompt) ? summary(conversation) : plain(conversation, script);
    case 'help':
      return help();
    case 'say':
      return ending.text;
    case 'words':
      return Array.from({ length: ending.count }, (_, index) => `w${index}`).join(' ');
    case 'echo':
      return echo(request, conversation);
    case 'remember':
      return `I will remember: ${ending.text}`;
    case 'recall':
      return conversation.memory.length === 0
        ? 'I was not asked to remember anything in this conversation.'
        : `I remember: ${conversation.memory.join('; ')}`;
    case 'misspelt':
      return `I did not understand "${ending.line}": ${ending.reason}.\n\n${help()}`;
  }
}

/** A text in the pieces in which it is streamed: words with the white space after them; their concatenation is the text. */
export function words(text: string): string[] {
  return text.match(/\s*\S+\s*|\s+/g) ?? [];
}

function plain({ prompt, prompts }: Conversation, script: DemoScript): string {
  if (script.thoughts.length > 0) return 'I have thought about it.';
  const said = prompt.length > QUOTE_LIMIT ? `${prompt.slice(0, QUOTE_LIMIT)}…` : prompt;
  return `Hello! I am the demo model: I follow a script and think nothing of my own. You said: "${said}" (prompt ${prompts} of this conversation). Configure an API key to talk to a real model. Until then, start a line with one of these words:\n\n${wordList()}`;
}

/** Claude Code asks for a summary in these words when it compacts a conversation (2.1.330; an answer without the tags is asked for again). */
function isCompaction(prompt: string): boolean {
  return prompt.includes('create a detailed summary of the conversation') && prompt.includes('<summary>');
}

/** Keeps what was to be remembered in the form in which it is found again. */
function summary({ memory, prompts }: Conversation): string {
  const facts = memory.map((fact) => `demo:remember ${fact}`).join('\n');
  return `<analysis>\nThe demo model keeps what it was asked to remember.\n</analysis>\n\n<summary>\n${prompts - 1} prompts were answered before this summary.\n${facts}\n</summary>`;
}

function help(): string {
  return `I am the demo model. Start a line with one of these words:\n\n${wordList()}`;
}

function wordList(): string {
  return [...DEMO_WORDS.values()].map(({ form, effect }) => `- \`${form}\` ${effect}`).join('\n');
}

function report(script: DemoScript, results: ToolResult[]): string {
  return results
    .map(({ text, isError }, index) => {
      const name = script.tools[index]?.name ?? 'the tool';
      return `${isError ? `${name} failed` : `${name} answered`}:\n\n${text}`;
    })
    .join('\n\n');
}

/** Canonical JSON (fixed order of keys, tools sorted), so that a test can compare what options arrived. */
function echo(request: MessagesRequest, conversation: Conversation): string {
  const system = systemText(request);
  return JSON.stringify({
    model: request.model,
    max_tokens: request.max_tokens,
    stream: request.stream ?? false,
    thinking: request.thinking?.type ?? null,
    effort: request.output_config?.effort ?? null,
    system_length: system.length,
    system_tail: system.slice(-SYSTEM_TAIL),
    tools: (request.tools ?? []).map((tool) => tool.name ?? tool.type ?? '').sort(),
    messages: request.messages.length,
    prompts: conversation.prompts,
  });
}
