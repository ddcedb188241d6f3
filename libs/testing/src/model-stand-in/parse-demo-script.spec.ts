// The demo words as people type them, and texts that nobody expects.
import fc from 'fast-check';
import { parseDemoScript, remembered } from './parse-demo-script.js';

describe('parseDemoScript', () => {
  it('DEMO-6 reads a word at the start of a line, its text up to the next such line', () => {
    const script = parseDemoScript('Please:\n demo:bash cat <<X\nline demo:echo\nX\ndemo:say done\nreally');
    expect(script.tools.map(({ input }) => input['command'])).toEqual(['cat <<X\nline demo:echo\nX']);
    expect(script.ending).toEqual({ kind: 'say', text: 'done\nreally' });
  });

  it('DEMO-7 finds nothing to do in a plain prompt', () => {
    expect(parseDemoScript('what does demo:echo do?').ending).toEqual({ kind: 'plain' });
  });

  it('DEMO-8 reads several commands in order, and tools with their input', () => {
    const script = parseDemoScript('demo:bash a; b ;; c\ndemo:tool mcp__x__y {"n":1}\ndemo:write d/e.txt two\nlines');
    expect(script.tools).toEqual([
      { name: 'Bash', input: expect.objectContaining({ command: 'a; b' }) as unknown },
      { name: 'Bash', input: expect.objectContaining({ command: 'c' }) as unknown },
      { name: 'mcp__x__y', input: { n: 1 } },
      { name: 'Write', input: { file_path: 'd/e.txt', content: 'two\nlines' } },
    ]);
  });

  it('DEMO-11 ties a fault to the tool calls written before it', () => {
    const script = parseDemoScript('demo:error 529 2\ndemo:bash x\ndemo:cut\ndemo:hang 3');
    expect(script.faults).toEqual([
      { kind: 'error', afterTools: 0, status: 529, times: 2 },
      { kind: 'cut', afterTools: 1, times: 1, words: 5 },
      { kind: 'hang', afterTools: 1, words: 3 },
    ]);
  });

  it.each([
    'demo:nonsense',
    'demo:constructor',
    'demo:slow fast',
    'demo:slow 3',
    'demo:long -1',
    'demo:long 99999999',
    'demo:bash',
    'demo:tool X {"broken',
    'demo:tool X [1]',
    'demo:write onlypath',
    'demo:error 200',
    'demo:error',
    'demo:usage 1',
    'demo:remember',
  ])('DEMO-18 answers to %p that it did not understand, and does nothing else', (line) => {
    const script = parseDemoScript(`demo:bash rm file\n${line}`);
    expect(script).toMatchObject({ tools: [], faults: [], ending: { kind: 'misspelt', line } });
  });

  it('DEMO-18 never throws, whatever is typed', () => {
    const piece = fc.oneof(fc.string(), fc.constantFrom('\n', ' ', 'demo:', 'demo:slow', 'demo:tool ', '{', ';;', '1'));
    fc.assert(
      fc.property(fc.array(piece), (pieces) => {
        const script = parseDemoScript(pieces.join(''));
        expect(script.ending.kind).toEqual(expect.any(String));
      }),
    );
  });
});

describe('remembered', () => {
  it('DEMO-16 takes the first line of each fact, so that a summary around it does not get in', () => {
    expect(remembered('<summary>\ndemo:remember blue\ndemo:remember green\n</summary>')).toEqual(['blue', 'green']);
  });
});
