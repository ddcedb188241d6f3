// One stack, one real Chromium, and a page signed in to it: what the tests of the web client share.
import { createHash, randomBytes } from 'node:crypto';
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { newId } from '#kernel';
import { SocketClient, startStack, type Stack, type StackOptions, testEnv } from '#testing';

/** A turn of the real CLI, with its container and a browser, takes seconds, on a busy machine many of them. */
export const TURN_MS = 60_000;
const FLAGS = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

export interface WebFixture {
  stack: Stack;
  /** A new browser profile with an empty page. What goes wrong in it is kept in `complaints`. */
  visit(options?: BrowserContextOptions): Promise<Page>;
  /** A page that is signed in, as the administrator unless another token is given. */
  signedIn(options?: BrowserContextOptions & { token?: string }): Promise<Page>;
  /** A project created through the protocol, with the options that its prompts get. */
  project(options?: Record<string, unknown>): Promise<{ id: string; name: string; path: string }>;
  /** Another person with all rights, and the token that signs her in. */
  person(name: string): Promise<{ token: string; client: SocketClient }>;
  /** Errors of pages, refusals by the content security policy and requests to foreign hosts, as the browser words them. */
  complaints: string[];
  close(): Promise<void>;
}

export async function startWeb(options: StackOptions = {}): Promise<WebFixture> {
  const stack = await startStack(options);
  const browser = await launch(stack);
  const clients: SocketClient[] = [];
  const complaints: string[] = [];
  const connect = async (token: string): Promise<SocketClient> => {
    const client = await SocketClient.connect(stack.url, { token });
    clients.push(client);
    return client;
  };

  const visit: WebFixture['visit'] = async (more = {}) => {
    const page = await (await browser.newContext(more)).newPage();
    page.setDefaultTimeout(TURN_MS);
    watch(page, stack.url, complaints);
    return page;
  };
  return {
    stack,
    complaints,
    visit,
    async signedIn({ token = stack.adminToken, ...more } = {}) {
      const page = await visit(more);
      await page.goto(stack.url);
      await signIn(page, token);
      return page;
    },
    async project(projectOptions = {}) {
      const name = `project-${newId().slice(-8)}`;
      const path = `${stack.projectRoot}/${name}`;
      const admin = await connect(stack.adminToken); // a connection of its own: tests end the gateway
      const { project_id: id } = await admin.call('project_create', { path, options: projectOptions });
      return { id, name, path };
    },
    async person(name) {
      const token = `gnt_${randomBytes(16).toString('hex')}`;
      await addUser(stack, name, token);
      return { token, client: await connect(token) };
    },
    async close() {
      for (const client of clients) client.close();
      await browser.close();
      await stack.close();
    },
  };
}

async function launch(stack: Stack): Promise<Browser> {
  try {
    return await chromium.launch({ executablePath: testEnv().chromiumPath, args: FLAGS });
  } catch (error) {
    await stack.close();
    throw error;
  }
}

export async function signIn(page: Page, token: string): Promise<void> {
  await page.getByLabel('Token', { exact: true }).fill(token);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('navigation', { name: 'Projects' }).waitFor();
}

export async function openProject(page: Page, url: string, id: string): Promise<void> {
  await page.goto(`${url}/#/projects/${id}`);
  await promptOf(page).waitFor();
}

export const promptOf = (page: Page) => page.getByRole('textbox', { name: 'Prompt' });
export const feedOf = (page: Page) => page.getByRole('log').first();
/** The questions that wait for an answer, in the order of the page. */
export const questionsOf = (page: Page) => page.getByTestId('permission');

export async function send(page: Page, prompt: string): Promise<void> {
  await promptOf(page).fill(prompt);
  await promptOf(page).press('Enter');
}

function watch(page: Page, url: string, complaints: string[]): void {
  page.on('pageerror', (error) => complaints.push(`page: ${error.message}`));
  page.on('console', (message) => {
    // A lost connection is the test's own doing.
    if (message.type() === 'error' && !message.text().includes('WebSocket connection')) complaints.push(message.text());
  });
  page.on('request', (request) => {
    if (!request.url().startsWith(url) && !request.url().startsWith('data:'))
      complaints.push(`request: ${request.url()}`);
  });
}

async function addUser(stack: Stack, name: string, token: string): Promise<void> {
  const hash = createHash('sha256').update(token).digest('hex');
  const apiToken = { id: newId(), name: 'test', prefix: token.slice(0, 8), hash };
  await stack.database.db.client.user.create({
    data: { id: newId(), name, isAdmin: true, tokens: { create: apiToken } },
  });
}
