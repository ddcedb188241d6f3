// The first page in real Chromium: signing in, projects, a prompt that streams, history after a reload.
import { hasFocus, kept, namelessControls, overflowOf, showsFocus } from './in-page.js';
import {
  feedOf,
  openProject,
  promptOf,
  questionsOf,
  send,
  signIn,
  startWeb,
  TURN_MS,
  type WebFixture,
} from './web-fixture.js';

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

const NOTHING = { session: [], local: [], cookies: '' };

it('WEB-1 refuses a wrong token in the server’s words, keeps the right one in the tab, and forgets it on signing out', async () => {
  const page = await web.visit();
  await page.goto(web.stack.url);
  await page.getByText('make up', { exact: true }).waitFor();
  await page.getByLabel('Token', { exact: true }).fill('gnt_wrong');
  await page.getByRole('button', { name: 'Sign in' }).click();
  const alert = page.getByRole('alert');
  await alert.waitFor();
  expect(await alert.textContent()).toContain('auth.token_invalid');
  expect(await kept(page)).toEqual(NOTHING);
  await signIn(page, web.stack.adminToken);
  expect(await kept(page)).toEqual({ ...NOTHING, session: ['gantry.token'] });
  expect(page.url()).not.toContain(web.stack.adminToken);
  await page.reload();
  await page.getByRole('navigation', { name: 'Projects' }).waitFor();
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.getByLabel('Token', { exact: true }).waitFor();
  expect(await kept(page)).toEqual(NOTHING);
});

it('WEB-21 creates a project, and says beside the field what is wrong with its folder', async () => {
  const page = await web.signedIn();
  await page.getByRole('button', { name: 'New project' }).click();
  const folder = page.getByLabel('Folder');
  expect(await folder.inputValue()).toBe(`${web.stack.projectRoot}/`);
  for (const [path, code] of [
    ['/etc/passwd', 'project.path_outside_roots'],
    ['relative/path', 'project.path_relative'],
    [`${web.stack.projectRoot}/a/../b`, 'project.path_traversal'],
  ] as const) {
    await folder.fill(path);
    await page.getByRole('button', { name: 'Create project' }).click();
    await page.getByText(code).waitFor();
    const described = (await folder.getAttribute('aria-describedby')) ?? '';
    const messages = await Promise.all(described.split(' ').map((id) => page.locator(`[id="${id}"]`).textContent()));
    expect(messages.join(' ')).toContain(code);
  }
  await folder.fill(`${web.stack.projectRoot}/made-here`);
  await page.getByLabel('Name').fill('Made here');
  await page.getByLabel('Name').press('Enter');
  await page.getByRole('heading', { name: 'Made here' }).waitFor();
  expect(page.url()).toMatch(/#\/projects\/[0-9a-f-]{36}$/);
  await page.getByRole('link', { name: /Made here/ }).waitFor();
  await page.reload();
  await page.getByRole('heading', { name: 'Made here' }).waitFor(); // WEB-20
});

it('WEB-9, WEB-20, WEB-23 streams an answer, and shows the same after a reload', async () => {
  const { id } = await web.project();
  const page = await web.signedIn();
  expect(await page.getByRole('note').textContent()).toContain('Demo model');
  await openProject(page, web.stack.url, id);
  await send(page, 'demo:think It is late.\ndemo:slow 60 40');
  const feed = feedOf(page);
  await feed.getByText('w0 w1 w2').waitFor(); // while it is being written …
  expect(await feed.getByText('w59').count()).toBe(0);
  await feed.getByText('w58 w59').waitFor(); // … and whole
  await feed.getByText('1 turn').waitFor();
  expect(await feed.getByText('w58 w59').count()).toBe(1);
  await feed.getByText('Thought', { exact: true }).click();
  await feed.getByText('It is late.', { exact: true }).waitFor();
  const before = await feed.getByRole('article').allTextContents();
  await page.reload();
  await promptOf(page).waitFor();
  await feed.getByText('w58 w59').waitFor();
  expect(await feed.getByRole('article').allTextContents()).toEqual(before);
});

it('WEB-17 keeps what is written over a reload, sends by Enter, and starts a line by Shift+Enter', async () => {
  const { id } = await web.project();
  const page = await web.signedIn();
  await openProject(page, web.stack.url, id);
  const prompt = promptOf(page);
  await prompt.pressSequentially('demo:say one');
  await prompt.press('Shift+Enter');
  await prompt.pressSequentially('two');
  await page.reload();
  expect(await prompt.inputValue()).toBe('demo:say one\ntwo');
  await prompt.press('Enter');
  await feedOf(page).getByText('1 turn').waitFor();
  expect(await prompt.inputValue()).toBe('');
  await page.reload();
  await prompt.waitFor();
  expect(await prompt.inputValue()).toBe('');
});

it('WEB-13 shows what a model says as text, whatever it says', async () => {
  const { id } = await web.project();
  const page = await web.signedIn();
  await openProject(page, web.stack.url, id);
  const evil = [
    '<img src="https://evil.example/a.png" onerror="document.title=\'owned\'">',
    '<script>document.title="owned"</script>',
    '[click](javascript:document.title="owned")',
    '![pixel](https://evil.example/pixel.png)',
    '**bold** and [safe](https://safe.example/)',
  ].join('\n\n');
  await send(page, `demo:say ${evil}`);
  const feed = feedOf(page);
  await feed.getByText('1 turn').waitFor();
  const answer = feed.getByRole('article').last();
  expect(await answer.locator('img, script, iframe').count()).toBe(0);
  expect(await answer.getByText('<script>').count()).toBe(1);
  const links = await answer.getByRole('link').all();
  const hrefs = await Promise.all(links.map((link) => link.getAttribute('href')));
  expect(hrefs).toEqual(['https://evil.example/a.png', 'https://evil.example/pixel.png', 'https://safe.example/']);
  expect(await page.title()).not.toContain('owned');
});

it('WEB-10, WEB-11 shows tools as cards, and a failed run with what to do', async () => {
  const { id } = await web.project({ dangerously_skip_permissions: true });
  const page = await web.signedIn();
  await openProject(page, web.stack.url, id);
  await send(page, 'demo:bash echo from the tool');
  const feed = feedOf(page);
  await feed.getByText('1 turn').or(feed.getByText('2 turns')).waitFor();
  const card = feed.locator('details', { hasText: 'Bash' });
  await card.getByText('Done').waitFor();
  await card.locator('summary').click();
  await card.getByRole('region', { name: 'Result' }).getByText('from the tool').waitFor();
  await send(page, 'demo:error 400');
  await feed.getByText('The prompt failed').waitFor();
  expect(await feed.getByText('The prompt failed').count()).toBe(1);
  await feed.getByText('agent.model_error').waitFor();
});

it('begins a new conversation', async () => {
  const { id } = await web.project();
  const page = await web.signedIn();
  await openProject(page, web.stack.url, id);
  await send(page, 'demo:remember the sea');
  await feedOf(page).getByText('1 turn').waitFor();
  await page.getByRole('button', { name: 'New conversation' }).click();
  await feedOf(page).getByText('Conversation ended').waitFor();
  await send(page, 'demo:recall');
  await feedOf(page).getByText('I was not asked to remember anything').waitFor();
});

it('WEB-30 works by keyboard alone, and nothing is cut off on a phone', async () => {
  const { id, name } = await web.project();
  const page = await web.visit({ viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true });
  await page.goto(web.stack.url);
  await page.getByLabel('Token', { exact: true }).and(page.locator(':focus')).waitFor(); // by itself
  await page.keyboard.type(web.stack.adminToken);
  await page.keyboard.press('Enter');
  await page.getByRole('link', { name: new RegExp(name) }).focus();
  await page.keyboard.press('Enter');
  await promptOf(page).waitFor();
  for (let tabs = 0; !(await hasFocus(promptOf(page))); tabs += 1) {
    expect(tabs).toBeLessThan(20);
    await page.keyboard.press('Tab');
    expect(await showsFocus(page)).toBe(true);
  }
  await page.keyboard.type('demo:tool Bash {"command":"touch seen"}');
  await page.keyboard.press('Enter');
  await questionsOf(page).waitFor();
  expect([await namelessControls(page), await overflowOf(page)]).toEqual([[], 0]);
  const allow = questionsOf(page).getByRole('button', { name: 'Allow', exact: true });
  await allow.focus();
  await page.keyboard.press('Enter');
  await feedOf(page).getByText('Allowed by').waitFor();
  await page.goto(`${web.stack.url}/#/projects/${id}/commands`);
  await page.getByRole('textbox', { name: 'Command' }).waitFor();
  expect([await namelessControls(page), await overflowOf(page)]).toEqual([[], 0]);
});
