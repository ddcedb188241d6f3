// The form for a new project. What the server has against the folder or the name is said beside that field.
import { type FormEvent, useState } from 'react';
import { goTo } from '../app/use-route.js';
import { useHello, useWorkspace } from '../app/workspace-context.js';
import { type Problem, problemOf } from '../state/problem.js';
import { t } from '../text/index.js';
import { Button } from '../ui/button.js';
import { Field } from '../ui/field.js';
import { ProblemNote } from '../ui/problem-note.js';
import { folderPath } from './folder-path.js';
import { fieldOf } from './problem-field.js';

export function CreateProjectForm({ onClose }: { onClose: () => void }) {
  const { projects } = useWorkspace();
  const roots = useHello()?.project_roots ?? [];
  const [path, setPath] = useState(roots[0] === undefined ? '' : `${roots[0].replace(/\/$/, '')}/`);
  const [name, setName] = useState('');
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<Problem>();
  const field = problem && fieldOf(problem);

  const folder = folderPath(path, roots);
  const create = async (): Promise<void> => {
    if (folder === undefined) return;
    setBusy(true);
    setProblem(undefined);
    try {
      const { project_id: projectId } = await projects.create(folder, name);
      onClose();
      goTo({ projectId, tab: 'conversation' });
    } catch (error) {
      setProblem(problemOf(error));
      setBusy(false);
    }
  };
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    void create();
  };
  return (
    <form
      onSubmit={submit}
      onKeyDown={(event) => event.key === 'Escape' && onClose()}
      aria-label={t.projects.form.title}
      className="m-2 animate-appear space-y-4 rounded-xl border border-line bg-surface p-3 shadow-sm"
    >
      <Field
        label={t.projects.form.path}
        hint={roots.length > 0 ? t.projects.form.pathHint(roots) : t.projects.form.pathHintUnknown}
        value={path}
        onChange={(event) => setPath(event.target.value)}
        problem={field === 'path' ? problem : undefined}
        circumstances={{ roots }}
        autoComplete="off"
        autoCapitalize="none"
        spellCheck={false}
        autoFocus
        required
        mono
      />
      <Field
        label={t.projects.form.name}
        hint={t.projects.form.nameHint}
        value={name}
        onChange={(event) => setName(event.target.value)}
        problem={field === 'name' ? problem : undefined}
        autoComplete="off"
      />
      {problem !== undefined && field === undefined && <ProblemNote problem={problem} />}
      <div className="flex justify-end gap-2">
        <Button size="small" look="quiet" onClick={onClose}>
          {t.projects.form.cancel}
        </Button>
        <Button
          size="small"
          type="submit"
          look="primary"
          disabled={busy || folder === undefined}
          reason={folder === undefined ? t.projects.form.nothingYet : undefined}
        >
          {busy ? t.projects.form.busy : t.projects.form.submit}
        </Button>
      </div>
    </form>
  );
}
