// Client events that read one thing by its id: what scripts ask for over HTTP, on the socket as well.
import { z } from 'zod';
import { projectInfo, runInfo, sessionInfo } from './models.schema.js';
import { id } from './primitives.schema.js';

export const getEvents = {
  project_get: {
    summary: 'One project.',
    role: 'viewer',
    request: z.strictObject({ project_id: id }),
    data: projectInfo,
  },
  session_get: {
    summary: 'One conversation.',
    role: 'viewer',
    request: z.strictObject({ session_id: id }),
    data: sessionInfo,
  },
  run_get: {
    summary: 'One run, with its place in the queue while it waits there.',
    role: 'viewer',
    request: z.strictObject({ run_id: id }),
    data: runInfo,
  },
} as const;
