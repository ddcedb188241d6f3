// Questions of the agent, the queue and stopping, in real Chromium.
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

const bash = (command: string): string =>
  `demo:tool Bash ${JSON.stringify({ command, description: 'As the test asks' })}`;

it('WEB-14, WEB-15 asks before a tool is used, shows all of its input, and the turn goes on with the answer', async () => {
  const { id } = await web.project();
  const page = await web.signedIn();
  await openProject(page, web.stack.url, id);
  await send(page, bash('touch first && echo "a\u202eb"'));
  const question = questionsOf(page);
  await question.getByText('The agent wants to use Bash').waitFor();
  const input = (await question.locator('dl').textContent()) ?? '';
  expect(input).toContain('touch first && echo "a⟦U+202E⟧b"');
  expect(input).toContain('As the test asks');
  await question.getByText('characters that are not visible').waitFor();
  await page.reload(); // a question outlives the page
  await question.getByRole('button', { name: 'Allow', exact: true }).click();
  await feedOf(page).getByText('Allowed by').waitFor();
  await feedOf(page).locator('details', { hasText: 'touch first' }).getByText('Done').waitFor();
  await question.waitFor({ state: 'detached' });
});

it('WEB-37 fetches an input that came cut, and is answered with the whole of it on the page', async () => {
  const { id } = await web.project();
  const page = await web.visit();
  // The page signs in as a client that wants small messages.
  await page.routeWebSocket(/socket\.io/, (socket) => {
    const server = socket.connectToServer();
    socket.onMessage((message) =>
      server.send(String(message).replace('"protocol":', '"max_message_kb":50,"protocol":')),
    );
  });
  await page.goto(web.stack.url);
  await signIn(page, web.stack.adminToken);
  await openProject(page, web.stack.url, id);
  await send(page, bash(`true ${'x'.repeat(40_000)}; echo in-the-middle; true ${'y'.repeat(40_000)}`));
  const question = questionsOf(page);
  await question.getByText('in-the-middle').waitFor();
  await question.getByText('Exactly this will be used').waitFor();
  expect(await question.locator('dl').textContent()).not.toContain('bytes missing');
  await question.getByRole('button', { name: 'Allow', exact: true }).click();
  await feedOf(page).getByText('Allowed by').waitFor();
});

it('WEB-14 denies with a message that reaches the agent', async () => {
  const { id } = await web.project();
  const page = await web.signedIn();
  await openProject(page, web.stack.url, id);
  await send(page, bash('touch never'));
  await page.getByRole('button', { name: 'Deny with a message' }).click();
  await page.getByLabel('Message to the agent').fill('Not on a Sunday.');
  await page.getByRole('button', { name: 'Deny', exact: true }).click();
  const feed = feedOf(page);
  await feed.getByText('Denied by').waitFor();
  const card = feed.locator('details', { hasText: 'touch never' });
  await card.getByText('Failed').waitFor();
  await card.locator('summary').click();
  await card.getByRole('region', { name: 'Result' }).getByText('Not on a Sunday.').waitFor();
});

it('WEB-16 tells who answered first, on the page where the answer came second', async () => {
  const { id } = await web.project();
  const ada = await web.person('Ada');
  const page = await web.signedIn();
  await openProject(page, web.stack.url, id);
  await send(page, bash('touch shared'));
  await questionsOf(page).waitFor();
  const { permissions } = await ada.client.call('project_join', { project_id: id });
  const [asked] = permissions;
  if (asked?.input_hash === undefined) throw new Error('there is no whole question');
  const { request_id, input_hash } = asked;
  await ada.client.call('permission_respond', { request_id, input_hash, behavior: 'allow' });
  await page.getByText('Ada answered the question about Bash first.').waitFor();
  await feedOf(page).getByText('Allowed by Ada').waitFor();
  await questionsOf(page).waitFor({ state: 'detached' });
});

it('WEB-14 shows several questions at once, in the order in which they were asked, on every page', async () => {
  const { id } = await web.project();
  const page = await web.signedIn();
  await openProject(page, web.stack.url, id);
  // Reading outside the workspace is asked about, and the CLI reads two files at once.
  const reading = (path: string): string => `demo:tool Read {"file_path":"${path}"}`;
  await send(page, `demo:together\n${reading('/etc/hostname')}\n${reading('/etc/passwd')}`);
  const questions = questionsOf(page);
  await questions.nth(1).waitFor();
  const shown = await questions.allTextContents();
  await page.reload();
  await questions.nth(1).waitFor();
  expect(await questions.allTextContents()).toEqual(shown);
  await questions.nth(1).locator('summary').click();
  await questions.nth(1).getByRole('button', { name: 'Allow', exact: true }).click();
  await questions.nth(1).waitFor({ state: 'detached' });
  expect(await questions.allTextContents()).toEqual(shown.slice(0, 1));
  await questions.getByRole('button', { name: 'Allow', exact: true }).click();
  await feedOf(page).getByText('Allowed by').nth(1).waitFor();
  await feedOf(page)
    .getByText(/\d turns/)
    .waitFor();
});

it('WEB-18, WEB-19 shows what waits and its place, cancels it, and stops what runs', async () => {
  const { id } = await web.project();
  const page = await web.signedIn();
  await openProject(page, web.stack.url, id);
  await send(page, 'demo:slow 5000 100');
  await feedOf(page).getByText('w0 w1').waitFor();
  await send(page, 'demo:say the second');
  await send(page, 'demo:say the third');
  const queue = page.getByTestId('queued-run');
  await queue.nth(1).waitFor();
  expect(await queue.allTextContents()).toEqual(['nextPromptdemo:say the second', '#2Promptdemo:say the third']);
  await queue.first().getByRole('button', { name: 'Cancel' }).click();
  await queue.nth(1).waitFor({ state: 'detached' });
  expect(await queue.allTextContents()).toEqual(['nextPromptdemo:say the third']);
  await page.getByRole('button', { name: 'Stop' }).click();
  await feedOf(page).getByText('Stopped', { exact: true }).first().waitFor();
  await feedOf(page).getByText('the third', { exact: true }).waitFor(); // the lane goes on
  await queue.waitFor({ state: 'detached' });
  await page.getByRole('button', { name: 'Stop' }).waitFor({ state: 'detached' });
  expect(await feedOf(page).getByText('the second', { exact: true }).count()).toBe(0);
});

it('WEB-6 shows two people the same', async () => {
  const { id } = await web.project();
  const grace = await web.person('Grace');
  const [one, two] = await Promise.all([web.signedIn(), web.signedIn({ token: grace.token })]);
  await Promise.all([openProject(one, web.stack.url, id), openProject(two, web.stack.url, id)]);
  await send(one, 'demo:slow 30 30');
  await feedOf(two).getByText('w0 w1').waitFor();
  await send(two, 'demo:say from the second');
  for (const page of [one, two]) await feedOf(page).getByText('from the second', { exact: true }).waitFor();
  for (const page of [one, two]) await feedOf(page).getByText('1 turn').nth(1).waitFor();
  const answers = (page: typeof one) =>
    feedOf(page)
      .getByRole('article')
      .getByText(/w29|from the second/)
      .allTextContents();
  expect(await answers(one)).toEqual(await answers(two));
  expect(await promptOf(two).inputValue()).toBe('');
});
