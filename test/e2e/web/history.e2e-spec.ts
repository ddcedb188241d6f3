// Reading upwards in real Chromium: pages of history come in above, and what is being read stays where it is.
import { scrollTo, topOf } from './in-page.js';
import { openProject, startWeb, TURN_MS, type WebFixture } from './web-fixture.js';

jest.setTimeout(TURN_MS * 2);
let web: WebFixture;
beforeAll(async () => {
  web = await startWeb({ services: ['gateway', 'worker'] });
});
afterAll(async () => {
  await web.close();
});
afterEach(() => {
  expect(web.complaints.splice(0)).toEqual([]);
});

it('WEB-8 loads older history as somebody scrolls up, and moves nothing that is being read', async () => {
  const { id } = await web.project();
  const { client } = await web.person('Ada');
  for (let n = 1; n <= 450; n += 1) await client.call('project_update', { project_id: id, name: `name-${n}` });
  const page = await web.signedIn();
  await openProject(page, web.stack.url, id);
  const renamed = (n: number) => page.getByText(`“name-${n}”`, { exact: false });
  await renamed(450).waitFor();
  expect(await renamed(240).count()).toBe(0);
  const feed = page.getByRole('region', { name: 'Conversation' });
  await scrollTo(feed, 350);
  const before = await topOf(renamed(270));
  await renamed(240).waitFor({ state: 'attached' });
  expect(Math.abs((await topOf(renamed(270))) - before)).toBeLessThanOrEqual(1);
  await page.getByRole('button', { name: 'Newest' }).waitFor();
  await client.call('project_update', { project_id: id, name: 'name-451' });
  await page.getByRole('button', { name: 'New messages' }).waitFor();
  await scrollTo(feed, 0);
  await renamed(1).waitFor({ state: 'attached' });
  await scrollTo(feed, 0);
  await page.getByText('Beginning of the project').waitFor();
  const names = (await page.getByText(/Project renamed/).allTextContents()).map((text) => text.match(/name-\d+/)?.[0]);
  expect(names).toEqual(Array.from({ length: 451 }, (_, index) => `name-${index + 1}`));
  await page.getByRole('button', { name: 'New messages' }).click();
  await page.getByRole('button', { name: 'New messages' }).waitFor({ state: 'detached' });
});
