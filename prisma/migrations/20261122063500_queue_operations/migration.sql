-- Queues that stay fast however long they are: a title on the run, so that a queue is read without its prompts, and one index that
-- serves every question about a project's unfinished runs.

ALTER TABLE "run" ADD COLUMN "title" TEXT NOT NULL DEFAULT '';
UPDATE "run" SET "title" = CASE WHEN length("line") > 120 THEN left("line", 119) || '…' ELSE "line" END
  FROM (SELECT "id" AS "of", split_part(btrim(COALESCE("prompt", "shell_command", array_to_string("argv", ' '), ''), E' \n\r\t'), E'\n', 1) AS "line"
    FROM "run") AS "first" WHERE "id" = "of";

DROP INDEX "run_queue_idx";
CREATE INDEX "run_unfinished_of_project_idx" ON "run" ("project_id", "status", "lane", "position")
  WHERE "status" IN ('queued', 'dispatched', 'running', 'waiting', 'parked', 'paused');
