// A command as part of the conversation: its card, closed unless it runs.
import { useState } from 'react';
import { commandsOf, isFinal } from '../state/commands.js';
import { useSelected } from '../ui/use-store.js';
import type { ProjectSession } from '../workspace/project-session.js';
import { CommandCard } from './command-card.js';

export function CommandInFeed({ runId, session }: { runId: string; session: ProjectSession }) {
  const command = useSelected(session.view, (view) => commandsOf(view).get(runId));
  const [ranAtFirst] = useState(command !== undefined && !isFinal(command.status));
  return command === undefined ? null : <CommandCard command={command} startsOpen={ranAtFirst} />;
}
