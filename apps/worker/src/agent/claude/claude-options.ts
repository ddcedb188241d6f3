// From the options of a prompt to those of the Agent SDK, which makes one argv entry (or a flag and its value) of each. A value
// can never become a flag: whatever could be read as one is refused or written behind its flag with `=`.
import { posix } from 'node:path';
import type { Options, PermissionMode } from '@anthropic-ai/claude-agent-sdk';
import { AppError, PERMISSION_MODES } from '#kernel';
import { claudeOptions, type ClaudeOptions } from '#protocol';
import { hashOfJson } from '../canonical-json.js';
import type { AgentPlan, AgentWishes } from '../agent-driver.port.js';

export interface ClaudePlan extends AgentPlan {
  readonly permissionMode: PermissionMode;
  readonly options: ClaudeOptions;
}

const WORKSPACE = '/workspace';

/** Throws `agent.options_invalid`. `version` is that of CLI and launcher: another one needs another process. */
export function planClaude(wishes: AgentWishes, version: string): ClaudePlan {
  const options = { ...parse(wishes.project), ...parse(wishes.run) };
  const run = parse(wishes.run);
  const cwd = wishes.cwd;
  const model = run.model ?? wishes.session.model ?? options.model;
  const permissionMode = permissionModeOf(options, run, wishes);
  if (options.fallback_model !== undefined && options.fallback_model === model) {
    throw invalid('The fallback model must be another one than the model.', ['fallback_model']);
  }
  const launch = {
    ...options,
    mcp_config: mcpConfig(options.mcp_config, cwd),
    add_dirs: folders(options.add_dirs, cwd),
  };
  refuseOverlong(launch);
  return {
    fingerprint: fingerprint(launch, { cwd, version, bypass: allowsBypass(launch, permissionMode) }),
    cwd,
    model,
    permissionMode,
    // The CLI counts a budget over the life of its process; a second run must not find it half spent.
    reusable: options.max_budget_usd === undefined,
    options: launch,
  };
}

/** The SDK's options that follow from the plan. Those that it has no field for, or would not put into argv, go in `extraArgs`. */
export function toSdkOptions(plan: ClaudePlan): Options {
  const { options } = plan;
  return {
    cwd: plan.cwd,
    permissionMode: plan.permissionMode,
    ...(allowsBypass(options, plan.permissionMode) ? { allowDangerouslySkipPermissions: true } : {}),
    ...(plan.model === undefined ? {} : { model: plan.model }),
    ...(options.fallback_model === undefined ? {} : { fallbackModel: options.fallback_model }),
    ...(options.allowed_tools === undefined ? {} : { allowedTools: options.allowed_tools }),
    ...(options.disallowed_tools === undefined ? {} : { disallowedTools: options.disallowed_tools }),
    ...(options.add_dirs === undefined ? {} : { additionalDirectories: options.add_dirs }),
    ...(options.strict_mcp_config === undefined ? {} : { strictMcpConfig: options.strict_mcp_config }),
    ...(options.max_turns === undefined ? {} : { maxTurns: options.max_turns }),
    ...(options.max_budget_usd === undefined ? {} : { maxBudgetUsd: options.max_budget_usd }),
    // Without this the SDK greets the CLI with an empty system prompt.
    systemPrompt: { type: 'preset', preset: 'claude_code' },
    extraArgs: extraArgs(options),
  };
}

function extraArgs(options: ClaudeOptions): Record<string, string | null> {
  return {
    ...(options.append_system_prompt === undefined ? {} : { 'append-system-prompt': options.append_system_prompt }),
    ...(options.mcp_config === undefined ? {} : { 'mcp-config': options.mcp_config }),
    ...(options.dangerously_skip_permissions === true ? { 'dangerously-skip-permissions': null } : {}),
  };
}

const allowsBypass = (options: ClaudeOptions, mode: string): boolean =>
  options.dangerously_skip_permissions === true || mode === 'bypassPermissions';

function permissionModeOf(options: ClaudeOptions, run: ClaudeOptions, wishes: AgentWishes): PermissionMode {
  if (options.dangerously_skip_permissions === true) return 'bypassPermissions';
  const ofSession = PERMISSION_MODES.find((mode) => mode === wishes.session.permissionMode);
  return run.permission_mode ?? ofSession ?? options.permission_mode ?? 'default';
}

function parse(options: Record<string, unknown>): ClaudeOptions {
  const parsed = claudeOptions.safeParse(options);
  if (parsed.success) return parsed.data;
  const problems = parsed.error.issues.map(({ path, message }) => ({ field: path.join('.'), message }));
  throw invalid(
    `The options of the agent are not valid: ${problems.map(({ field, message }) => `${field} ${message}`).join('; ')}.`,
    problems.map(({ field }) => field),
  );
}

/** A JSON object as it is; anything else is a path in the workspace, made absolute. */
function mcpConfig(config: string | undefined, cwd: string): string | undefined {
  if (config === undefined) return undefined;
  if (config.trimStart().startsWith('{')) {
    try {
      JSON.parse(config);
    } catch (error) {
      throw invalid('mcp_config looks like JSON and is not.', ['mcp_config'], error);
    }
    return config.trim();
  }
  const path = posix.resolve(cwd, config);
  if (path !== WORKSPACE && !path.startsWith(`${WORKSPACE}/`)) {
    throw invalid('mcp_config must be a JSON object or a path inside the workspace.', ['mcp_config']);
  }
  return path;
}

/** Linux passes no longer argument (MAX_ARG_STRLEN, execve(2)); some room is left for the flag before it. */
const MAX_ARGUMENT_BYTES = 127 * 1024;

function refuseOverlong(options: ClaudeOptions): void {
  const { append_system_prompt, mcp_config, allowed_tools, disallowed_tools } = options;
  const values = { append_system_prompt, mcp_config, allowed_tools, disallowed_tools };
  const overlong = Object.entries(values).filter(([, value]) => Buffer.byteLength(String(value)) > MAX_ARGUMENT_BYTES);
  if (overlong.length === 0) return;
  throw invalid(
    `An option is longer than the ${MAX_ARGUMENT_BYTES} bytes that fit into an argument.`,
    overlong.map(([field]) => field),
  );
}

const folders = (dirs: string[] | undefined, cwd: string): string[] | undefined =>
  dirs?.map((dir) => posix.resolve(cwd, dir));

function fingerprint(options: ClaudeOptions, launch: { cwd: string; version: string; bypass: boolean }): string {
  const { model: _model, permission_mode: _mode, timeout_ms: _timeout, ...fixed } = options;
  return hashOfJson({ agent: 'claude', ...launch, options: fixed });
}

const invalid = (message: string, fields: string[], cause?: unknown): AppError =>
  new AppError('agent.options_invalid', message, { details: { fields }, cause });
