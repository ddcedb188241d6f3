// Projects as clients see them.
import type { ProjectRecord, ProjectSettings } from '#domain';
import { claudeOptions, type ProjectInfo, type ProjectSettingsInfo } from '#protocol';

export function toProjectInfo(project: ProjectRecord): ProjectInfo {
  // Stored as they were checked; options that an older version knew and this one does not are not shown.
  const options = claudeOptions.safeParse(project.options).data;
  return {
    project_id: project.projectId,
    name: project.name,
    path: project.path,
    state: project.state,
    created_at: project.createdAt.toISOString(),
    last_active: project.lastActiveAt.toISOString(),
    ...(project.firstMessageAt === null ? {} : { first_message_time: project.firstMessageAt.toISOString() }),
    ...(project.lastMessageAt === null ? {} : { last_message_time: project.lastMessageAt.toISOString() }),
    message_count: project.messageCount,
    ...(project.currentSessionId === null ? {} : { session_id: project.currentSessionId }),
    queued_runs: project.queuedRuns,
    active_runs: project.activeRuns,
    ...(project.image === null ? {} : { image: project.image }),
    ...(options === undefined || Object.keys(options).length === 0 ? {} : { options }),
    ...(Object.keys(project.settings).length === 0 ? {} : { settings: toSettingsInfo(project.settings) }),
  };
}

const toSettingsInfo = (settings: ProjectSettings): ProjectSettingsInfo => ({
  ...(settings.permissionPolicy === undefined ? {} : { permission_policy: settings.permissionPolicy }),
  ...(settings.permissionTimeoutMs === undefined ? {} : { permission_timeout_ms: settings.permissionTimeoutMs }),
  ...(settings.parkAfterMs === undefined ? {} : { park_after_ms: settings.parkAfterMs }),
  ...(settings.onUsageLimit === undefined ? {} : { on_usage_limit: settings.onUsageLimit }),
  ...(settings.outputRetentionDays === undefined ? {} : { output_retention_days: settings.outputRetentionDays }),
  ...(settings.maxOutputBytes === undefined ? {} : { max_output_bytes: settings.maxOutputBytes }),
});
