-- Sizes of stored output as columns, and indexes for what is cleaned up: their cost follows what is due, not what is stored.

UPDATE "run" SET "output_bytes" = c.bytes
  FROM (SELECT "run_id", sum(octet_length("data")) AS bytes FROM "output_chunk" GROUP BY "run_id") c
  WHERE c."run_id" = "run"."id" AND "run"."output_expired_at" IS NULL;
UPDATE "project_head" SET "output_bytes" = r.bytes
  FROM (SELECT "project_id", sum("output_bytes") AS bytes FROM "run" WHERE "finished_at" IS NOT NULL GROUP BY "project_id") r
  WHERE r."project_id" = "project_head"."project_id";

-- Marked as expired, not yet deleted to the last byte.
CREATE INDEX "run_expiring_output_idx" ON "run" ("host_id") WHERE "output_bytes" > 0 AND "output_expired_at" IS NOT NULL;
-- The oldest output of a project goes first when the project is above its cap.
CREATE INDEX "run_project_output_idx" ON "run" ("project_id", "finished_at") WHERE "output_bytes" > 0 AND "output_expired_at" IS NULL;

CREATE INDEX "intent_applied_at_idx" ON "intent" ("applied_at") WHERE "applied_at" IS NOT NULL;
CREATE INDEX "process_ended_at_idx" ON "process" ("ended_at") WHERE "ended_at" IS NOT NULL;
