-- What durable runs need: paused lanes, waits with a reason and an end, parked runs, answers by rule or by time, compactions,
-- output that is cut by a cap or expires, hosts that are gone.

CREATE TABLE "lane" (
    "project_id" UUID NOT NULL,
    "name" TEXT NOT NULL,
    "paused_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "paused_by" UUID NOT NULL,

    CONSTRAINT "lane_pkey" PRIMARY KEY ("project_id","name")
);
ALTER TABLE "lane" ADD CONSTRAINT "lane_project_id_fkey" FOREIGN KEY ("project_id") REFERENCES "project"("id") ON DELETE CASCADE ON UPDATE CASCADE;

ALTER TABLE "run" ADD COLUMN "wait_reason" TEXT,
    ADD COLUMN "resume_at" TIMESTAMPTZ(3),
    ADD COLUMN "parked_at" TIMESTAMPTZ(3),
    ADD COLUMN "paused_at" TIMESTAMPTZ(3),
    ADD COLUMN "attempts" INTEGER NOT NULL DEFAULT 1,
    ADD COLUMN "output_bytes" BIGINT NOT NULL DEFAULT 0,
    ADD COLUMN "output_cut_from" BIGINT,
    ADD COLUMN "output_cut_to" BIGINT,
    ADD COLUMN "output_expired_at" TIMESTAMPTZ(3);
ALTER TABLE "run" DROP CONSTRAINT "run_kind_check";
ALTER TABLE "run" ADD CONSTRAINT "run_kind_check" CHECK ("kind" IN ('prompt', 'command', 'compact'));
ALTER TABLE "run" ADD CONSTRAINT "run_wait_reason_check" CHECK ("wait_reason" IN ('permission', 'usage_limit'));

ALTER TABLE "permission_request" ADD COLUMN "expires_at" TIMESTAMPTZ(3),
    ADD COLUMN "answered_via" TEXT;
ALTER TABLE "permission_request" ADD CONSTRAINT "permission_answered_via_check" CHECK ("answered_via" IN ('person', 'policy', 'timeout'));

ALTER TABLE "project" ADD COLUMN "settings" JSONB NOT NULL DEFAULT '{}';
ALTER TABLE "project_head" ADD COLUMN "output_bytes" BIGINT NOT NULL DEFAULT 0;
ALTER TABLE "session" ADD COLUMN "title_by_user" BOOLEAN NOT NULL DEFAULT false,
    ADD COLUMN "archived_at" TIMESTAMPTZ(3);
ALTER TABLE "host" ADD COLUMN "lost_at" TIMESTAMPTZ(3);

CREATE INDEX "permission_request_expires_at_idx" ON "permission_request" ("expires_at") WHERE "status" = 'open';
CREATE INDEX "run_stored_output_idx" ON "run" ("finished_at") WHERE "output_bytes" > 0 AND "output_expired_at" IS NULL;
