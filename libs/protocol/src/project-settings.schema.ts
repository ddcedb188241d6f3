// What holds for a project's runs beside the agent's options: who is asked, how long waits last, how much output is kept.
import { z } from 'zod';
import { argument, isShowable, SHOWABLE_RULE } from './primitives.schema.js';

const DAY_MS = 24 * 60 * 60 * 1000;
/** Longest wait that can be set, ms: Postgres and timers both hold it. */
const MAX_WAIT_MS = 365 * DAY_MS;
export const MAX_DENY_RULES = 100;

const denyRule = z.strictObject({
  tool: z
    .string()
    .trim()
    .min(1)
    .max(200)
    .refine(isShowable, { message: SHOWABLE_RULE })
    .describe('Name of a tool, or * for all of them; upper and lower case are the same'),
  pattern: argument
    .trim()
    .min(1)
    .max(1000)
    .optional()
    .describe('With * and ?, searched word by word in the command or file path; without it the tool is refused always'),
});

const permissionPolicy = z.strictObject({
  mode: z
    .enum(['ask', 'allow_in_sandbox'])
    .describe('allow_in_sandbox: the server allows by itself what no deny rule matches'),
  deny: z.array(denyRule).max(MAX_DENY_RULES).optional().describe('Refused at once, in both modes'),
});

export const projectSettings = z.strictObject({
  permission_policy: permissionPolicy.optional(),
  permission_timeout_ms: z
    .int()
    .min(1000)
    .max(MAX_WAIT_MS)
    .optional()
    .describe('A question that nobody answered for so long counts as refused; without it, it stays open'),
  park_after_ms: z
    .int()
    .min(0)
    .max(MAX_WAIT_MS)
    .optional()
    .describe('After so long a run that waits for a person leaves its lane to others; 0: never'),
  on_usage_limit: z.enum(['wait', 'fail']).optional().describe('What a run does at a usage limit; wait is the default'),
  output_retention_days: z.int().min(0).max(3650).optional().describe('0: for ever'),
  max_output_bytes: z
    .int()
    .min(64 * 1024)
    .max(1024 ** 4)
    .optional()
    .describe('Stored output of one run; the middle of more is left out'),
});
export type ProjectSettingsInfo = z.infer<typeof projectSettings>;

/** Merged into what is set, key by key; null takes a key back to its default. */
export const projectSettingsPatch = z.strictObject({
  permission_policy: permissionPolicy.nullable().optional(),
  permission_timeout_ms: projectSettings.shape.permission_timeout_ms.unwrap().nullable().optional(),
  park_after_ms: projectSettings.shape.park_after_ms.unwrap().nullable().optional(),
  on_usage_limit: projectSettings.shape.on_usage_limit.unwrap().nullable().optional(),
  output_retention_days: projectSettings.shape.output_retention_days.unwrap().nullable().optional(),
  max_output_bytes: projectSettings.shape.max_output_bytes.unwrap().nullable().optional(),
});
export type ProjectSettingsPatch = z.infer<typeof projectSettingsPatch>;
