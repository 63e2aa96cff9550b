/** The walk of docs/guides/web-ui.md: from `npm start` to a failure, its cause, its fix and a run that succeeds, by five clicks and an editor. */
import { copyFile, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { findChromium, openBrowser } from './browser.ts';
import { Sandbox, users } from './sandbox.ts';

const chromium = findChromium();
const BROKEN = fileURLToPath(new URL('../../examples/broken.ts', import.meta.url));
const GUIDE = fileURLToPath(new URL('../../docs/guides/web-ui.md', import.meta.url));
const THROWN = /throw new Error\(`This example fails[^\n]*/;

test.skipIf(chromium === null)(
  'a new user finds the cause of a failure and fixes it',
  { timeout: 180_000 },
  async () => {
    const [who] = users();
    const box = await Sandbox.make(who ?? { name: 'a user', ids: null });
    const browser = await openBrowser(chromium as string);
    try {
      const file = join(box.folder, 'dags', 'broken.ts');
      await copyFile(BROKEN, file);
      const started = await box.start();
      const link = /http\S+\/login\?code=\S+/.exec(started.said.all)?.[0] ?? '';
      const page = await browser.newPage({ viewport: { width: 1280, height: 860 } });
      page.setDefaultTimeout(30_000);
      await page.goto(link);

      const clicks: string[] = [];
      const click = async (role: 'link' | 'button', name: string | RegExp) => {
        const target = page.getByRole(role, typeof name === 'string' ? { name, exact: true } : { name }).last();
        await target.click();
        clicks.push(String(name));
      };
      await click('link', 'DAGs');
      await click('button', 'Trigger broken');
      await click('button', 'Start run');
      await page.getByRole('heading', { name: 'Failed', level: 1 }).waitFor();
      await page.getByText('This example fails on purpose (attempt 3).').first().waitFor();
      await click('link', 'stumble');
      await page.getByText('row 3 has no price').waitFor();
      await page
        .getByText(/broken\.ts:\d+/)
        .first()
        .waitFor();
      const text = await readFile(file, 'utf8');
      expect(text).toMatch(THROWN);
      await writeFile(file, text.replace(THROWN, 'return attempt;'));
      await click('button', /^Run with version \d+$/);
      await page.getByRole('heading', { name: 'Succeeded', level: 1 }).waitFor();

      // The guide has the same clicks, one a line.
      const guide = await readFile(GUIDE, 'utf8');
      expect(guide.match(/^\| \d+ \| click/gm)).toHaveLength(clicks.length);
    } finally {
      await browser.close();
      await box.remove();
    }
  },
);
