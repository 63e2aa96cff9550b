/** The web UI in a real browser, fourth part: jobs, tenants, assets, sources of events and settings. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually } from '@signalbox/server/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  chromium,
  findingsInBoth,
  findingsInDialog,
  openWhole,
  outsideOfPhone,
  type SignedIn,
  startUiRig,
  UI_TEST_MS,
  type UiRig,
} from './ui-rig.ts';

const HOSTILE = '<img src=x onerror="window.hacked=1">\u202ekcab';
const VIEWER = 'Your role is viewer: it may look, but not change anything.';

describe.skipIf(chromium === null)('the web UI', { timeout: UI_TEST_MS }, () => {
  let ui: UiRig;
  let admin: SignedIn;
  let folder: string;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'signalbox-ui-'));
    ui = await startUiRig({ SIGNALBOX_WATCH_FOLDERS: `orders=${folder}` });
    await ui.rig.addWorker({ echo: ({ params }: { params: unknown }) => params });
    const tasks = [{ name: 'only', handler: 'echo' }];
    await ui.rig.ask('PUT', '/v1/dags/orders', { name: 'orders', tasks });
    await ui.rig.ask('PUT', '/v1/dags/report', {
      name: 'report',
      tasks: [{ ...tasks[0], dependsOnPast: true }],
    });
    admin = await ui.signIn();
  }, 120_000);

  afterAll(async () => {
    await ui?.stop();
    await rm(folder, { recursive: true, force: true });
  });

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
    await expect.poll(() => row('default').getByRole('button').allTextContents()).toEqual(['Settings …', 'Quotas …']);
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

  test('limits are set, changed and removed, what is frozen is thawed, and what waits says for what', async () => {
    const { page, go } = admin;
    await go('/');
    await page.getByRole('link', { name: 'Limits', exact: true }).click();
    await page.getByText('No limits over several DAGs.').waitFor();
    const limit = () => page.locator('tbody tr').filter({ has: page.getByText('pool:database', { exact: true }) });
    await press('New limit …');
    await dialog().getByLabel('Name', { exact: true }).fill('database');
    await dialog().getByLabel('Slots').fill('many');
    await dialog().getByText('must be a whole number, 0 or more').waitFor();
    await dialog().getByLabel('Slots').fill('0');
    await confirm('Set the limit');
    await limit().getByText('It has no slots').waitFor();
    await ui.rig.ask('PUT', '/v1/dags/import', {
      name: 'import',
      tasks: [{ name: 'load', handler: 'echo', pool: { name: 'database', slots: 1 } }],
    });
    const { body } = await ui.rig.ask('POST', '/v1/dags/import/runs', {});
    await page.getByText('Give it more: signalbox limits set pool:database <slots>').waitFor();
    await press('Change pool:database');
    await dialog().getByLabel('Slots').fill('2');
    await confirm('Save');
    await limit().getByText('of 2').waitFor();
    await eventually(async () => (await ui.rig.ask('GET', `/v1/runs/${body.id}`)).body.state === 'ended');
    await press('Who has slots of pool:database');
    await dialog().getByText('No task has a slot.').waitFor();
    await dialog().getByLabel('Close').click();

    await press('Freeze …');
    await dialog().getByLabel('What').selectOption('a queue');
    await dialog().getByLabel('Name', { exact: true }).fill('gpu');
    await dialog().getByLabel('Reason').fill('new drivers');
    await confirm('Freeze');
    await row('queue:gpu').getByText('new drivers').waitFor();
    await press('Thaw queue:gpu');
    await page.getByText('Nothing is frozen.').waitFor();

    await press('Reserve slots …');
    await dialog().getByLabel('Name', { exact: true }).fill('import');
    await dialog().getByLabel('From').fill('2020-01-01T00:00:00Z');
    await dialog().getByLabel('Until').fill('2099-01-01T00:00:00Z');
    await dialog().getByLabel('Reason').fill('the month is closed');
    await confirm('Reserve');
    await row('dag:import').getByText('the month is closed').waitFor();
    await row('dag:import').getByText('Others share').waitFor();
    await press('Delete the reservation for import');
    await confirm('Delete the reservation');
    await page.getByText('Nothing is reserved.').waitFor();
    await press('Remove pool:database');
    await confirm('Remove the limit');
    await page.getByText('No limits over several DAGs.').waitFor();
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
    await page.getByLabel('Search assets').fill('NOTHING');
    await page.getByText('No asset matches.').waitFor();
    await page.getByLabel('Search assets').fill('ALE');
    await row('sales').getByText('never').waitFor();
    await page.waitForURL(/q=ALE/);
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

  test('expected events show what is missing, and watched folders their last file', async () => {
    const { page, go } = admin;
    await go('/sources');
    await page.getByText('No DAG expects events.').waitFor();
    await row(folder).getByText('none since the server started').waitFor();
    const tasks = [{ name: 'only', handler: 'echo' }];
    const expected = [
      { name: 'rates', type: 'rates.arrived', source: '/bank/*', by: '0 6 * * *', zone: 'Europe/Berlin' },
      { type: 'orders.arrived', within: '1s' },
    ];
    await ui.rig.ask('PUT', '/v1/dags/daily', { name: 'daily', expect: expected, tasks });
    await row('rates').getByText('by every day at 06:00').waitFor();
    await row('rates').getByText('in time').waitFor();
    await row('rates').getByText('rates.arrived, from /bank/*').waitFor();
    await row('orders.arrived').getByText('missing').waitFor();
    await row('orders.arrived').getByText('never').waitFor();
    // Missing ones are first.
    await expect.poll(() => page.locator('tbody tr').first().textContent()).toContain('orders.arrived');
    const event = { specversion: '1.0', id: '1', source: '/bank/eu', type: 'rates.arrived', data: {} };
    await ui.rig.ask('POST', '/v1/events', event);
    await row('rates').getByText('never').waitFor({ state: 'detached' });
    await writeFile(join(folder, 'monday.csv'), 'a;b');
    await row(folder).getByText('monday.csv').waitFor();
    await row('rates').getByRole('link', { name: 'daily' }).click();
    await page.waitForURL(/\/dags\/daily\?tab=triggers$/);
    await row('orders.arrived').getByText('within 1 s of the last one').waitFor();
  });

  test('the settings of the cluster are changed on the system page', async () => {
    const { page, go } = admin;
    await go('/system');
    await page.getByText('Default jitter of schedules none').waitFor();
    await press('Change the settings');
    await dialog().getByLabel('Jitter').fill('5');
    await confirm('Save');
    await dialog().getByRole('alert').getByText('must have a unit').waitFor();
    expect(admin.complaints.splice(0)).toEqual([expect.stringMatching(/400 .*\/v1\/settings$/)]);
    await dialog().getByLabel('Jitter').fill('5m');
    await confirm('Save');
    await page.getByText('Default jitter of schedules up to 5 min').waitFor();
    await page.getByRole('row').filter({ hasText: 'settings' }).first().waitFor();
    await press('Change the settings');
    expect(await dialog().getByLabel('Jitter').inputValue()).toBe('5m');
    await dialog().getByLabel('Jitter').fill('0');
    await confirm('Save');
    await page.getByText('Default jitter of schedules none').waitFor();
  });

  test('servers and workers show their versions, and servers that differ are told of', async () => {
    const { page, go } = admin;
    const [{ version }] = (await ui.rig.client().listNodes()).items as unknown as [{ readonly version: string }];
    await go('/workers');
    await page.locator('tbody tr').first().getByText(version, { exact: true }).waitFor();
    await go('/system');
    const servers = page.locator('.card').filter({ has: page.getByRole('heading', { name: 'Servers' }) });
    await servers.getByRole('cell', { name: version, exact: true }).waitFor();
    expect(await servers.getByText('different versions').count()).toBe(0);
    // A server from before versions were told: it lives, and is about to leave.
    const old = '00000000-0000-4000-8000-00000000001d';
    const beat = () =>
      ui.rig.sql(`insert into node (node_id, beat, peer_address, gateway_address, leaving) values ('${old}', 1, '', 'old:1', true)
        on conflict (node_id) do update set beat = node.beat + 1`);
    await beat();
    const beating = setInterval(() => void beat(), 500);
    try {
      await go('/system');
      await servers.getByText(`Servers run different versions: ${version} on 1, unknown on 1.`).waitFor();
      await servers.getByRole('row').filter({ hasText: 'old:1' }).getByText('unknown', { exact: true }).waitFor();
    } finally {
      clearInterval(beating);
    }
    await ui.rig.sql(`delete from node where node_id = '${old}'`);
  });

  test('an admin of another tenant sees the system without what belongs to the installation', async () => {
    await ui.rig.ask('POST', '/v1/tenants', { name: 'team-b' });
    const { body } = await ui.rig.ask('POST', '/v1/tokens', { name: 'b', role: 'admin', tenant: 'team-b' });
    const other = await ui.signIn('admin', (body as unknown as { token: string }).token);
    await other.go('/system');
    await other.page.getByText('tenant team-b').waitFor();
    await other.page.getByText('Default jitter of schedules').waitFor();
    await expect
      .poll(() => other.page.locator('.card-head h2').allTextContents())
      .toEqual(['Servers', 'Settings of the cluster', 'Time zones', 'Tokens and sessions', 'Audit of credentials']);
    expect(await other.page.getByRole('button', { name: /Upgrade|Change the settings/ }).count()).toBe(0);
    await other.go('/sources');
    await other.page.getByText('No DAG expects events.').waitFor();
    expect(await other.page.getByRole('heading', { name: 'Watched folders' }).count()).toBe(0);
    expect(other.complaints).toEqual([]);
    await other.context.close();
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

  test('an attempt shows the processor time and the memory that it used', async () => {
    const { page, go } = admin;
    const run = 'node -e "for (const end = Date.now() + 1_500; Date.now() < end; );"';
    await ui.rig.ask('PUT', '/v1/dags/busy', { name: 'busy', tasks: [{ name: 'only', run }] });
    const { body } = await ui.rig.ask('POST', '/v1/dags/busy/runs', {});
    await go(`/runs/${body.id}/tasks/only`);
    await page.getByText(/^CPU [\d.]+ m?s$/).waitFor();
    await page.getByText(/^Peak memory [\d.]+ MB$/).waitFor();
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

  test('hostile text in jobs, tenants, assets, expected events and file names is text', async () => {
    const { page, go, complaints } = admin;
    const job = { run: `echo '${HOSTILE}'`, name: HOSTILE, delay: '1h' };
    const { body, status } = await ui.rig.ask('POST', '/v1/jobs', job);
    expect(status).toBe(201);
    await ui.rig.ask('POST', '/v1/tenants/team-a/suspend', { reason: HOSTILE });
    const expected = { type: 'x.y', where: `event.data.a == '${HOSTILE}'`, within: '1d' };
    const tasks = [{ name: 'only', handler: 'echo' }];
    await ui.rig.ask('PUT', '/v1/dags/hostile', { name: 'hostile', expect: expected, tasks });
    await writeFile(join(folder, HOSTILE.replaceAll('/', '')), 'x');
    // Names of assets are checked at the door: one that came another way is text all the same.
    await ui.rig.ask('POST', '/v1/assets/odd/materialize', {});
    await ui.rig.sql(`update asset set name = '${HOSTILE}', actor = 'token:${HOSTILE}' where name = 'odd'`);
    await go('/sources');
    await row(folder).getByText('<img src=x').waitFor();
    for (const path of ['/jobs', `/jobs/${body.id}`, '/tenants', '/assets', '/sources', '/dags/hostile?tab=triggers']) {
      await go(path);
      await page.getByText('<img src=x').first().waitFor();
    }
    expect(await page.evaluate('window.hacked')).toBeUndefined();
    expect(complaints).toEqual([]);
  });

  test('prices are set, and costs and budgets are shown', async () => {
    const { page, go, complaints } = admin;
    await go('/costs');
    await page.getByText('There are no prices yet, so nothing is summed.').waitFor();
    await press('Set prices …');
    await dialog().getByLabel('Hour of a slot').fill('a lot');
    expect(await dialog().getByRole('button', { name: 'Set the prices' }).isDisabled()).toBe(true);
    await dialog().getByLabel('Hour of a slot').fill('3600');
    await confirm('Set the prices');
    await page.getByText('3600 EUR').waitFor();
    await page.getByText('critical 3, high 1, normal 1, low 1').waitFor();
    await page.getByText('Nothing has ended in this time.').waitFor();
    // As if attempts had ended: three of 40 s, and one of 20 s.
    await ui.rig.sql(`
      insert into usage_rollup (shard, dag_id, day, version_no, task_no, priority, tenant_id, attempts, slot_ms, cpu_ms, memory_mib_ms)
        select shard, dag_id, extract(epoch from now())::bigint / 86400, 1, 0, 2, tenant_id, case name when 'orders' then 3 else 1 end,
            case name when 'orders' then 120000 else 20000 end, 0, 0 from dag where name in ('orders', 'report');
      insert into usage_hour (shard, tenant_id, hour, slot_ms) select 0, 1, extract(epoch from now())::bigint / 3600, 140000`);
    await page.reload();
    await row('orders').getByText('120.00').waitFor();
    await row('report').getByText('20.00').waitFor();
    await row('orders').getByText('86 %').waitFor();
    await page.getByRole('link', { name: 'orders' }).click();
    await page.waitForURL(/dag=orders/);
    await row('only').getByText('120.00').waitFor();
    await press('Day');
    await page.waitForURL(/by=day/);
    const download = page.waitForEvent('download');
    await page.getByRole('link', { name: 'CSV' }).click();
    expect((await download).suggestedFilename()).toMatch(/^costs-.*\.csv$/);
    await press('New budget …');
    await dialog().getByLabel('Of', { exact: true }).selectOption({ label: 'a DAG' });
    await dialog().getByLabel('Name').fill('orders');
    await dialog().getByLabel('Amount a month').fill('100');
    await confirm('Set the budget');
    await row('dag:orders').getByText('crossed').waitFor();
    await page.getByRole('button', { name: 'Change the budget dag:orders' }).click();
    await dialog().getByLabel('Amount a month').fill('400');
    await confirm('Save');
    await row('dag:orders').getByText('30 %').waitFor();
    await page.getByRole('button', { name: 'Remove the budget dag:orders' }).click();
    await confirm('Remove the budget');
    await page.getByText('No budgets.').waitFor();
    await ui.rig.ask('PUT', '/v1/costs/budgets/tenant', { amount: 1_000 });
    expect(complaints).toEqual([]);
    const viewer = await ui.signIn('viewer');
    await viewer.go('/costs');
    const button = viewer.page.getByRole('button', { name: 'New budget …' });
    await button.waitFor();
    expect([await button.isDisabled(), await button.getAttribute('title')]).toEqual([true, VIEWER]);
    expect(await viewer.page.getByRole('button', { name: 'Change prices …' }).count()).toBe(0);
  });

  test.each([
    '/jobs',
    '/jobs/JOB',
    '/assets',
    '/sources',
    '/limits',
    '/costs',
    '/tenants',
    '/schedules',
    '/dags/report?tab=schedules',
  ])('%s has no complaint of the browser, and no serious finding of axe, light and dark', async (path) => {
    await openWhole(admin, path.replace('JOB', (await jobs())[0]?.id ?? ''));
    expect(await findingsInBoth(admin.page)).toEqual([]);
    expect(admin.complaints).toEqual([]);
  });

  test.each([
    ['/jobs', 'New job …'],
    ['/tenants', 'New tenant …'],
    ['/costs', 'New budget …'],
    ['/costs', 'Change prices …'],
    ['/system', 'Change the settings'],
    ['/dags/report?tab=schedules', 'New schedule …'],
    ['/dags/report', 'Trigger'],
  ])('%s: what opens by "%s" has no serious finding of axe', async (path, name) => {
    expect(await findingsInDialog(admin, path, name)).toEqual([]);
  });

  test('on a phone jobs and tenants have everything within the screen', async () => {
    const pressed = [
      ['/jobs', /^Delete/],
      ['/jobs', 'New job …'],
      ['/tenants', /^Delete/],
      ['/costs', /^Remove the budget/],
      ['/assets', /^Declare/],
      ['/system', 'Change the settings'],
      ['/sources', 'Menu'],
    ] as const;
    expect(await outsideOfPhone(admin, pressed)).toEqual([]);
  });
});
