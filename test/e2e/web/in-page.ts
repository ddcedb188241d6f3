// Questions to a page that the browser must answer. As text: the tests are typed without the browser's globals, as the servers are.
import type { Locator, Page } from 'playwright-core';

/** Everything that the page keeps in the browser, by storage. */
export function kept(page: Page): Promise<{ session: string[]; local: string[]; cookies: string }> {
  return page.evaluate(
    '({ session: Object.keys(sessionStorage), local: Object.keys(localStorage), cookies: document.cookie })',
  );
}

/** How far the page is wider than the screen, px. */
export function overflowOf(page: Page): Promise<number> {
  return page.evaluate('document.documentElement.scrollWidth - window.innerWidth');
}

/** The controls that a screen reader would have no name for, as HTML. */
export function namelessControls(page: Page): Promise<string[]> {
  return page.evaluate(`[...document.querySelectorAll('button, a, input, textarea, summary')]
    .filter((element) => !(element.getAttribute('aria-label') ?? element.textContent).trim() && !element.labels?.length)
    .map((element) => element.outerHTML)`);
}

/** Whether the element with the focus, or the box around it, shows that it has it. */
export function showsFocus(page: Page): Promise<boolean> {
  return page.evaluate(`(() => {
    const focused = document.activeElement;
    if (focused === null || focused === document.body) return true;
    const box = focused.closest('.focus-within\\\\:ring-1');
    return getComputedStyle(focused).outlineStyle !== 'none' || (box !== null && getComputedStyle(box).boxShadow !== 'none');
  })()`);
}

interface Scrollable {
  scrollTo(left: number, top: number): void;
}

export function scrollTo(element: Locator, top: number): Promise<void> {
  return element.evaluate((found, y) => (found as unknown as Scrollable).scrollTo(0, y), top);
}

/** Distance from the top of the window, px. Throws when it is not on the page. */
export async function topOf(element: Locator): Promise<number> {
  const box = await element.boundingBox();
  if (box === null) throw new Error('the element is not on the page');
  return box.y;
}

export async function hasFocus(element: Locator): Promise<boolean> {
  return (await element.and(element.page().locator(':focus')).count()) === 1;
}
