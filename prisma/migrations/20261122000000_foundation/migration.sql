-- CreateSchema
CREATE SCHEMA IF NOT EXISTS "public";

-- CreateTable
CREATE TABLE "instance" (
    "id" UUID NOT NULL,
    "singleton" BOOLEAN NOT NULL DEFAULT true,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "instance_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "user" (
    "id" UUID NOT NULL,
    "name" TEXT NOT NULL,
    "is_admin" BOOLEAN NOT NULL DEFAULT false,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "user_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "api_token" (
    "id" UUID NOT NULL,
    "user_id" UUID NOT NULL,
    "name" TEXT NOT NULL,
    "prefix" TEXT NOT NULL,
    "hash" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "last_used_at" TIMESTAMPTZ(3),
    "expires_at" TIMESTAMPTZ(3),
    "revoked_at" TIMESTAMPTZ(3),

    CONSTRAINT "api_token_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "host" (
    "id" UUID NOT NULL,
    "engine_id" TEXT NOT NULL,
    "epoch" BIGINT NOT NULL DEFAULT 0,
    "holder_id" UUID,
    "lease_until" TIMESTAMPTZ(3),
    "max_runs" INTEGER NOT NULL DEFAULT 4,
    "info" JSONB NOT NULL DEFAULT '{}',
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "last_seen_at" TIMESTAMPTZ(3),

    CONSTRAINT "host_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "project" (
    "id" UUID NOT NULL,
    "host_id" UUID NOT NULL,
    "name" TEXT NOT NULL,
    "path" TEXT NOT NULL,
    "image" TEXT,
    "options" JSONB NOT NULL DEFAULT '{}',
    "state" TEXT NOT NULL DEFAULT 'IDLE',
    "current_session_id" UUID,
    "created_by" UUID NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "last_active_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "deleting_at" TIMESTAMPTZ(3),

    CONSTRAINT "project_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "project_head" (
    "project_id" UUID NOT NULL,
    "head_seq" BIGINT NOT NULL DEFAULT 0,
    "oldest_seq" BIGINT NOT NULL DEFAULT 1,
    "last_position" BIGINT NOT NULL DEFAULT 0,
    "queue_revision" BIGINT NOT NULL DEFAULT 0,
    "event_count" BIGINT NOT NULL DEFAULT 0,
    "message_count" BIGINT NOT NULL DEFAULT 0,
    "first_message_at" TIMESTAMPTZ(3),
    "last_message_at" TIMESTAMPTZ(3),

    CONSTRAINT "project_head_pkey" PRIMARY KEY ("project_id")
);

-- CreateTable
CREATE TABLE "membership" (
    "project_id" UUID NOT NULL,
    "user_id" UUID NOT NULL,
    "role" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "membership_pkey" PRIMARY KEY ("project_id","user_id")
);

-- CreateTable
CREATE TABLE "sandbox" (
    "id" UUID NOT NULL,
    "project_id" UUID NOT NULL,
    "host_id" UUID NOT NULL,
    "container_id" TEXT,
    "boot_id" TEXT,
    "image" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "started_at" TIMESTAMPTZ(3),

    CONSTRAINT "sandbox_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "session" (
    "id" UUID NOT NULL,
    "project_id" UUID NOT NULL,
    "agent" TEXT NOT NULL DEFAULT 'claude',
    "agent_session_id" TEXT,
    "title" TEXT,
    "model" TEXT,
    "permission_mode" TEXT,
    "status" TEXT NOT NULL DEFAULT 'created',
    "created_by" UUID NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "last_run_at" TIMESTAMPTZ(3),
    "cost_usd" DECIMAL(14,6) NOT NULL DEFAULT 0,

    CONSTRAINT "session_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "run" (
    "id" UUID NOT NULL,
    "project_id" UUID NOT NULL,
    "host_id" UUID NOT NULL,
    "session_id" UUID,
    "lane" TEXT NOT NULL DEFAULT 'main',
    "kind" TEXT NOT NULL,
    "status" TEXT NOT NULL DEFAULT 'queued',
    "position" BIGINT NOT NULL,
    "dispatch_no" INTEGER NOT NULL DEFAULT 0,
    "epoch" BIGINT NOT NULL DEFAULT 0,
    "process_id" UUID,
    "start_offset" BIGINT NOT NULL DEFAULT 0,
    "end_offset" BIGINT,
    "prompt" TEXT,
    "options" JSONB NOT NULL DEFAULT '{}',
    "argv" TEXT[],
    "shell_command" TEXT,
    "command_id" TEXT,
    "working_dir" TEXT,
    "timeout_ms" INTEGER NOT NULL,
    "correlation_id" TEXT NOT NULL,
    "created_by" UUID NOT NULL,
    "queued_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "dispatched_at" TIMESTAMPTZ(3),
    "started_at" TIMESTAMPTZ(3),
    "waiting_since" TIMESTAMPTZ(3),
    "finished_at" TIMESTAMPTZ(3),
    "active_ms" INTEGER NOT NULL DEFAULT 0,
    "duration_ms" INTEGER,
    "exit_code" INTEGER,
    "exit_signal" TEXT,
    "error_code" TEXT,
    "error_message" TEXT,
    "result_text" TEXT,
    "usage" JSONB,
    "cost_usd" DECIMAL(14,6),

    CONSTRAINT "run_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "process" (
    "id" UUID NOT NULL,
    "project_id" UUID NOT NULL,
    "sandbox_id" UUID NOT NULL,
    "session_id" UUID,
    "kind" TEXT NOT NULL,
    "state" TEXT NOT NULL DEFAULT 'starting',
    "fingerprint" TEXT NOT NULL,
    "token_hash" TEXT,
    "boot_id" TEXT,
    "pid" INTEGER,
    "epoch" BIGINT NOT NULL DEFAULT 0,
    "out_offset" BIGINT NOT NULL DEFAULT 0,
    "cost_usd" DECIMAL(14,6) NOT NULL DEFAULT 0,
    "exit_code" INTEGER,
    "exit_signal" TEXT,
    "started_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "last_used_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "ended_at" TIMESTAMPTZ(3),

    CONSTRAINT "process_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "event" (
    "project_id" UUID NOT NULL,
    "seq" BIGINT NOT NULL,
    "id" UUID NOT NULL,
    "type" TEXT NOT NULL,
    "session_id" UUID,
    "run_id" UUID,
    "payload" JSONB NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "event_pkey" PRIMARY KEY ("project_id","seq")
);

-- CreateTable
CREATE TABLE "output_chunk" (
    "run_id" UUID NOT NULL,
    "offset" BIGINT NOT NULL,
    "channel" TEXT NOT NULL,
    "data" BYTEA NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "output_chunk_pkey" PRIMARY KEY ("run_id","offset")
);

-- CreateTable
CREATE TABLE "permission_request" (
    "id" UUID NOT NULL,
    "project_id" UUID NOT NULL,
    "session_id" UUID NOT NULL,
    "run_id" UUID NOT NULL,
    "process_id" UUID NOT NULL,
    "tool_use_id" TEXT NOT NULL,
    "tool_name" TEXT NOT NULL,
    "input" JSONB NOT NULL,
    "input_hash" TEXT NOT NULL,
    "suggestions" JSONB NOT NULL DEFAULT '[]',
    "status" TEXT NOT NULL DEFAULT 'open',
    "answer" JSONB,
    "answered_by" UUID,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "closed_at" TIMESTAMPTZ(3),

    CONSTRAINT "permission_request_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "intent" (
    "id" UUID NOT NULL,
    "host_id" UUID NOT NULL,
    "project_id" UUID NOT NULL,
    "run_id" UUID NOT NULL,
    "kind" TEXT NOT NULL,
    "payload" JSONB NOT NULL DEFAULT '{}',
    "created_by" UUID NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "applied_at" TIMESTAMPTZ(3),

    CONSTRAINT "intent_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "idempotency" (
    "user_id" UUID NOT NULL,
    "event" TEXT NOT NULL,
    "key" TEXT NOT NULL,
    "payload_hash" TEXT NOT NULL,
    "result" JSONB NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "idempotency_pkey" PRIMARY KEY ("user_id","event","key")
);

-- CreateTable
CREATE TABLE "client_cursor" (
    "user_id" UUID NOT NULL,
    "client_id" TEXT NOT NULL,
    "project_id" UUID NOT NULL,
    "seq" BIGINT NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "client_cursor_pkey" PRIMARY KEY ("user_id","client_id","project_id")
);

-- CreateIndex
CREATE UNIQUE INDEX "instance_singleton_key" ON "instance"("singleton");

-- CreateIndex
CREATE UNIQUE INDEX "user_name_key" ON "user"("name");

-- CreateIndex
CREATE UNIQUE INDEX "api_token_hash_key" ON "api_token"("hash");

-- CreateIndex
CREATE INDEX "api_token_user_id_idx" ON "api_token"("user_id");

-- CreateIndex
CREATE UNIQUE INDEX "host_engine_id_key" ON "host"("engine_id");

-- CreateIndex
CREATE INDEX "project_last_active_at_id_idx" ON "project"("last_active_at", "id");

-- CreateIndex
CREATE UNIQUE INDEX "project_host_id_path_key" ON "project"("host_id", "path");

-- CreateIndex
CREATE INDEX "membership_user_id_idx" ON "membership"("user_id");

-- CreateIndex
CREATE UNIQUE INDEX "sandbox_project_id_key" ON "sandbox"("project_id");

-- CreateIndex
CREATE INDEX "sandbox_host_id_idx" ON "sandbox"("host_id");

-- CreateIndex
CREATE INDEX "session_project_id_updated_at_id_idx" ON "session"("project_id", "updated_at", "id");

-- CreateIndex
CREATE INDEX "run_project_id_id_idx" ON "run"("project_id", "id");

-- CreateIndex
CREATE INDEX "run_host_id_status_idx" ON "run"("host_id", "status");

-- CreateIndex
CREATE INDEX "run_session_id_id_idx" ON "run"("session_id", "id");

-- CreateIndex
CREATE INDEX "run_process_id_idx" ON "run"("process_id");

-- CreateIndex
CREATE UNIQUE INDEX "process_token_hash_key" ON "process"("token_hash");

-- CreateIndex
CREATE INDEX "process_project_id_state_idx" ON "process"("project_id", "state");

-- CreateIndex
CREATE INDEX "process_sandbox_id_state_idx" ON "process"("sandbox_id", "state");

-- CreateIndex
CREATE INDEX "process_session_id_state_idx" ON "process"("session_id", "state");

-- CreateIndex
CREATE UNIQUE INDEX "event_id_key" ON "event"("id");

-- CreateIndex
CREATE INDEX "event_project_id_session_id_seq_idx" ON "event"("project_id", "session_id", "seq");

-- CreateIndex
CREATE INDEX "event_project_id_created_at_seq_idx" ON "event"("project_id", "created_at", "seq");

-- CreateIndex
CREATE INDEX "event_run_id_seq_idx" ON "event"("run_id", "seq");

-- CreateIndex
CREATE INDEX "permission_request_run_id_status_idx" ON "permission_request"("run_id", "status");

-- CreateIndex
CREATE INDEX "permission_request_project_id_status_idx" ON "permission_request"("project_id", "status");

-- CreateIndex
CREATE UNIQUE INDEX "permission_request_process_id_tool_use_id_key" ON "permission_request"("process_id", "tool_use_id");

-- CreateIndex
CREATE INDEX "intent_host_id_applied_at_idx" ON "intent"("host_id", "applied_at");

-- CreateIndex
CREATE INDEX "intent_run_id_applied_at_idx" ON "intent"("run_id", "applied_at");

-- CreateIndex
CREATE INDEX "idempotency_created_at_idx" ON "idempotency"("created_at");

-- AddForeignKey
ALTER TABLE "api_token" ADD CONSTRAINT "api_token_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "user"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "project" ADD CONSTRAINT "project_host_id_fkey" FOREIGN KEY ("host_id") REFERENCES "host"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "project_head" ADD CONSTRAINT "project_head_project_id_fkey" FOREIGN KEY ("project_id") REFERENCES "project"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "membership" ADD CONSTRAINT "membership_project_id_fkey" FOREIGN KEY ("project_id") REFERENCES "project"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "membership" ADD CONSTRAINT "membership_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "user"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "sandbox" ADD CONSTRAINT "sandbox_project_id_fkey" FOREIGN KEY ("project_id") REFERENCES "project"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "sandbox" ADD CONSTRAINT "sandbox_host_id_fkey" FOREIGN KEY ("host_id") REFERENCES "host"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "session" ADD CONSTRAINT "session_project_id_fkey" FOREIGN KEY ("project_id") REFERENCES "project"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "run" ADD CONSTRAINT "run_project_id_fkey" FOREIGN KEY ("project_id") REFERENCES "project"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "run" ADD CONSTRAINT "run_session_id_fkey" FOREIGN KEY ("session_id") REFERENCES "session"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "process" ADD CONSTRAINT "process_project_id_fkey" FOREIGN KEY ("project_id") REFERENCES "project"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "event" ADD CONSTRAINT "event_project_id_fkey" FOREIGN KEY ("project_id") REFERENCES "project"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "output_chunk" ADD CONSTRAINT "output_chunk_run_id_fkey" FOREIGN KEY ("run_id") REFERENCES "run"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "permission_request" ADD CONSTRAINT "permission_request_project_id_fkey" FOREIGN KEY ("project_id") REFERENCES "project"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "client_cursor" ADD CONSTRAINT "client_cursor_project_id_fkey" FOREIGN KEY ("project_id") REFERENCES "project"("id") ON DELETE CASCADE ON UPDATE CASCADE;



-- What Prisma's schema language cannot say.

-- R1: the database refuses a second active run in a lane and in a session. These are the backstop, never the mechanism.
CREATE UNIQUE INDEX "run_lane_active_key" ON "run" ("project_id", "lane")
  WHERE "status" IN ('dispatched', 'running', 'waiting', 'paused');
CREATE UNIQUE INDEX "run_session_active_key" ON "run" ("session_id")
  WHERE "status" IN ('dispatched', 'running', 'waiting', 'paused') AND "session_id" IS NOT NULL;
-- The next run of a lane, and the lanes of a project that have queued runs.
CREATE INDEX "run_queue_idx" ON "run" ("project_id", "lane", "position") WHERE "status" = 'queued';
-- What is dispatched, for reconciling.
CREATE INDEX "run_live_idx" ON "run" ("host_id") WHERE "status" IN ('dispatched', 'running', 'waiting', 'parked', 'paused');
CREATE INDEX "intent_open_idx" ON "intent" ("host_id", "created_at") WHERE "applied_at" IS NULL;
CREATE INDEX "permission_open_idx" ON "permission_request" ("project_id") WHERE "status" = 'open';

ALTER TABLE "run" ADD CONSTRAINT "run_status_check" CHECK ("status" IN
  ('queued', 'dispatched', 'running', 'waiting', 'parked', 'paused', 'succeeded', 'failed', 'cancelled', 'timed_out', 'interrupted'));
ALTER TABLE "run" ADD CONSTRAINT "run_kind_check" CHECK ("kind" IN ('prompt', 'command'));
ALTER TABLE "session" ADD CONSTRAINT "session_status_check" CHECK ("status" IN
  ('created', 'starting', 'running', 'completed', 'paused', 'crashed', 'failed', 'archived'));
ALTER TABLE "project" ADD CONSTRAINT "project_state_check" CHECK ("state" IN ('IDLE', 'EXECUTING', 'ERROR'));
ALTER TABLE "process" ADD CONSTRAINT "process_state_check" CHECK ("state" IN ('starting', 'live', 'exited', 'lost'));
ALTER TABLE "permission_request" ADD CONSTRAINT "permission_status_check" CHECK ("status" IN
  ('open', 'answered', 'expired', 'cancelled', 'run_ended'));
