// Takes pictures of every state of the page against the fixture server: `node apps/web/dev/screenshots.ts <folder> [chromium]`.
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { type Browser, chromium, type Page } from 'playwright-core';
import { startFixture } from './fixture-server.ts';

const FLAGS = ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking'];
const SIZES = { desktop: { width: 1440, height: 900 }, phone: { width: 390, height: 844 } };
const folder = process.argv[2] ?? 'screenshots';

interface Shot {
  page: Page;
  url: string;
  token: string;
  take: (state: string) => Promise<void>;
}

async function signedIn({ page, url, token }: Shot): Promise<void> {
  await page.goto(url);
  await page.getByLabel('Token', { exact: true }).fill(token);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('navigation', { name: 'Projects' }).waitFor();
}

async function walk(shot: Shot): Promise<void> {
  const { page, take, url } = shot;
  await page.goto(url);
  await take('sign-in');
  await page.getByLabel('Token', { exact: true }).fill('wrong');
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('alert').waitFor();
  await take('sign-in-refused');
  await signedIn(shot);
  await page.getByText('web-shop', { exact: true }).waitFor();
  await take('projects');
  await page.getByRole('button', { name: 'New project' }).click();
  await page.getByLabel('Folder').fill('/etc');
  await page.getByRole('button', { name: 'Create project' }).click();
  await page.getByRole('alert').waitFor();
  await take('create-refused');
  await page.getByRole('button', { name: 'Cancel' }).click();
  await page.getByText('web-shop', { exact: true }).click();
  await page.getByRole('button', { name: 'Allow', exact: true }).first().waitFor();
  await take('conversation-busy');
  await conversation(shot);
  await commands(shot);
}

async function conversation({ page, take }: Shot): Promise<void> {
  await page.getByRole('button', { name: 'Deny with a message' }).first().click();
  await take('permission-message');
  await page.getByRole('button', { name: 'Allow', exact: true }).first().click();
  await page.getByRole('button', { name: 'Allow', exact: true }).first().click();
  await page.getByRole('region', { name: 'Conversation' }).evaluate((element) => element.scrollTo(0, 0));
  await page.locator('summary', { hasText: 'Thought' }).first().click();
  await page.locator('summary', { hasText: 'Bash' }).first().click();
  await take('conversation-top');
  await page.getByRole('region', { name: 'Conversation' }).evaluate((element) => element.scrollTo(0, 900));
  await take('conversation-middle');
}

async function commands({ page, take }: Shot): Promise<void> {
  await page.getByRole('link', { name: 'Commands' }).click();
  await page.getByText('Tests:').waitFor();
  await take('commands');
  await page.goto(`${page.url().split('#')[0]}#/`);
  await page.getByText('docs', { exact: true }).click();
  await page.getByText('Nothing here yet').waitFor();
  await take('empty-project');
}

async function offline({ page, take }: Shot, close: () => Promise<void>): Promise<void> {
  await page.getByLabel('Prompt').last().fill('This is written while the connection is gone.');
  await close();
  await page.getByRole('button', { name: 'Try now' }).waitFor();
  await take('offline');
}

async function shoot(browser: Browser, size: keyof typeof SIZES, colorScheme: 'dark' | 'light'): Promise<void> {
  const { url, token, close } = await startFixture();
  const page = await browser.newPage({ viewport: SIZES[size], colorScheme, hasTouch: size === 'phone' });
  const problems: string[] = [];
  page.on('pageerror', (error) => problems.push(error.message));
  const take = async (state: string): Promise<void> => {
    await page.waitForTimeout(250); // animations
    await page.screenshot({ path: join(folder, `${state}-${size}-${colorScheme}.png`) });
  };
  const shot = { page, url, token, take };
  await walk(shot);
  await offline(shot, close);
  await page.close();
  if (problems.length > 0) throw new Error(problems.join('\n'));
}

await mkdir(folder, { recursive: true });
const browser = await chromium.launch({
  executablePath: process.argv[3] ?? '/usr/bin/chromium',
  args: FLAGS,
});
try {
  for (const size of ['desktop', 'phone'] as const)
    for (const scheme of ['light', 'dark'] as const) await shoot(browser, size, scheme);
} finally {
  await browser.close();
}
