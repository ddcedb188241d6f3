// Commands in real Chromium: live output, how they end, and their output after a reload.
import { writeFile } from 'node:fs/promises';
import type { Page } from 'playwright-core';
import { openProject, startWeb, TURN_MS, type WebFixture } from './web-fixture.js';

jest.setTimeout(TURN_MS * 2);
let web: WebFixture;
beforeAll(async () => {
  web = await startWeb();
});
afterAll(async () => {
  await web.close();
});
afterEach(() => {
  expect(web.complaints.splice(0)).toEqual([]);
});

async function commandsOf(page: Page, id: string): Promise<void> {
  await openProject(page, web.stack.url, id);
  await page.getByRole('link', { name: 'Commands' }).click();
}

async function run(page: Page, command: string): Promise<void> {
  await page.getByRole('textbox', { name: 'Command' }).fill(command);
  await page.getByRole('textbox', { name: 'Command' }).press('Enter');
}

const newest = (page: Page) => page.getByTestId('command').first();
const outcomeOf = (page: Page) => newest(page).getByTestId('command-outcome');
const outputOf = (page: Page) => newest(page).getByTestId('output');

it('WEB-26, WEB-27, WEB-29 shows both channels live, colours and nothing else of a terminal, and how it ended', async () => {
  const { id, path } = await web.project();
  const page = await web.signedIn();
  await commandsOf(page, id);
  const lines = [
    "printf '\\033[32mgrün\\033[0m \\033]0;owned\\007größer 日本\\n'",
    'echo trouble >&2',
    'until [ -e go ]; do sleep 0.05; done',
    "printf '10%%\\r100%%\\n'",
    'exit 3',
  ];
  await run(page, lines.join('; '));
  const output = outputOf(page);
  await output.getByText('größer 日本').waitFor(); // while it runs
  await output.getByText('trouble').waitFor();
  await newest(page).getByRole('button', { name: 'Stop' }).waitFor();
  expect(await output.locator('.ansi-fg-2').textContent()).toBe('grün');
  await writeFile(`${path}/go`, '');
  await outcomeOf(page).getByText('exit 3').waitFor();
  await output.getByText('100%', { exact: true }).waitFor();
  const text = await output.innerText();
  expect(text).toContain('grün größer 日本');
  expect(text).not.toContain('owned');
  expect(text.trim().split('\n').at(-1)).toBe('100%');
  await page.reload();
  await outcomeOf(page).getByText('exit 3').waitFor();
  await output.getByText('trouble').waitFor();
  expect(await output.innerText()).toBe(text);
});

it('WEB-24, WEB-25, WEB-28 follows a long output to its end, and shows the end first after a reload', async () => {
  const { id } = await web.project();
  const page = await web.signedIn();
  await commandsOf(page, id);
  await run(page, 'seq 1 200000; echo done');
  await outcomeOf(page).getByText('exit 0').waitFor();
  const output = outputOf(page);
  await output.getByText('done', { exact: true }).waitFor();
  expect((await output.innerText()).trim().split('\n').slice(-3)).toEqual(['199999', '200000', 'done']);
  await newest(page)
    .getByText(/earlier lines left the view/)
    .waitFor();
  await page.reload();
  await output.getByText('done', { exact: true }).waitFor();
  await newest(page).getByRole('button', { name: 'Show all' }).waitFor();
  expect((await output.innerText()).trim().split('\n').slice(-3)).toEqual(['199999', '200000', 'done']);
});

it('WEB-19 stops a command, and runs one beside it', async () => {
  const { id } = await web.project();
  const page = await web.signedIn();
  await commandsOf(page, id);
  await run(page, 'sleep 1000');
  await outcomeOf(page).getByText('Running').waitFor();
  await page.getByRole('checkbox', { name: 'Start at once' }).check();
  await run(page, 'echo beside');
  await outputOf(page).getByText('beside', { exact: true }).waitFor();
  const sleeping = page.getByTestId('command').nth(1);
  await sleeping.getByRole('button', { name: 'Stop' }).click();
  await sleeping.getByTestId('command-outcome').getByText('Stopped').waitFor();
  await page.getByRole('link', { name: 'Conversation' }).click();
  await page.getByRole('log').first().getByText('echo beside').waitFor(); // the feed tells of commands too
});
