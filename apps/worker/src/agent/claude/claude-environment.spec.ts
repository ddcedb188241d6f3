// Nothing of the worker's environment reaches an agent.
import { claudeEnvironment } from './claude-environment.js';

describe('claudeEnvironment', () => {
  it('AGT-13 has only what is written down', () => {
    const env = claudeEnvironment(
      { token: 'token-1', apiRetries: 4 },
      {
        PATH: '/worker/bin',
        HOME: '/root',
        ANTHROPIC_API_KEY: 'sk-real',
        ANTHROPIC_BASE_URL: 'https://elsewhere',
        DATABASE_URL: 'postgres://secret',
        NODE_OPTIONS: '--inspect',
        CLAUDE_CODE_ENTRYPOINT: 'sdk-ts',
        CLAUDE_CODE_OAUTH_TOKEN: 'oauth',
      },
    );
    expect(Object.keys(env).sort()).toEqual([
      'ANTHROPIC_API_KEY',
      'ANTHROPIC_BASE_URL',
      'CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC',
      'CLAUDE_CODE_ENTRYPOINT',
      'CLAUDE_CODE_MAX_RETRIES',
      'DISABLE_AUTOUPDATER',
      'HOME',
      'LANG',
      'NO_PROXY',
      'PATH',
      'SHELL',
      'TERM',
      'USER',
      'no_proxy',
    ]);
    expect(env).toMatchObject({
      ANTHROPIC_API_KEY: 'token-1',
      CLAUDE_CODE_MAX_RETRIES: '4',
      ANTHROPIC_BASE_URL: 'http://localhost:8082/broker/anthropic',
      HOME: '/home/agent',
    });
    expect(JSON.stringify(env)).not.toMatch(/secret|sk-real|oauth"|worker/);
  });
});
