-- Sizes and indexes that keep the cost of a read independent of how much history there is.

ALTER TABLE "event" ADD COLUMN "payload_bytes" INTEGER NOT NULL DEFAULT 0;
UPDATE "event" SET "payload_bytes" = octet_length("payload"::text);

-- Depth of the queues, idle agents, what reconciling compares: unfinished runs and live processes only.
CREATE INDEX "run_unfinished_idx" ON "run" ("host_id", "status", "queued_at")
  WHERE "status" IN ('queued', 'dispatched', 'running', 'waiting', 'parked', 'paused');
DROP INDEX "run_live_idx";
CREATE INDEX "process_live_idx" ON "process" ("sandbox_id") WHERE "state" IN ('starting', 'live');

-- Recent conversations of all projects.
CREATE INDEX "session_updated_at_id_idx" ON "session" ("updated_at", "id");

-- What goes with a project. The open intents of a host have an index of their own.
CREATE INDEX "intent_project_id_idx" ON "intent" ("project_id");
CREATE INDEX "client_cursor_project_id_idx" ON "client_cursor" ("project_id");
DROP INDEX "intent_host_id_applied_at_idx";
