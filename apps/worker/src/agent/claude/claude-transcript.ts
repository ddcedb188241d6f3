// Reads what Claude Code says, line by line, into durable events and live text. Its state is rebuilt by reading again from any
// offset at which a line was settled, so a new worker continues exactly (R16).
import type { AgentEvent, AgentTranscript, BlockText, LineReading } from '../agent-driver.port.js';
import {
  blocksOf,
  isObject,
  listOf,
  objectOf,
  parseLine,
  textOf,
  toolResultIds,
  type JsonObject,
} from './claude-lines.js';
import { compacted, CompactionReader } from './claude-compaction.js';
import { LimitReader } from './claude-limits.js';
import { isOwnResult, readResult } from './claude-result.js';

/** A content block of the API's stream whose durable event has not come yet. */
interface OpenBlock {
  messageId: string;
  index: number;
  type: BlockText['blockType'] | undefined;
  text: string;
}

/** Of passing interest: progress, states, lists that the next start repeats. Whatever is not here is kept. */
const PASSING_SUBTYPES: ReadonlySet<string> = new Set([
  'status',
  'session_state_changed',
  'thinking_tokens',
  'hook_started',
  'hook_progress',
  'task_progress',
  'background_tasks_changed',
  'commands_changed',
  'control_request_progress',
  'files_persisted',
]);
const PASSING_TYPES: ReadonlySet<string> = new Set([
  'control_request',
  'control_cancel_request',
  'keep_alive',
  'command_lifecycle',
  'transcript_mirror',
  'tool_progress',
  'auth_status',
  'prompt_suggestion',
  'active_goal',
]);

/** What the CLI writes to stderr about a file that is not there, is no JSON, or is not what it wants; seen with 2.1.330. */
const MCP_CONFIG_REFUSED = /^Error: Invalid MCP configuration:/m;

export class ClaudeTranscript implements AgentTranscript {
  /** By the tool use that started a subagent; '' is the main thread. */
  readonly #open = new Map<string, OpenBlock>();
  readonly #messageIds = new Map<string, string>();
  readonly #blocksSeen = new Map<string, number>();
  #agentSessionId: string | undefined;
  #announcedId: string | undefined;
  #promptTaken = false;
  readonly #compaction = new CompactionReader();
  readonly #limits = new LimitReader();

  constructor(private readonly promptId: string) {}

  get promptTaken(): boolean {
    return this.#promptTaken;
  }

  get agentSessionId(): string | undefined {
    return this.#agentSessionId;
  }

  read(text: string): LineReading {
    if (text.trim() === '') return this.#settle({ events: [] });
    const line = parseLine(text);
    if (line === undefined) return this.#settle({ events: [note('unparsed', { text })] });
    this.#agentSessionId = textOf(line['session_id']) ?? this.#agentSessionId;
    this.#promptTaken ||= namesPrompt(line, this.promptId);
    this.#compaction.read(line);
    this.#limits.read(line);
    const type = textOf(line['type']) ?? '';
    switch (type) {
      case 'stream_event':
        return this.#settle(this.#streamEvent(line));
      case 'assistant':
        return this.#settle(this.#assistant(line));
      case 'user':
        return this.#settle(this.#user(line));
      case 'system':
        return this.#settle(this.#system(line));
      case 'result':
        return this.#settle(this.#result(line));
      case 'control_response':
        return this.#settle(greeting(line));
      default:
        return this.#settle({ events: PASSING_TYPES.has(type) ? [] : [note(type, { agent: line })] });
    }
  }

  refusedOptions(stderr: string): string[] {
    return this.#agentSessionId === undefined && MCP_CONFIG_REFUSED.test(stderr) ? ['mcp_config'] : [];
  }

  abandon(): AgentEvent[] {
    const events = [...this.#open].flatMap(([parent, block]) => unfinished(parent, block));
    this.#open.clear();
    return events;
  }

  #settle(reading: Omit<LineReading, 'settled'>): LineReading {
    return { ...reading, settled: this.#open.size === 0 };
  }

  #streamEvent(line: JsonObject): Omit<LineReading, 'settled'> {
    const parent = parentOf(line);
    const event = objectOf(line['event']);
    switch (event['type']) {
      case 'message_start':
        this.#messageIds.set(parent, textOf(objectOf(event['message'])['id']) ?? '');
        return this.#close(parent);
      case 'content_block_start': {
        const given = this.#close(parent);
        const messageId = textOf(line['api_message_id']) ?? this.#messageIds.get(parent) ?? '';
        const type = blockTypeOf(objectOf(event['content_block'])['type']);
        this.#open.set(parent, { messageId, index: Number(event['index'] ?? 0), type, text: '' });
        return given;
      }
      case 'content_block_delta':
        return this.#delta(parent, objectOf(event['delta']));
      case 'content_block_stop':
      case 'message_stop':
        return this.#close(parent);
      default:
        return { events: [] };
    }
  }

  #delta(parent: string, delta: JsonObject): Omit<LineReading, 'settled'> {
    const block = this.#open.get(parent);
    const text = textOf(delta['text']) ?? textOf(delta['thinking']) ?? textOf(delta['partial_json']) ?? '';
    if (block?.type === undefined || text === '') return { events: [] };
    block.text += text;
    // What a subagent writes is shown when it is done: two texts at once in one place cannot be read.
    if (parent !== '' || block.messageId === '') return { events: [] };
    const { messageId, index: blockIndex, type: blockType } = block;
    return { events: [], delta: { messageId, blockIndex, blockType, text } };
  }

  /** The block that was being written is over, whether its event came or not. */
  #close(parent: string): Omit<LineReading, 'settled'> {
    const block = this.#open.get(parent);
    this.#open.delete(parent);
    if (block === undefined || parent !== '') return { events: [] };
    return { events: [], blockClosed: { messageId: block.messageId, blockIndex: block.index } };
  }

  #assistant(line: JsonObject): Omit<LineReading, 'settled'> {
    const parent = parentOf(line);
    const message = objectOf(line['message']);
    const messageId = textOf(message['id']) ?? '';
    const open = this.#open.get(parent);
    const streamed = open?.messageId === messageId ? open : undefined;
    const blockIndex = streamed?.index ?? this.#blocksSeen.get(messageId) ?? 0;
    this.#blocksSeen.set(messageId, blockIndex + Math.max(1, blocksOf(message).length));
    const payload = {
      message_id: messageId,
      block_index: blockIndex,
      ...(parent === '' ? {} : { parent_tool_use_id: parent }),
      agent: line,
    };
    const closed = streamed === undefined ? { events: [] } : this.#close(parent);
    return { ...closed, events: [{ type: 'message.assistant', payload }], ...this.#worthResuming() };
  }

  #user(line: JsonObject): Omit<LineReading, 'settled'> {
    const message = objectOf(line['message']);
    const toolUseIds = toolResultIds(message);
    if (toolUseIds.length > 0) {
      // A subagent whose answer is there writes nothing more, however it ended.
      for (const id of toolUseIds) this.#open.delete(id);
      const payload = { tool_use_ids: toolUseIds, agent: line };
      return { events: [{ type: 'message.tool_result', payload }], ...this.#worthResuming() };
    }
    const text = blocksOf(message)
      .map((block) => textOf(block['text']) ?? '')
      .join('\n');
    return { events: [note('user_note', { text, agent: line })] };
  }

  #system(line: JsonObject): Omit<LineReading, 'settled'> {
    const subtype = textOf(line['subtype']) ?? '';
    const mode = subtype === 'status' ? textOf(line['permissionMode']) : undefined;
    if (subtype === 'compact_boundary') return { events: [compacted(line)] };
    const events = PASSING_SUBTYPES.has(subtype) ? [] : [note(subtype, { agent: line })];
    // Only requests of the main thread are told of, and what a failed one had begun to write is not gone on with.
    const closed = subtype === 'api_retry' ? this.#close('') : {};
    return { ...closed, events, ...(mode === undefined ? {} : { permissionMode: mode }) };
  }

  #result(line: JsonObject): Omit<LineReading, 'settled'> {
    this.#open.clear();
    // A turn that the agent began by itself, e.g. when a background task ended: it is told, but it is not the answer.
    if (!isOwnResult(line, this.promptId)) return { events: [note('background_result', { agent: line })] };
    const result = this.#limits.judge(this.#compaction.judge(line, readResult(line)));
    return { events: [], result, ...(result.processContinues ? this.#worthResuming() : {}) };
  }

  /** An id that the agent has not written down yet cannot be resumed, so it is told only once it has answered something. */
  #worthResuming(): { agentSessionId?: string } {
    if (this.#agentSessionId === undefined || this.#agentSessionId === this.#announcedId) return {};
    this.#announcedId = this.#agentSessionId;
    return { agentSessionId: this.#agentSessionId };
  }
}

/** The CLI reports each step of a user message's way (`command_lifecycle`), and names it in what it says because of it. */
const namesPrompt = (line: JsonObject, promptId: string): boolean =>
  [line['command_uuid'], line['user_message_uuid'], ...listOf(line['user_message_uuids'])].includes(promptId);

const parentOf = (line: JsonObject): string => textOf(line['parent_tool_use_id']) ?? '';

function blockTypeOf(type: unknown): BlockText['blockType'] | undefined {
  return type === 'text' || type === 'thinking' || type === 'tool_use' ? type : undefined;
}

const note = (subtype: string, facts: JsonObject): AgentEvent => ({
  type: 'message.system',
  payload: { subtype, ...facts },
});

/** A block whose agent died while writing it, in the form that the agent gives to one it was interrupted in. */
function unfinished(parent: string, block: OpenBlock): AgentEvent[] {
  // Half of a tool's input is of no use to anyone.
  if (block.text === '' || block.type === undefined || block.type === 'tool_use') return [];
  const content = [{ type: block.type, [block.type]: block.text }];
  const agent = {
    type: 'assistant',
    aborted: true,
    message: { id: block.messageId, role: 'assistant', content, stop_reason: null },
    parent_tool_use_id: parent === '' ? null : parent,
  };
  const parentField = parent === '' ? {} : { parent_tool_use_id: parent };
  const payload = { message_id: block.messageId, block_index: block.index, ...parentField, agent };
  return [{ type: 'message.assistant', payload }];
}

/** The answer to `initialize` lists the questions that wait for an answer (SDK: redelivered to canUseTool). */
function greeting(line: JsonObject): Omit<LineReading, 'settled'> {
  const response = objectOf(line['response']);
  if (!Array.isArray(response['pending_permission_requests'])) return { events: [] };
  const openToolUses = listOf(response['pending_permission_requests'])
    .filter(isObject)
    .map((request) => textOf(objectOf(request['request'])['tool_use_id']) ?? '');
  return { events: [], openToolUses };
}
