// The page while the gateway is gone and after it came back.
import { feedOf, openProject, promptOf, send, startWeb, TURN_MS, type WebFixture } from './web-fixture.js';

jest.setTimeout(TURN_MS * 2);
let web: WebFixture;
beforeAll(async () => {
  web = await startWeb();
});
afterAll(async () => {
  await web.close();
});

it(
  'WEB-2, WEB-6, WEB-17 says that the gateway is gone, keeps what is written, and misses nothing and repeats nothing when it is back',
  async () => {
    const { id } = await web.project();
    const page = await web.signedIn();
    await openProject(page, web.stack.url, id);
    await send(page, 'demo:slow 200 25');
    const feed = feedOf(page);
    await feed.getByText('w10 w11').waitFor();
    await web.stack.service('gateway').kill('SIGKILL');
    await page
      .getByText(/Connection lost/)
      .first()
      .waitFor();
    await promptOf(page).fill('demo:say after the storm');
    await page.getByText('What you write is kept').waitFor();
    expect(await page.getByRole('button', { name: 'Send' }).isDisabled()).toBe(true);
    await promptOf(page).press('Enter'); // nothing is sent into the dark
    expect(await promptOf(page).inputValue()).toBe('demo:say after the storm');
    await web.stack.start('gateway');
    const again = page.getByRole('button', { name: 'Try now' });
    await again.click({ timeout: 5_000 }).catch(async (error: unknown) => {
      if ((await again.count()) > 0) throw error; // it got through by itself before it was pressed
    });
    await feed.getByText('w198 w199').waitFor();
    await feed.getByText('1 turn').waitFor();
    const answer = (await feed.getByRole('article').last().textContent()) ?? '';
    expect(answer.match(/w\d+/g)).toEqual(Array.from({ length: 200 }, (_, index) => `w${index}`));
    await promptOf(page).press('Enter');
    await feed.getByText('after the storm', { exact: true }).waitFor();
    await feed.getByText('1 turn').nth(1).waitFor();
    const before = await feed.getByRole('article').allTextContents();
    await page.reload();
    await feed.getByText('after the storm', { exact: true }).waitFor();
    expect(await feed.getByRole('article').allTextContents()).toEqual(before);
  },
  TURN_MS * 2,
);

it(
  'WEB-24 goes on with the output of a command at the byte where the connection broke',
  async () => {
    const { id } = await web.project();
    const page = await web.signedIn();
    await openProject(page, web.stack.url, id);
    await page.getByRole('link', { name: 'Commands' }).click();
    await page
      .getByRole('textbox', { name: 'Command' })
      .fill('for n in $(seq 1 300); do echo "line $n"; sleep 0.03; done');
    await page.getByRole('textbox', { name: 'Command' }).press('Enter');
    const output = page.getByTestId('output');
    await output.getByText('line 20', { exact: true }).waitFor();
    await web.stack.service('gateway').kill('SIGKILL');
    await page
      .getByText(/Connection lost/)
      .first()
      .waitFor();
    await web.stack.start('gateway');
    await output.getByText('line 300', { exact: true }).waitFor();
    const lines = (await output.innerText()).trim().split('\n');
    expect(lines).toEqual(Array.from({ length: 300 }, (_, index) => `line ${index + 1}`));
  },
  TURN_MS * 2,
);
