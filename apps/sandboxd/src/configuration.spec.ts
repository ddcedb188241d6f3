// What the container's environment must say.
import { parseConfiguration } from './configuration.js';

const env = {
  ...{ SANDBOXD_UID: '1000', SANDBOXD_GID: '1001', SANDBOXD_USER: 'agent', SANDBOXD_HOME: '/home/agent' },
  ...{
    SANDBOXD_SOCKET: '/s',
    SANDBOXD_SPOOL_FOLDER: '/spool',
    SANDBOXD_SPOOL_BYTES: '4096',
    SANDBOXD_PIPE_FOLDER: '/p',
  },
  ...{ SANDBOXD_BROKER_SOCKET: '/b', SANDBOXD_BROKER_PORT: '8082' },
};

describe('the configuration of sandboxd', () => {
  it('SBX-18 names the sandbox user, who is never root', () => {
    expect(parseConfiguration(env).user).toEqual({ uid: 1000, gid: 1001, name: 'agent', home: '/home/agent' });
    for (const uid of ['0', '-1', 'root', '', '1.5']) {
      expect(() => parseConfiguration({ ...env, SANDBOXD_UID: uid })).toThrow('SANDBOXD_UID');
    }
  });

  it('SBX-18 is complete or refused', () => {
    for (const name of Object.keys(env)) expect(() => parseConfiguration({ ...env, [name]: undefined })).toThrow(name);
  });
});
