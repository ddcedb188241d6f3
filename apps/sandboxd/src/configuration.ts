// What the container's environment tells sandboxd. Set by the Docker adapter alone, so a mistake in it is a programming error.
import type { JobUser } from './processes/job-user.js';

export interface Configuration {
  user: JobUser;
  socket: string;
  spoolFolder: string;
  spoolBytes: number;
  pipeFolder: string;
  brokerSocket: string;
  brokerPort: number;
}

export function parseConfiguration(env: Readonly<Record<string, string | undefined>>): Configuration {
  const text = (name: string): string => {
    const value = env[name];
    if (!value) throw new Error(`${name} is not set.`);
    return value;
  };
  const positive = (name: string): number => {
    const value = Number(text(name));
    if (!Number.isSafeInteger(value) || value < 1) throw new Error(`${name} is not a positive number.`);
    return value;
  };
  return {
    // Never 0: a job that is root could reach sandboxd.
    user: {
      uid: positive('SANDBOXD_UID'),
      gid: positive('SANDBOXD_GID'),
      name: text('SANDBOXD_USER'),
      home: text('SANDBOXD_HOME'),
    },
    socket: text('SANDBOXD_SOCKET'),
    spoolFolder: text('SANDBOXD_SPOOL_FOLDER'),
    spoolBytes: positive('SANDBOXD_SPOOL_BYTES'),
    pipeFolder: text('SANDBOXD_PIPE_FOLDER'),
    brokerSocket: text('SANDBOXD_BROKER_SOCKET'),
    brokerPort: positive('SANDBOXD_BROKER_PORT'),
  };
}
