// The programs that are mounted into every sandbox and come from elsewhere: exact versions, with the hash that npm must deliver.
import { StepError } from '../step.ts';

export interface PinnedPackage {
  /** Name and version as npm takes them. */
  spec: string;
  /** As in a lock file: the SHA-512 of the package's archive. */
  integrity: string;
}

const CLAUDE_VERSION = '2.1.330';

const CLAUDE: Record<string, PinnedPackage> = {
  x64: {
    spec: `@anthropic-ai/claude-code-linux-x64@${CLAUDE_VERSION}`,
    integrity: 'sha512-9Gn+V7DtJ8M1nztP9CeDVl9g3RtrepI7rOFTyPRRnZe8D6zebIHKmC7OvBauucuAP0X0k85SDN/LPVZyjsGezQ==',
  },
  arm64: {
    spec: `@anthropic-ai/claude-code-linux-arm64@${CLAUDE_VERSION}`,
    integrity: 'sha512-V4yanAY5EA5UpwwRPtjSfqDbNqAlUJeVn3NYZw2AgmRHjdpSsLtHAzbxRXfkAnbjwTXzE0uedjQxUY02ARPcsA==',
  },
};

export function claudePackage(arch: string = process.arch): PinnedPackage {
  const pinned = CLAUDE[arch];
  if (!pinned) throw new StepError(`There is no claude for ${arch}.`, 'Use a machine with x86-64 or arm64.');
  return pinned;
}
