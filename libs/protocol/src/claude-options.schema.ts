// The options of a prompt. Each reaches the CLI as separate argv entries, so that a value can never become a flag.
import { z } from 'zod';
import { PERMISSION_MODES } from '#kernel';
import { argument } from './primitives.schema.js';

/** A value that stands behind a flag of its own: no leading dash, so that no parser can take it for a flag. */
const value = argument.refine((text) => !text.startsWith('-'), { message: 'must not begin with a dash' });

export const claudeOptions = z
  .strictObject({
    dangerously_skip_permissions: z.boolean().optional().describe('Every tool is allowed without asking'),
    allowed_tools: z.array(value.min(1).max(500)).max(100).optional().describe('Tools that need no permission'),
    disallowed_tools: z.array(value.min(1).max(500)).max(100).optional().describe('Tools that are refused'),
    mcp_config: value
      .min(1)
      .max(64 * 1024)
      .optional()
      .describe('MCP servers: a JSON string, or a path inside the workspace'),
    append_system_prompt: argument
      .max(64 * 1024)
      .optional()
      .describe('Text after the system prompt'),
    permission_mode: z.enum(PERMISSION_MODES).optional(),
    model: value.min(1).max(200).optional().describe('e.g. sonnet, opus, or a full model name'),
    fallback_model: value.min(1).max(200).optional(),
    add_dirs: z.array(value.min(1).max(4096)).max(50).optional().describe('More folders that tools may use'),
    strict_mcp_config: z.boolean().optional().describe('Only the servers of mcp_config'),
    max_turns: z.int().min(1).max(1000).optional(),
    max_budget_usd: z.number().positive().max(10_000).optional(),
    timeout_ms: z.int().min(1000).optional().describe('Active time, ms; capped by hello.limits.run_timeout_max_ms'),
  })
  .describe('Options of the Claude Code CLI');
export type ClaudeOptions = z.infer<typeof claudeOptions>;
