// One thing that the feed shows. Holds no words: those are in the text file.
import type { FinalRunStatus, RunKind } from '#kernel';
import type { PermissionInfo } from '#protocol';
import type { ModelRetry, ToolResult } from './agent-message.js';
import type { PermissionClosing } from './permissions.js';

interface Common {
  /** Stays the same from the first delta to the durable event, so that the element on the page does too. */
  readonly key: string;
  readonly at?: string;
  /** The run that it belongs to and that has not begun: it stands below everything, what is being written too. */
  readonly waitingFor?: string;
}

export interface UserItem extends Common {
  readonly kind: 'user';
  readonly text: string;
  readonly userId: string;
  readonly userName: string | undefined;
  /** Somebody else changed it while it waited. */
  readonly editedBy?: string;
}
export interface TextItem extends Common {
  readonly kind: 'text';
  readonly text: string;
  readonly streaming: boolean;
  /** Said by an agent that the main one started. */
  readonly nested: boolean;
}
export interface ThinkingItem extends Common {
  readonly kind: 'thinking';
  readonly text: string;
  readonly streaming: boolean;
}
export interface ToolItem extends Common {
  readonly kind: 'tool';
  readonly name: string;
  /** Undefined while the model is still writing it; then `draft` is the JSON so far. */
  readonly input: Record<string, unknown> | undefined;
  readonly draft: string;
  readonly result: ToolResult | undefined;
  /** Somebody is being asked whether it may be used. */
  readonly asking: boolean;
  /** The run is over: a result that is missing now will not come. */
  readonly over: boolean;
  readonly nested: boolean;
}
export interface PermissionItem extends Common {
  readonly kind: 'permission';
  readonly request: PermissionInfo;
  readonly closing: PermissionClosing | undefined;
}
export interface ResultItem extends Common {
  readonly kind: 'result';
  readonly costUsd: number;
  readonly durationMs: number | undefined;
  readonly turns: number | undefined;
  readonly tokens: { readonly input: number; readonly output: number };
  readonly ok: boolean;
  /** Set when the turn failed and no later event of the run says so. */
  readonly failure: { readonly subtype: string; readonly text: string } | undefined;
}
export interface CommandItem extends Common {
  readonly kind: 'command';
  readonly runId: string;
}
export interface EndItem extends Common {
  readonly kind: 'end';
  readonly runKind: RunKind;
  readonly status: Exclude<FinalRunStatus, 'succeeded'>;
  readonly error: { readonly code: string; readonly message: string } | undefined;
}
export interface DividerItem extends Common {
  readonly kind: 'divider';
  readonly divider: 'session_created' | 'session_reset';
  readonly title: string;
}
export interface LineItem extends Common {
  readonly kind: 'line';
  readonly line:
    | { readonly of: 'init'; readonly model: string; readonly mode: string }
    | { readonly of: 'system'; readonly subtype: string; readonly text: string }
    | {
        readonly of: 'retry';
        readonly retry: ModelRetry;
        readonly runId: string;
        /** Milliseconds since 1970. */
        readonly nextTryAt: number;
        /** Nothing came of the run since. */
        readonly live: boolean;
      }
    | { readonly of: 'renamed'; readonly name: string }
    | { readonly of: 'sandbox_started'; readonly readyMs: number }
    | { readonly of: 'sandbox_lost'; readonly reason: string }
    | { readonly of: 'unreadable'; readonly type: string };
}
export interface GapItem extends Common {
  readonly kind: 'gap';
  readonly from: number;
  readonly to: number;
}

export type FeedItem =
  | UserItem
  | TextItem
  | ThinkingItem
  | ToolItem
  | PermissionItem
  | ResultItem
  | CommandItem
  | EndItem
  | DividerItem
  | LineItem
  | GapItem;
