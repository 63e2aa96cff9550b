/** Dialogs and menus for pictures: where each is, and how it is opened. */
import type { Page } from 'playwright-core';

export const NIGHTLY = 'nightly-warehouse';

interface Runs {
  readonly failed: string;
  readonly running: string;
}
type Opened = readonly [name: string, path: (runs: Runs) => string, open: (page: Page) => Promise<unknown>];

const press = (page: Page, name: string | RegExp) => page.getByRole('button', { name }).first().click();
const choose = async (page: Page, item: string) => {
  await press(page, 'More actions');
  await page.getByRole('menuitem', { name: item }).click();
};
const dag =
  (tab: string, name = NIGHTLY) =>
  () =>
    `/dags/${name}?tab=${tab}`;

export const DIALOGS: readonly Opened[] = [
  ['palette', () => '/', (page) => page.keyboard.press('Control+k')],
  ['help', () => '/', (page) => page.keyboard.press('?')],
  ['trigger', dag('runs'), (page) => press(page, /^Trigger/)],
  ['schedule', dag('schedules'), (page) => press(page, 'New schedule …')],
  [
    'schedule-whole',
    dag('schedules'),
    async (page) => {
      await press(page, `Edit the schedule with-rates of ${NIGHTLY}`);
      for (const summary of await page.locator('details.more-fields summary').all()) await summary.click();
    },
  ],
  ['backfill', dag('backfills'), (page) => press(page, 'New backfill …')],
  ['webhook', dag('triggers', 'ship-orders'), (page) => press(page, /New webhook/)],
  ['event', dag('triggers', 'ship-orders'), (page) => press(page, /Send an event/)],
  ['delete-dag', dag('settings'), (page) => press(page, /Delete the DAG/)],
  ['job', () => '/jobs', (page) => press(page, 'New job …')],
  ['tenant', () => '/tenants', (page) => press(page, 'New tenant …')],
  ['suspend', () => '/tenants', (page) => press(page, 'Suspend team-shop')],
  ['replay', () => '/dead-letters', (page) => press(page, /^Replay/)],
  ['token', () => '/system', (page) => press(page, 'New token …')],
  ['run-menu', ({ failed }) => `/runs/${failed}`, (page) => press(page, 'More actions')],
  ['rerun', ({ failed }) => `/runs/${failed}`, (page) => press(page, /Rerun from failed/)],
  ['new-run', ({ failed }) => `/runs/${failed}`, (page) => choose(page, 'New run with these params …')],
  ['cancel', ({ running }) => `/runs/${running}`, (page) => press(page, /^Cancel/)],
  ['clear', ({ failed }) => `/runs/${failed}/tasks/load`, (page) => press(page, 'Run again …')],
  ['mark', ({ failed }) => `/runs/${failed}/tasks/load`, (page) => choose(page, 'Mark as succeeded …')],
];
