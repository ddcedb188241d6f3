// What a person is shown of an agent's last words holds no secret.
import { StderrTail } from './stderr-tail.js';

const tailOf = (text: string, secrets: string[] = []): string => {
  const tail = new StderrTail();
  tail.push(Buffer.from(text));
  return tail.text(secrets);
};

describe('StderrTail', () => {
  it('AGT-17 masks the token of the process and what looks like a secret', () => {
    const shown = tailOf(
      'bad token 0123abcd\nkey sk-ant-REAL-SECRET-123456\nAuthorization: Bearer abcdefghijkl\n' +
        'https://me:hunter22@host/ ANTHROPIC_API_KEY=verysecretvalue\nError: boom',
      ['0123abcd'],
    );
    for (const secret of ['0123abcd', 'REAL-SECRET', 'abcdefghijkl', 'hunter22', 'verysecretvalue']) {
      expect(shown).not.toContain(secret);
    }
    expect(shown).toContain('Error: boom');
  });

  it('AGT-17 keeps the end of a long text', () => {
    const shown = tailOf(`${'x'.repeat(20_000)} the end`);
    expect(shown).toHaveLength(2_000);
    expect(shown.endsWith('the end')).toBe(true);
  });
});
