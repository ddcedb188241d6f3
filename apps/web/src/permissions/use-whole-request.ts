// A question whose input was cut to the limit of a message: asks the server for all of it.
import type { PermissionInfo } from '#protocol';
import { useEffect, useState } from 'react';
import { useConnected, useWorkspace } from '../app/workspace-context.js';
import { answerKeyOf } from '../state/permissions.js';
import { type Problem, problemOf } from '../state/problem.js';

export interface WholeRequest {
  /** As it came, until the whole is there. */
  readonly request: PermissionInfo;
  readonly problem: Problem | undefined;
  readonly load: () => void;
}

export function useWholeRequest(asked: PermissionInfo): WholeRequest {
  const workspace = useWorkspace();
  const connected = useConnected();
  const [whole, setWhole] = useState<PermissionInfo>();
  const [problem, setProblem] = useState<Problem>();
  const [attempt, setAttempt] = useState(0);
  const missing = whole === undefined && answerKeyOf(asked) === undefined;
  useEffect(() => {
    if (!missing || !connected) return undefined;
    let left = false;
    workspace.wholePermission(asked.request_id).then(
      (received) => left || setWhole(received),
      (error: unknown) => left || setProblem(problemOf(error)),
    );
    return () => {
      left = true;
    };
  }, [missing, connected, attempt, workspace, asked.request_id]);
  const load = (): void => {
    setProblem(undefined);
    setAttempt(attempt + 1);
  };
  return { request: whole ?? asked, problem, load };
}
