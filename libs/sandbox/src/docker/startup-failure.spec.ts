// From an exit code and a log to a reason.
import { logText } from './container-log.js';
import { startupFailure } from './startup-failure.js';
import { firstTarFile } from './tar-file.js';

const failure = (log: string, more = {}) => startupFailure({ exitCode: 1, log, outOfMemory: false, ...more });

describe('a sandbox that did not start', () => {
  it.each([
    [
      "/opt/gantry/bin/node: /lib/x86_64-linux-gnu/libc.so.6: version `GLIBC_2.28' not found (required by node)",
      'glibc 2.28 or newer',
    ],
    ["node: /usr/lib/libstdc++.so.6: version `GLIBCXX_3.4.26' not found", 'a newer libstdc++'],
    ['node: error while loading shared libraries: libatomic.so.1: cannot open shared object file', 'libatomic.so.1'],
    ['[FATAL tini (7)] exec /opt/gantry/bin/node failed: No such file or directory', 'glibc'],
    ['[FATAL tini (7)] exec /opt/gantry/bin/node failed: Exec format error', "programs of this machine's architecture"],
    ['{"time":"t","event":"image_unsupported","missing":["mkfifo (coreutils)"]}', 'mkfifo (coreutils)'],
  ])('SBX-23 says what the image lacks: %s', (log, missing) => {
    expect(failure(`first line\n${log}\n`)).toMatchObject({
      code: 'sandbox.image_unsupported',
      details: { missing: [missing] },
    });
  });

  it('SBX-23 says that memory ended, or that it does not know, and shows no log to clients', () => {
    expect(failure('', { outOfMemory: true })).toMatchObject({ code: 'sandbox.out_of_memory' });
    const unknown = failure('{"event":"failed","error":"at /host/secret"}');
    expect(unknown).toMatchObject({ code: 'sandbox.start_failed', details: { exit_code: 1 } });
    expect(unknown.message + JSON.stringify(unknown.details)).not.toContain('/host');
  });
});

describe('the log of a container', () => {
  const frame = (stream: number, text: string): Buffer => {
    const header = Buffer.alloc(8);
    header.writeUInt8(stream, 0);
    header.writeUInt32BE(Buffer.byteLength(text), 4);
    return Buffer.concat([header, Buffer.from(text)]);
  };

  it('SBX-23 is read from both streams in order, a cut end included', () => {
    const frames = Buffer.concat([frame(1, 'out\n'), frame(2, 'err\n'), frame(1, 'cut off').subarray(0, 11)]);
    expect(logText(frames)).toBe('out\nerr\ncut');
    expect(logText(Buffer.alloc(3))).toBe('');
  });
});

describe('the archive of a file', () => {
  const entry = (type: string, size: number, link = ''): Buffer => {
    const header = Buffer.alloc(512);
    header.write(`${size.toString(8).padStart(11, '0')} `, 124);
    header.write(type, 156);
    header.write(link, 157);
    return header;
  };

  it('SBX-18 gives the file, the target of a link, or nothing', () => {
    expect(firstTarFile(Buffer.concat([entry('0', 5), Buffer.from('hello\0\0\0')]))).toEqual({
      ...{ kind: 'file', content: Buffer.from('hello') },
    });
    expect(firstTarFile(entry('2', 0, '../nix/passwd'))).toEqual({ kind: 'link', target: '../nix/passwd' });
    for (const other of [entry('5', 0), entry('0', 10), Buffer.alloc(0), Buffer.alloc(512, 0xff)]) {
      expect(firstTarFile(other)).toEqual({ kind: 'other' });
    }
  });
});
