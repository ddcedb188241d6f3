// The whole environment of a Claude Code process. Nothing of the worker's own environment can get in: it is written down here,
// and of what the SDK adds only these names pass.

/** The SDK tells the CLI who drives it; it also hands over the worker's environment unless told otherwise. */
const FROM_SDK = ['CLAUDE_CODE_ENTRYPOINT', 'CLAUDE_AGENT_SDK_VERSION', 'CLAUDE_CODE_SDK_READS_SESSION_STATE'] as const;

const PATH = '/opt/gantry/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

/** `token` is the random one of the process: the broker knows its caller by it and puts the real credential in its place. */
export function claudeEnvironment(
  { token, apiRetries }: { token: string; apiRetries: number },
  fromSdk: Record<string, string | undefined>,
): Record<string, string> {
  const passed = FROM_SDK.flatMap((name): [string, string][] => {
    const value = fromSdk[name];
    return value === undefined ? [] : [[name, value]];
  });
  return {
    ...Object.fromEntries(passed),
    HOME: '/home/agent',
    USER: 'agent',
    SHELL: '/bin/bash',
    LANG: 'C.UTF-8',
    PATH,
    TERM: 'dumb',
    ANTHROPIC_BASE_URL: 'http://localhost:8082/broker/anthropic',
    ANTHROPIC_API_KEY: token,
    CLAUDE_CODE_MAX_RETRIES: String(apiRetries),
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    DISABLE_AUTOUPDATER: '1',
    // Should a proxy be set inside one day, the broker must still be reached directly.
    NO_PROXY: 'localhost,127.0.0.1',
    no_proxy: 'localhost,127.0.0.1',
  };
}
