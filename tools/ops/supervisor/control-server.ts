// The supervisor's control socket: HTTP with JSON bodies on a unix socket that only its user can open.
import { createServer, type IncomingMessage, type Server } from 'node:http';
import { chmodSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { makePrivateFolder } from '../host/private-file.ts';

type Handlers = Record<string, (body: unknown) => Promise<unknown>>;

export interface Control {
  /** Answered at once. */
  questions: Handlers;
  /** Worked off one after another, so that no two change a service at the same time. */
  commands: Handlers;
}

/** Answers `POST /<question or command>`; one that fails is answered 500 with `{ error }`. */
export async function serveControl(socketPath: string, control: Control): Promise<Server> {
  makePrivateFolder(dirname(socketPath));
  rmSync(socketPath, { force: true });
  let lastCommand: Promise<unknown> = Promise.resolve();
  const run = async (name: string, body: unknown): Promise<unknown> => {
    const question = control.questions[name];
    if (question) return question(body);
    const command = control.commands[name];
    if (!command) throw new Error(`no such command: ${name}`);
    const outcome = lastCommand.then(() => command(body));
    lastCommand = outcome.catch(() => undefined); // its sender is told; the next one does not care
    return outcome;
  };
  const server = createServer((request, response) => {
    readJson(request)
      .then((body) => run((request.url ?? '').slice(1), body))
      .then(
        (answer) => ({ status: 200, body: answer ?? {} }),
        (error: unknown) => ({ status: 500, body: { error: error instanceof Error ? error.message : String(error) } }),
      )
      .then(({ status, body }) => {
        response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
      })
      .catch((error: unknown) => response.destroy(error instanceof Error ? error : undefined));
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(socketPath, resolve);
  });
  chmodSync(socketPath, 0o600);
  return server;
}

async function readJson(request: IncomingMessage): Promise<unknown> {
  let text = '';
  for await (const chunk of request.setEncoding('utf8')) text += String(chunk);
  return text === '' ? undefined : (JSON.parse(text) as unknown);
}
