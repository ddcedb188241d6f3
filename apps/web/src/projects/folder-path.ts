// What was typed as the folder of a new project, as the path that is sent.

/**
 * A bare name lies beneath the first root; anything with a slash is sent as it is, for the server to judge. Undefined while no
 * folder is named: nothing is typed, or only a root.
 */
export function folderPath(typed: string, roots: readonly string[]): string | undefined {
  const text = typed.trim();
  const [first] = roots;
  if (text === '' || [...roots, '/'].some((root) => bare(root) === bare(text))) return undefined;
  return text.includes('/') || first === undefined ? text : `${bare(first)}/${text}`;
}

const bare = (path: string): string => path.replace(/\/+$/, '');
