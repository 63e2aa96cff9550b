/** Dialogs and menus for pictures: where each is, and how it is opened. */
import type { Page } from 'playwright-core';

export const NIGHTLY = 'nightly-warehouse';

interface Runs {
  readonly failed: string;
  readonly running: string;
}
type Opened = readonly [name: string, path: (runs: Runs) => string, open: (page: Page) => Promise<unknown>];

const press = (page: Page, name: string | RegExp) => page.getByRole('button', { name }).first().click();
/** Once somebody listens. */
const strike = async (page: Page, key: string) => {
  await page.locator('main h1').waitFor();
  await page.keyboard.press(key);
  await page.locator('dialog[open]').waitFor();
};
const forMany = async (page: Page, item: string) => {
  await press(page, 'Many runs …');
  await page.getByRole('menuitem', { name: item }).click();
};
const choose = async (page: Page, item: string) => {
  await press(page, 'More actions');
  await page.getByRole('menuitem', { name: item }).click();
};
const dag =
  (tab: string, name = NIGHTLY) =>
  () =>
    `/dags/${name}?tab=${tab}`;

export const DIALOGS: readonly Opened[] = [
  ['palette', () => '/', (page) => strike(page, 'Control+k')],
  ['help', () => '/', (page) => strike(page, '?')],
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
  ['quotas', () => '/tenants', (page) => press(page, 'Quotas of team-shop')],
  [
    'quotas-raise',
    () => '/tenants',
    async (page) => {
      await press(page, 'Quotas of team-shop');
      await page.getByRole('dialog').getByLabel('What to do').selectOption({ label: 'Raise it for a while' });
    },
  ],
  ['suspend', () => '/tenants', (page) => press(page, 'Suspend team-shop')],
  ['replay', () => '/dead-letters', (page) => press(page, /^Replay/)],
  ['retry-runs', dag('runs'), (page) => forMany(page, 'Retry failed …')],
  ['cancel-runs', () => '/runs?dag=search-index', (page) => forMany(page, 'Cancel runs …')],
  ['priorities', () => '/runs?dag=thumbnails', (page) => forMany(page, 'Change priorities …')],
  ['evict', () => '/workers', (page) => press(page, 'Evict spot-1')],
  ['owner', dag('settings'), (page) => press(page, /^Owner/)],
  ['rates', () => '/costs', (page) => press(page, 'Change prices …')],
  ['budget', () => '/costs', (page) => press(page, 'New budget …')],
  ['scale-in', () => '/queues', (page) => press(page, 'Scale in default')],
  ['callback-secret', () => '/callbacks', (page) => press(page, 'Show the secret …')],
  ['limit', () => '/limits', (page) => press(page, 'New limit …')],
  ['freeze', () => '/limits', (page) => press(page, 'Freeze …')],
  ['holders', () => '/limits', (page) => press(page, 'Who has slots of queue:default')],
  ['settings', () => '/system', (page) => press(page, 'Change the settings')],
  ['token', () => '/system', (page) => press(page, 'New token …')],
  ['run-menu', ({ failed }) => `/runs/${failed}`, (page) => press(page, 'More actions')],
  ['rerun', ({ failed }) => `/runs/${failed}`, (page) => press(page, /Rerun from failed/)],
  ['new-run', ({ failed }) => `/runs/${failed}`, (page) => choose(page, 'New run with these params …')],
  ['priority', ({ running }) => `/runs/${running}`, (page) => choose(page, 'Change the priority …')],
  ['cancel', ({ running }) => `/runs/${running}`, (page) => press(page, /^Cancel/)],
  ['clear', ({ failed }) => `/runs/${failed}/tasks/load`, (page) => press(page, 'Run again …')],
  ['mark', ({ failed }) => `/runs/${failed}/tasks/load`, (page) => choose(page, 'Mark as succeeded …')],
];
