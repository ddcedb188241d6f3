// The protocol's version and the limits that both sides know without asking.

/** Protocol versions that this build speaks. */
export const PROTOCOL = { min: 1, max: 1 } as const;

export const LIMITS = {
  /** Largest text that a client wants in one message, in KiB: the handshake's max_message_kb. */
  maxMessageKb: { default: 1024, min: 50, max: 1024 },
  /** Largest frame that a client may send, in bytes. */
  maxFrameBytes: 1024 * 1024,
  maxPromptBytes: 512 * 1024,
  maxPathLength: 4096,
  maxNameLength: 200,
  maxArgs: 1000,
  /** project_join answers with at most this many events, and this many bytes of them. */
  joinEvents: 1000,
  joinBytes: 1024 * 1024,
  /** Without since_seq, project_join answers with this many of the newest events. */
  joinNewest: 200,
  /** permission_get answers with at most this many bytes; a larger question can only be ended with its run. */
  permissionBytes: 8 * 1024 * 1024,
  /** Longest wait for the end of a run in one HTTP request, ms. */
  restWaitMs: 60_000,
  /** One piece of input of a command. */
  inputBytes: 64 * 1024,
  pageDefault: 50,
  pageMax: 500,
  streamWindowBytes: { default: 256 * 1024, min: 4096, max: 4 * 1024 * 1024 },
  /** Characters of output that get_command_history shows. */
  outputPreviewChars: 200,
  messageReadBytes: { default: 256 * 1024, max: 1024 * 1024 },
  outputReadBytes: { default: 256 * 1024, max: 1024 * 1024 },
} as const;
