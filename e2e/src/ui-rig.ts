/** One server, one worker and one browser for all tests of the web UI. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { eventually, type Rig, startRig } from '@signalbox/server/testing';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { findChromium, openBrowser } from './browser.ts';

export interface UiRig {
  readonly rig: Rig;
  /**
   * A page of somebody with this role, who has come in by a link; of the first tenant unless its admin token is given.
   * Console errors and violations of the policy are kept.
   */
  signIn(role?: 'admin' | 'operator' | 'viewer', token?: string): Promise<SignedIn>;
  stop(): Promise<void>;
}

export interface SignedIn {
  readonly page: Page;
  readonly context: BrowserContext;
  /** What the browser complained about, and requests to anywhere else. */
  readonly complaints: string[];
  readonly go: (path: string) => Promise<void>;
}

export const chromium = findChromium();
const AXE = createRequire(import.meta.url).resolve('axe-core/axe.min.js');
const WAIT_MS = 30_000;
/** A test has many steps, and each may take seconds on a machine that is busy. */
export const UI_TEST_MS = 90_000;

export async function startUiRig(variables: Record<string, string> = {}): Promise<UiRig> {
  const rig = await startRig(variables);
  let browser: Browser | null = null;
  return {
    rig,
    async signIn(role = 'admin', token = rig.token) {
      browser ??= await openBrowser(chromium as string);
      const base = rig.servers[0]?.url ?? '';
      const context = await browser.newContext({ viewport: { width: 1280, height: 860 } });
      context.setDefaultTimeout(WAIT_MS);
      const { body } = await rig.ask(
        'POST',
        '/v1/login-links',
        { role },
        { headers: { authorization: `Bearer ${token}` } },
      );
      const page = await context.newPage();
      const complaints: string[] = [];
      page.on(
        'console',
        (message) => message.type() === 'error' && complaints.push(`${message.text()} ${message.location().url}`),
      );
      page.on('pageerror', (error) => complaints.push(error.message));
      page.on('request', (request) => request.url().startsWith(base) || complaints.push(`asked ${request.url()}`));
      await page.goto(`${base}${(body as unknown as { path: string }).path}`);
      return {
        page,
        context,
        complaints,
        go: async (path) => {
          await page.goto(`${base}${path}`);
        },
      };
    },
    async stop() {
      await browser?.close();
      await rig.stop();
    },
  };
}

/** Markup, text that is turned around, and a word that fits no column. */
export const HOSTILE = `<img src=x onerror="window.hacked=1"><script>window.hacked=1</script>\u202ekcab${'w'.repeat(90)}`;

/** Whether a character that turns text around has words beside it that somebody else wrote. */
const IS_TURNED = `(() => {
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const { data, parentElement: holder } = walker.currentNode;
    if (!/[\\u202a-\\u202e\\u2066-\\u2069]/.test(data)) continue;
    const isAlone = holder.textContent === data && getComputedStyle(holder).display !== 'inline';
    if (!isAlone && !getComputedStyle(holder).unicodeBidi.startsWith('isolate')) return true;
  }
  return false;
})()`;

/** Opens pages that must show the hostile text. Tells of those that ran it, or that it made wider than the window. */
export async function harmedByText({ page, go }: SignedIn, paths: readonly string[]): Promise<string[]> {
  const harmed: string[] = [];
  for (const path of paths) {
    await go(path);
    await page.getByText('<img src=x').first().waitFor();
    if ((await page.evaluate('window.hacked')) !== undefined) harmed.push(`${path} ran it`);
    if (await page.evaluate('document.documentElement.scrollWidth > innerWidth')) harmed.push(`${path} is too wide`);
    if (await page.evaluate(IS_TURNED)) harmed.push(`${path} turns what stands beside it`);
  }
  return harmed;
}

/** Of what can be pressed on a phone, by page: what lies outside the screen, and pages that are wider than it. */
export async function outsideOfPhone(
  { page, go }: SignedIn,
  pressed: readonly (readonly [path: string, name: string | RegExp])[],
): Promise<string[]> {
  const width = 390;
  const found: string[] = [];
  await page.setViewportSize({ width, height: 844 });
  try {
    for (const [path, name] of pressed) {
      await go(path);
      const button = page.getByRole('button', { name }).first();
      await button.waitFor();
      const box = await button.boundingBox();
      if (box === null || Math.round(box.x + box.width) > width) found.push(`${String(name)} of ${path}`);
      if ((await page.evaluate('document.documentElement.scrollWidth')) !== width) found.push(path);
    }
  } finally {
    await page.setViewportSize({ width: 1280, height: 860 });
  }
  return found;
}

interface Violation {
  readonly id: string;
  readonly impact: string | null;
  readonly nodes: readonly { readonly html: string }[];
}

/** Opens a page, and waits until all of it is there and it is live. */
export async function openWhole({ page, go }: SignedIn, path: string): Promise<void> {
  await go(path);
  await page.locator('main h1').waitFor();
  await page.getByText('Live', { exact: true }).waitFor();
  await eventually(async () => (await page.locator('.loading').count()) === 0);
}

/** Serious findings while the dialog is open that a button of the page opens, or an item of its menu: `Button > Item`. */
export async function findingsInDialog(signedIn: SignedIn, path: string, way: string): Promise<string[]> {
  const { page } = signedIn;
  const [button = '', item] = way.split(' > ');
  await openWhole(signedIn, path);
  await page.getByRole('button', { name: button }).first().click();
  if (item !== undefined) await page.getByRole('menuitem', { name: item }).click();
  await page.getByRole('dialog').waitFor();
  const found = await seriousFindings(page);
  await page.keyboard.press('Escape');
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  return found;
}

/** Serious findings of the page that is open, by all rules, in the light and in the dark. */
export async function findingsInBoth(page: Page): Promise<string[]> {
  const found = await seriousFindings(page);
  await page.emulateMedia({ colorScheme: 'dark' });
  try {
    await page.locator(':root[data-theme="dark"]').waitFor();
    found.push(...(await seriousFindings(page)).map((one) => `in the dark: ${one}`));
  } finally {
    await page.emulateMedia({ colorScheme: 'light' });
  }
  return found;
}

/** What keeps people from using the page, by the rules of axe: serious and critical findings. */
export async function seriousFindings(page: Page): Promise<string[]> {
  if (await page.evaluate("typeof axe === 'undefined'")) await page.evaluate(readFileSync(AXE, 'utf8'));
  const found = (await page.evaluate(
    "axe.run(document, { resultTypes: ['violations'] }).then((r) => r.violations)",
  )) as Violation[];
  return found
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(
      ({ id, nodes }) =>
        `${id}: ${nodes
          .slice(0, 3)
          .map(({ html }) => html.slice(0, 160))
          .join(' | ')}`,
    );
}
