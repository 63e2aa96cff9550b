/** The web UI in a real browser, fourth part: jobs, tenants, what schedules and tasks require, and dark pages. */
import { eventually } from '@signalbox/server/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { chromium, outsideOfPhone, type SignedIn, seriousFindings, startUiRig, type UiRig } from './ui-rig.ts';

const HOSTILE = '<img src=x onerror="window.hacked=1">\u202ekcab';
const VIEWER = 'Your role is viewer: it may look, but not change anything.';

describe.skipIf(chromium === null)('the web UI', () => {
  let ui: UiRig;
  let admin: SignedIn;

  beforeAll(async () => {
    ui = await startUiRig();
    await ui.rig.addWorker({ echo: ({ params }: { params: unknown }) => params });
    const tasks = [{ name: 'only', handler: 'echo' }];
    await ui.rig.ask('PUT', '/v1/dags/orders', { name: 'orders', tasks });
    await ui.rig.ask('PUT', '/v1/dags/report', {
      name: 'report',
      tasks: [{ ...tasks[0], dependsOnPast: true }],
    });
    admin = await ui.signIn();
  }, 120_000);

  afterAll(() => ui?.stop());

  const dialog = () => admin.page.getByRole('dialog');
  const press = (name: string) => admin.page.getByRole('button', { name, exact: true }).click();
  const confirm = (name: string) => dialog().getByRole('button', { name, exact: true }).click();
  const row = (text: string) => admin.page.locator('tbody tr').filter({ hasText: text });
  const jobs = async (query = '') =>
    (await ui.rig.ask('GET', `/v1/jobs${query}`)).body.items as unknown as {
      readonly id: string;
      readonly name: string | null;
      readonly state: string;
    }[];

  test('a task of a dag is run as a job, and its page follows it', async () => {
    const { page, go } = admin;
    await go('/jobs');
    await page.getByText('No jobs yet.').waitFor();
    await press('New job …');
    await dialog().getByRole('button', { name: 'Task of a DAG' }).click();
    expect(await dialog().getByRole('button', { name: 'Create job' }).isDisabled()).toBe(true);
    await dialog().getByLabel('DAG', { exact: true }).fill('nowhere');
    await dialog().getByLabel('Task', { exact: true }).fill('only');
    await dialog().getByLabel('Name').fill('by itself');
    await confirm('Create job');
    await dialog().getByRole('alert').getByText('nowhere').first().waitFor();
    // The browser says so of each refusal.
    expect(admin.complaints.splice(0)).toEqual([expect.stringMatching(/404 .*\/v1\/jobs$/)]);
    await dialog().getByLabel('DAG', { exact: true }).fill('orders');
    await confirm('Create job');
    await page.waitForURL(/\/jobs\/[0-9a-f-]{36}$/);
    await page.getByRole('heading', { name: /by itself\s*Succeeded/ }).waitFor();
    await page.getByText('task only of orders').waitFor();
    await page.locator('table a.mono').click();
    await page.getByRole('heading', { name: /^Run/ }).waitFor();
    await page.getByRole('navigation', { name: 'Where you are' }).getByRole('link', { name: 'Jobs' }).click();
    await row('by itself').waitFor();
  });

  test('jobs are listed by tag, owner and state, paused, resumed, cancelled and deleted', async () => {
    const { page, go } = admin;
    await go('/jobs');
    await press('New job …');
    await dialog().getByLabel('Command').fill('vacuumdb shop');
    await dialog().getByLabel('Runs').selectOption('cron');
    await dialog().getByLabel('Zone').fill('Europe/Berlin');
    await dialog().getByLabel('Name').fill('vacuum');
    await dialog().getByLabel('Tags').fill('database nightly');
    await dialog().getByLabel('Owner').fill('team-shop');
    await confirm('Create job');
    await page.getByText('every day at 06:00').waitFor();
    await page.getByText('It has not run yet.').waitFor();
    await page.getByRole('link', { name: 'database', exact: true }).click();
    await page.waitForURL(/\/jobs\?tag=database$/);
    await row('vacuum').getByText('Scheduled').waitFor();
    // One that comes from elsewhere shows without a reload.
    await page.getByText('Live', { exact: true }).waitFor();
    await ui.rig.ask('POST', '/v1/jobs', { run: 'true', name: 'dump', delay: '1h', tags: ['database'] });
    await row('dump').waitFor();
    expect(await row('by itself').count()).toBe(0);
    await page.getByLabel('Only jobs of this owner').fill('team-shop');
    await page.keyboard.press('Enter');
    await row('dump').waitFor({ state: 'detached' });
    await page.getByLabel('Only jobs of this owner').fill('');
    await page.keyboard.press('Enter');
    await row('dump').waitFor();

    await press('Pause dump');
    await row('dump').getByText('Paused').waitFor();
    await page.getByLabel('State', { exact: true }).selectOption('Paused');
    await page.waitForURL(/state=paused/);
    await row('vacuum').waitFor({ state: 'detached' });
    await press('Resume dump');
    await page.getByText('No job matches.').waitFor();
    await page.getByLabel('State', { exact: true }).selectOption('Any state');
    await press('Cancel dump');
    await confirm('Cancel the job');
    await row('dump').getByText('Cancelled').waitFor();

    await page.getByRole('button', { name: 'Recurring' }).click();
    await row('vacuum').waitFor();
    await press('Delete vacuum');
    await confirm('Delete the job');
    await page.getByText('No job matches.').waitFor();
    expect((await jobs('?recurring=true')).length).toBe(0);
  });

  test('tenants are created, weighed, suspended, resumed and deleted', async () => {
    const { page, go } = admin;
    await go('/');
    await page.getByRole('link', { name: 'Tenants', exact: true }).click();
    await row('default').waitFor();
    expect(await row('default').getByRole('button').allTextContents()).toEqual(['Settings …']);
    await press('New tenant …');
    await dialog().getByLabel('Name', { exact: true }).fill('team-a');
    await dialog().getByLabel('Weight').fill('none');
    await dialog().getByText('must be a number above 0').waitFor();
    await dialog().getByLabel('Weight').fill('3');
    await confirm('Create tenant');
    await row('team-a').getByText('75 %').waitFor();
    await press('Settings of team-a');
    await dialog().getByLabel('Weight').fill('1');
    await dialog().getByLabel('Priority of DAGs that name none').selectOption('low');
    await confirm('Save');
    await row('team-a').getByText('50 %').waitFor();
    await row('team-a').getByText('low').waitFor();
    await press('Suspend team-a');
    await dialog().getByLabel('Reason').fill('a loop of submissions');
    await confirm('Suspend');
    await row('team-a').getByText('a loop of submissions').waitFor();
    await press('Resume team-a');
    await row('team-a').getByText('active').waitFor();
    await press('Delete team-a');
    await confirm('Delete the tenant');
    await row('team-a').waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'With deleted ones' }).click();
    await row('team-a').getByText('deleted').waitFor();
    await press('Resume team-a');
    await row('team-a').getByText('active').waitFor();
  });

  test('assets show who produced them and who waits for them, and are declared fresh', async () => {
    const { page, go } = admin;
    await go('/assets');
    await page.getByText('No assets yet.').waitFor();
    const deploy = (name: string, more: object, task: object = {}) =>
      ui.rig.ask('PUT', `/v1/dags/${name}`, { name, tasks: [{ name: 'only', handler: 'echo', ...task }], ...more });
    await deploy('load', {}, { produces: ['sales'] });
    await deploy('refresh', { on: { assets: { all: ['sales'] } } });
    await row('sales').getByText('never').waitFor();
    await row('sales').getByRole('link', { name: 'refresh' }).waitFor();
    await press('Declare fresh: sales');
    await page.getByText('sales is fresh.').waitFor();
    const made = async () => (await ui.rig.ask('GET', '/v1/runs?dag=refresh')).body.items;
    await eventually(async () => (await made()).length === 1);
    await ui.rig.ask('POST', '/v1/dags/load/runs', {});
    await row('sales').getByRole('link', { name: 'only of load' }).waitFor();
    await eventually(async () => (await made()).length === 2);
    await go(`/runs/${(await made())[0]?.id}`);
    await page.getByText('Because of').getByRole('link', { name: 'sales' }).click();
    await page.getByRole('navigation', { name: 'Where you are' }).getByText('load').waitFor();
  });

  test('what a schedule requires and what a task depends on is shown, and stays when it is edited', async () => {
    const { page, go } = admin;
    await ui.rig.ask('POST', '/v1/dags/report/schedules', {
      ...{ name: 'late', cron: '0 5 * * *', wait: '2h', unmet: 'run' },
      requires: [{ dag: 'orders', within: '6h' }],
    });
    await go('/dags/report?tab=schedules');
    await row('late')
      .getByText(/^Requires orders within 6 h; waits up to 2 h, else it runs anyway\.$/)
      .waitFor();
    await press('Edit the schedule late of report');
    await dialog().getByText('What it requires of other DAGs').click();
    await dialog().getByLabel('Must have succeeded before').fill('orders');
    await dialog().getByText('must be such as "orders within 6h"').waitFor();
    await dialog().getByLabel('Must have succeeded before').fill('orders within 6h\norders same window');
    await confirm('Save');
    await row('late')
      .getByText(/orders of the same window/)
      .waitFor();
    const { body } = await ui.rig.ask('GET', '/v1/dags/report/schedules/late');
    expect(body).toMatchObject({
      waitMs: 7_200_000,
      unmet: 'run',
      requires: [{ withinMs: 21_600_000 }, { dag: 'orders' }],
    });
    await go('/dags/report?tab=graph&node=only');
    await page.getByText('waits until the same task of the run before has succeeded').waitFor();
  });

  test('who may only look finds jobs without anything to press, and no tenants', async () => {
    const { body } = await ui.rig.ask('POST', '/v1/jobs', { run: 'true', name: 'later', delay: '1h' });
    const viewer = await ui.signIn('viewer');
    await viewer.go('/jobs');
    for (const name of ['New job …', 'Pause later', 'Cancel later', 'Delete later']) {
      const button = viewer.page.getByRole('button', { name, exact: true });
      await button.waitFor();
      await expect
        .poll(async () => [name, await button.isDisabled(), await button.getAttribute('title')])
        .toEqual([name, true, VIEWER]);
    }
    expect(await viewer.page.getByRole('link', { name: 'Tenants', exact: true }).count()).toBe(0);
    await viewer.go('/tenants');
    await viewer.page.getByText('Only admins of the tenant that runs the installation see this page.').waitFor();
    expect(viewer.complaints).toEqual([]);
    await viewer.context.close();
    await ui.rig.ask('DELETE', `/v1/jobs/${body.id}`);
  });

  test('hostile text in jobs and tenants is text', async () => {
    const { page, go, complaints } = admin;
    const job = { run: `echo '${HOSTILE}'`, name: HOSTILE, delay: '1h' };
    const { body, status } = await ui.rig.ask('POST', '/v1/jobs', job);
    expect(status).toBe(201);
    await ui.rig.ask('POST', '/v1/tenants/team-a/suspend', { reason: HOSTILE });
    for (const path of ['/jobs', `/jobs/${body.id}`, '/tenants']) {
      await go(path);
      await page.getByText('<img src=x').first().waitFor();
    }
    expect(await page.evaluate('window.hacked')).toBeUndefined();
    expect(complaints).toEqual([]);
  });

  test.each(['/jobs', '/jobs/JOB', '/assets', '/tenants', '/schedules', '/dags/report?tab=schedules'])(
    '%s has no complaint of the browser, and no serious finding of axe',
    async (path) => {
      await shown(path);
      expect(await seriousFindings(admin.page)).toEqual([]);
      expect(admin.complaints).toEqual([]);
    },
  );

  test.each([
    ['/jobs', 'New job …'],
    ['/tenants', 'New tenant …'],
    ['/dags/report?tab=schedules', 'New schedule …'],
    ['/dags/report', 'Trigger'],
  ])('%s: what opens by "%s" has no serious finding of axe', async (path, name) => {
    await shown(path);
    await admin.page.getByRole('button', { name }).first().click();
    await dialog().waitFor();
    expect(await seriousFindings(admin.page)).toEqual([]);
    await admin.page.keyboard.press('Escape');
    await dialog().waitFor({ state: 'detached' });
  });

  test('pages have no serious finding of axe in the dark, either', async () => {
    const { page } = admin;
    const { body } = await ui.rig.ask('POST', '/v1/dags/orders/runs', {});
    await eventually(async () => (await ui.rig.ask('GET', `/v1/runs/${body.id}`)).body.state === 'ended');
    await page.emulateMedia({ colorScheme: 'dark' });
    try {
      for (const path of ['/', '/dags', '/dags/orders', `/runs/${body.id}?tab=tasks`, '/jobs', '/tenants', '/system']) {
        await shown(path);
        expect([path, await seriousFindings(page)]).toEqual([path, []]);
      }
    } finally {
      await page.emulateMedia({ colorScheme: 'light' });
    }
  });

  test('on a phone jobs and tenants have everything within the screen', async () => {
    const pressed = [
      ['/jobs', /^Delete/],
      ['/jobs', 'New job …'],
      ['/tenants', /^Delete/],
      ['/assets', /^Declare/],
    ] as const;
    expect(await outsideOfPhone(admin, pressed)).toEqual([]);
  });

  async function shown(path: string): Promise<void> {
    const { page, go } = admin;
    await go(path.replace('JOB', (await jobs())[0]?.id ?? ''));
    await page.locator('main h1').waitFor();
    await page.getByText('Live', { exact: true }).waitFor();
    await eventually(async () => (await page.locator('.loading').count()) === 0);
  }
});
