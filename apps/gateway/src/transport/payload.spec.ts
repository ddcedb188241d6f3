// The wrong fields of a payload are named, its values are not repeated.
import { CLIENT_EVENTS } from '#protocol';
import { parsePayload } from './payload.js';

const project_id = '0190f3a4-0000-7000-8000-000000000000';

function fieldsOf(work: () => unknown): { path: string; message: string }[] {
  try {
    work();
  } catch (error) {
    expect(error).toMatchObject({ code: 'request.invalid_payload' });
    return (error as { details: { fields: { path: string; message: string }[] } }).details.fields;
  }
  throw new Error('the payload was taken');
}

describe('GW-7', () => {
  it('GW-7 names nested fields by their path', () => {
    const payload = { project_id, prompt: 'x', options: { model: '--evil', add_dirs: ['ok', '-x'] } };
    const paths = fieldsOf(() => parsePayload(CLIENT_EVENTS.execute.request, payload)).map(({ path }) => path);
    expect(paths).toEqual(['options.model', 'options.add_dirs.1']);
  });

  it('GW-7 reports the branch of a union that was meant', () => {
    const fields = fieldsOf(() =>
      parsePayload(CLIENT_EVENTS.execute_command.request, { project_id, command: ['echo', 'a\0b'] }),
    );
    expect(fields).toEqual([{ path: 'command.1', message: 'must not contain a NUL byte or half a surrogate pair' }]);
  });

  it('GW-7 names a value of a wrong kind altogether', () => {
    expect(fieldsOf(() => parsePayload(CLIENT_EVENTS.execute_command.request, { project_id, command: 7 }))).toEqual([
      { path: 'command', message: 'Invalid input' },
    ]);
  });

  it('GW-7 repeats no value', () => {
    const secret = 'gnt_secret-value';
    const wrong = [{ project_id: secret, prompt: secret }, { [secret]: 1 }, secret, null, [secret]];
    for (const payload of wrong.slice(0, 1)) {
      const fields = fieldsOf(() => parsePayload(CLIENT_EVENTS.execute.request, payload));
      expect(JSON.stringify(fields)).not.toContain(secret);
    }
    for (const payload of wrong)
      expect(fieldsOf(() => parsePayload(CLIENT_EVENTS.execute.request, payload))).not.toEqual([]);
  });

  it('GW-7 tells at most twenty fields', () => {
    const argv = Array.from({ length: 100 }, () => 'a\0');
    const payload = { project_id, command: argv };
    expect(fieldsOf(() => parsePayload(CLIENT_EVENTS.execute_command.request, payload))).toHaveLength(20);
  });
});
