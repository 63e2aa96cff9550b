/** The web UI in a real browser, third part: schedules, triggers, webhooks, backfills, breakers, zones, and very many dags. */
import { createHmac } from 'node:crypto';
import { eventually } from '@signalbox/server/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  chromium,
  outsideOfPhone,
  type SignedIn,
  seriousFindings,
  startUiRig,
  UI_TEST_MS,
  type UiRig,
} from './ui-rig.ts';

const HOSTILE = '<img src=x onerror="window.hacked=1">';

describe.skipIf(chromium === null)('the web UI', { timeout: UI_TEST_MS }, () => {
  let ui: UiRig;
  let admin: SignedIn;
  let isBroken = true;

  beforeAll(async () => {
    ui = await startUiRig();
    await ui.rig.addWorker({
      echo: ({ params }: { params: unknown }) => params,
      hold: ({ signal }: { signal: AbortSignal }) =>
        new Promise<void>((_, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
      lean: () => {
        if (isBroken) throw new Error('The disk is full.');
      },
    });
    admin = await ui.signIn();
  }, 120_000);

  afterAll(() => ui?.stop());

  const deploy = (name: string, more: object = {}, handler = 'echo') =>
    ui.rig.ask('PUT', `/v1/dags/${name}`, { name, tasks: [{ name: 'only', handler }], ...more });
  const dialog = () => admin.page.getByRole('dialog');
  const press = (name: string) => admin.page.getByRole('button', { name, exact: true }).click();
  const confirm = (name: string) => dialog().getByRole('button', { name, exact: true }).click();
  const closed = () => dialog().waitFor({ state: 'detached' });

  test('a schedule is created with a preview, edited, paused, resumed and deleted', async () => {
    const { page, go } = admin;
    await deploy('report', { schedule: { cron: '0 6 1 * *', zone: 'Europe/Berlin' } });
    await go('/dags/report?tab=schedules');
    await page.getByRole('cell', { name: /^default/ }).waitFor();
    await page.getByText('The clock goes forward by 1 h before this one.').first().waitFor();

    await press('New schedule …');
    await dialog().getByLabel('Name').fill('morning');
    await dialog().getByRole('textbox', { name: 'Cron', exact: true }).fill('61 * * * *');
    await dialog().getByRole('alert').getByText('61').first().waitFor();
    await dialog().getByRole('textbox', { name: 'Cron', exact: true }).fill('30 2 * 3 *\n30 2 28 10 *');
    await dialog().getByLabel('Zone').fill('Europe/Berlin');
    // The night in which 02:30 does not exist.
    await dialog().getByText('Range, calendar and clock changes').click();
    await dialog().getByLabel('Not before').fill('2027-03-27T12:00:00Z');
    await dialog().getByText(/03:00/).first().waitFor();
    await dialog()
      .getByText(/clock change/)
      .first()
      .waitFor();
    await dialog().getByText('What happens to firings').click();
    await dialog().getByLabel('Params as JSON').fill('{"region": "eu"}');
    await confirm('Create schedule');
    await closed();
    const made = async () =>
      (await ui.rig.ask('GET', '/v1/dags/report/schedules/morning')).body as never as Record<string, unknown>;
    expect(await made()).toMatchObject({
      origin: 'api',
      params: { region: 'eu' },
      cron: ['30 2 * 3 *', '30 2 28 10 *'],
    });

    await press('Pause the schedule morning of report');
    await page.getByRole('row').filter({ hasText: 'morning' }).getByText('paused').waitFor();
    await press('Resume the schedule morning of report');
    await page.getByRole('row').filter({ hasText: 'morning' }).getByText('paused').waitFor({ state: 'detached' });

    await press('Edit the schedule morning of report');
    await dialog().getByRole('combobox', { name: 'Fires', exact: true }).selectOption('every');
    await dialog().getByRole('textbox', { name: 'Every', exact: true }).fill('45m');
    await confirm('Save');
    await closed();
    await expect.poll(async () => (await made()).everyMs).toBe(2_700_000);
    await page.getByRole('button', { name: 'morning', exact: true }).click();
    await page.waitForURL(/schedule=morning/);
    await page.getByText('Next firings of morning').waitFor();
    expect(await seriousFindings(page)).toEqual([]);

    await go('/schedules?show=added');
    await page.getByRole('row').filter({ hasText: 'morning' }).waitFor();
    expect(await page.getByRole('row').filter({ hasText: 'default' }).count()).toBe(0);
    await press('Delete the schedule morning of report');
    await confirm('Delete');
    await page.getByText('No schedule matches.').waitFor();
    expect((await ui.rig.ask('GET', '/v1/dags/report/schedules/morning')).status).toBe(404);
  });

  test('firings that were skipped say why', async () => {
    const { page, go } = admin;
    await deploy('busy', { schedule: { cron: '* * * * * *', ifRunning: 'skip' } }, 'hold');
    await go('/dags/busy?tab=schedules&windows=skipped');
    await page.getByText('Skipped: another run was active.').first().waitFor();
    await ui.rig.ask('POST', '/v1/dags/busy/schedule/pause', {});
    await ui.rig.ask('DELETE', '/v1/dags/busy');
    const { body } = await ui.rig.ask('GET', '/v1/runs?dag=busy&state=open');
    for (const { id } of body.items) await ui.rig.ask('POST', `/v1/runs/${id}/cancel`, { force: true });
  });

  test('a backfill is previewed, started, followed, paused, resumed and cancelled', async () => {
    const { page, go } = admin;
    await deploy('past', { schedule: { cron: '0 * * * *', zone: 'UTC' } }, 'hold');
    await go('/dags/past?tab=backfills');
    await press('New backfill …');
    expect(await dialog().getByRole('button', { name: 'Start' }).isDisabled()).toBe(true);
    await dialog().getByLabel('From').fill('last week');
    await dialog().getByText('must be a day or a time').waitFor();
    await dialog().getByLabel('From').fill('2026-03-01');
    await dialog().getByLabel('To', { exact: true }).fill('2026-03-02');
    await dialog().getByLabel('Runs at a time').fill('2');
    await confirm('Preview');
    await dialog().getByText('25 windows, 25 runs to create.').waitFor();
    await confirm('Start 25 runs');
    await closed();
    await page.getByText('2 running').waitFor();
    await press('Pause the backfill of past');
    await page.getByRole('cell', { name: 'paused' }).waitFor();
    await press('Resume the backfill of past');
    await page.getByRole('cell', { name: 'running', exact: true }).waitFor();
    expect(await seriousFindings(page)).toEqual([]);
    await page.getByRole('link', { name: '2 runs' }).click();
    await page.waitForURL(/\/runs\?backfill=/);
    await expect.poll(() => page.locator('table.list tbody tr').count()).toBe(2);
    await go('/backfills');
    await press('Cancel the backfill of past');
    await dialog().getByLabel('Cancel its live runs too').check();
    await confirm('Cancel the backfill');
    await page.getByRole('cell', { name: 'cancelled' }).waitFor();
    const open = async () => (await ui.rig.ask('GET', '/v1/runs?dag=past&state=open')).body.items.length;
    await expect.poll(open).toBe(0);
  });

  test('triggers are explained, and an event that is sent says what it started or why not', async () => {
    const { page, go } = admin;
    const on = { type: 'order.*', where: 'event.data.total > 100', params: { order: '${{ event.data.id }}' } };
    await deploy('orders', { on });
    await go('/dags/orders?tab=triggers');
    await page.getByText('event.data.total > 100').waitFor();
    await press('Send an event …');
    await dialog().getByLabel('Type').fill('order.paid');
    await dialog().getByLabel('Data as JSON').fill('{"id": 7, "total": 5}');
    await confirm('Send');
    await dialog().getByText('It started no run.').waitFor();
    await dialog()
      .getByText(/order\.\*: /)
      .waitFor();
    await dialog().getByLabel('Data as JSON').fill('{"id": 7, "total": 500}');
    await confirm('Send');
    await dialog().getByRole('link', { name: /^run / }).click();
    await page.getByRole('heading', { name: 'Succeeded', level: 1 }).waitFor();
    await page.getByRole('link', { name: 'Params and outputs' }).click();
    await page.getByText('"order": 7').first().waitFor();
  });

  test('a webhook is made, shows its secret once, gets a new one, and is deleted', async () => {
    const { page, go } = admin;
    await deploy('hooked', { on: { type: 'webhook.github.push' } });
    await go('/dags/hooked?tab=triggers');
    await press('New webhook …');
    await dialog().getByLabel('Calls are signed as').selectOption('github');
    await confirm('Create webhook');
    const texts = dialog().locator('pre');
    await texts.nth(1).waitFor();
    const [address = '', secret = ''] = await texts.allTextContents();
    await page.keyboard.press('Escape');
    const call = async (key: string) => {
      const body = JSON.stringify({ ref: `main ${key}` });
      const signature = `sha256=${createHmac('sha256', key).update(body).digest('hex')}`;
      const headers = {
        'x-hub-signature-256': signature,
        'x-github-event': 'push',
        'content-type': 'application/json',
      };
      return (await fetch(address, { method: 'POST', headers, body })).status;
    };
    expect(await call(secret)).toBe(200);
    await expect.poll(() => page.getByText(secret).count()).toBe(0);
    await page.getByRole('button', { name: /^New secret for/ }).click();
    await dialog().getByLabel('The old one holds for').fill('1s');
    await confirm('Make a new secret');
    await texts.nth(1).waitFor();
    const renewed = (await texts.allTextContents())[1] ?? '';
    expect(renewed).not.toBe(secret);
    await page.keyboard.press('Escape');
    expect(await call(renewed)).toBe(200);
    await go('/sources');
    await page.getByRole('row').filter({ hasText: 'hooked' }).waitFor();
    await page.getByRole('button', { name: /^Delete \/v1\/webhooks/ }).click();
    await confirm('Delete');
    await page.getByText('No webhook.').waitFor();
    expect(await call(renewed)).toBe(401);
  });

  test('a breaker that holds tasks back is on its page at once, and is reset there', async () => {
    const { page, go } = admin;
    const breaker = { share: 0.5, minimum: 2, pause: '1h', maxPause: '1h' };
    await deploy('leaning', { breaker }, 'lean');
    await go('/breakers');
    await page.getByText('No breaker is open.').waitFor();
    for (let run = 0; run < 3; run++) await ui.rig.ask('POST', '/v1/dags/leaning/runs', {});
    const row = page.getByRole('row').filter({ hasText: 'leaning' }).filter({ hasText: 'new tasks of the DAG' });
    await row.getByText('open', { exact: true }).waitFor();
    isBroken = false;
    const { body } = await ui.rig.ask('POST', '/v1/dags/leaning/runs', {});
    await row.getByRole('button', { name: 'Reset' }).click();
    await page.getByText('The breaker of leaning lets go.').waitFor();
    await eventually(async () => (await ui.rig.ask('GET', `/v1/runs/${body.id}`)).body.outcome === 'succeeded');
    // Dead letters come to an open page without a reload, too.
    isBroken = true;
    await deploy('leaning', { breaker: false }, 'lean');
    await go('/dead-letters?dag=leaning');
    await page.getByText('Live', { exact: true }).waitFor();
    // Runs from before may still fail, too.
    const letters = async () => (await ui.rig.ask('GET', '/v1/dead-letters?dag=leaning')).body.items.length;
    const before = await letters();
    await ui.rig.ask('POST', '/v1/dags/leaning/runs', {});
    const chip = page.locator('.letter-head .chip').first();
    await expect.poll(async () => (await letters()) > before).toBe(true);
    await expect.poll(async () => (await chip.textContent())?.trim() === String(await letters())).toBe(true);
  });

  test('a cancel by force ends what closes a run, too', async () => {
    const { page, go } = admin;
    const tasks = [
      { name: 'only', handler: 'echo' },
      { name: 'clean', handler: 'hold', teardown: true, needs: ['only'] },
    ];
    await ui.rig.ask('PUT', '/v1/dags/closing', { name: 'closing', tasks });
    const { body } = await ui.rig.ask('POST', '/v1/dags/closing/runs', {});
    await go(`/runs/${body.id}?tab=tasks`);
    await page.getByRole('row').filter({ hasText: 'clean' }).getByText('Running').waitFor();
    await press('Cancel');
    await dialog()
      .getByLabel(/^Force/)
      .check();
    await dialog().getByText('It touches 1 task').waitFor();
    await confirm('Cancel the run');
    await eventually(async () => (await ui.rig.ask('GET', `/v1/runs/${body.id}`)).body.state === 'ended');
    await page.getByRole('button', { name: 'Cancel', exact: true }).waitFor({ state: 'detached' });
  });

  test('the system page shows the zone data, and raises it when a server has newer', async () => {
    const { page, go } = admin;
    await go('/system');
    const upgrade = page.getByRole('button', { name: 'Upgrade', exact: true });
    await upgrade.waitFor();
    expect(await upgrade.isDisabled()).toBe(true);
    await ui.rig.sql(`update cluster set zone_version = '2020a'`);
    await go('/system');
    await page.getByRole('button', { name: /^Upgrade to 20/ }).click();
    await page.getByText(/Schedules are decided by 20\w+ now; before by 2020a\./).waitFor();
    await upgrade.waitFor();
  });

  test('who may only look finds schedules, backfills and triggers without anything to press', async () => {
    const viewer = await ui.signIn('viewer');
    const reason = 'Your role is viewer: it may look, but not change anything.';
    for (const [path, ...names] of [
      ['/dags/report?tab=schedules', 'New schedule …', 'Pause the schedule default of report'],
      ['/dags/past?tab=backfills', 'New backfill …'],
      ['/dags/orders?tab=triggers', 'Send an event …'],
      ['/schedules', 'Pause the schedule default of report'],
      ['/system', 'Upgrade'],
    ] as const) {
      await viewer.go(path);
      for (const name of names) {
        const button = viewer.page.getByRole('button', { name, exact: true });
        await button.waitFor();
        await expect
          .poll(async () => [path, name, await button.isDisabled(), await button.getAttribute('title')])
          .toEqual([path, name, true, reason]);
      }
    }
    await viewer.go('/dags/orders?tab=triggers');
    await viewer.page.getByText('Only admins see webhooks.').waitFor();
    expect(viewer.complaints).toEqual([]);
    await viewer.context.close();
  });

  test('on a phone schedules, backfills and triggers have everything within the screen', async () => {
    await ui.rig.ask('POST', '/v1/dags/report/schedules', { name: 'another', cron: '0 5 * * *' });
    const pressed = [
      ['/dags/report?tab=schedules', 'Delete the schedule another of report'],
      ['/schedules', 'Delete the schedule another of report'],
      ['/dags/past?tab=backfills', 'New backfill …'],
      ['/dags/orders?tab=triggers', 'Send an event …'],
    ] as const;
    expect(await outsideOfPhone(admin, pressed)).toEqual([]);
  });

  test('a run is asked for a later time, shows when it begins, and is taken back', async () => {
    const { page, go } = admin;
    await deploy('remind');
    await go('/dags/remind');
    await press('Trigger');
    await dialog().getByLabel('Start', { exact: true }).fill('soon');
    await confirm('Start run');
    await dialog().getByRole('alert').waitFor();
    await dialog().getByLabel('Start', { exact: true }).fill('2h');
    await confirm('Start run');
    await page.getByRole('heading', { name: 'Scheduled', level: 1 }).waitFor();
    await page.getByText('with the version that is current then').waitFor();
    expect(await seriousFindings(page)).toEqual([]);
    await go('/runs?state=scheduled');
    const row = page.getByRole('row').filter({ hasText: 'remind' });
    await row.getByText(/begins in/).waitFor();
    await row.locator('a.mono').click();
    await press('Cancel …');
    await confirm('Cancel the run');
    await page.getByText('No run matches.').waitFor();
    expect((await ui.rig.ask('GET', '/v1/runs?state=scheduled')).body.items).toEqual([]);
  });

  test('10,000 DAGs are there at once, and each is found by a word', async () => {
    const { page, go } = admin;
    await deploy('seed');
    // Straight into the tables: 10,000 deploys would take a minute, and the list reads rows.
    await ui.rig.sql(`
      insert into dag (shard, dag_id, tenant_id, name, version_no)
        select d.shard, 1000000 + no, d.tenant_id, 'many-' || lpad(no::text, 5, '0'), d.version_no
          from dag d, generate_series(0, 9999) no where d.name = 'seed';
      insert into dag_version (shard, dag_id, version_no, hash, spec, actor, at)
        select v.shard, 1000000 + no, v.version_no, v.hash,
            jsonb_set(v.spec::jsonb, '{description}', to_jsonb('Row of partner ' || no))::json, v.actor, v.at
          from dag d join dag_version v on v.shard = d.shard and v.dag_id = d.dag_id and v.version_no = d.version_no,
            generate_series(0, 9999) no where d.name = 'seed'`);
    await go('/dags?q=many');
    await page.getByRole('link', { name: 'many-00000', exact: true }).waitFor();
    await page.getByText('10\u202f000 DAGs').waitFor();
    expect(await page.locator('.dag-row').count()).toBeLessThan(60);
    await page.evaluate("document.querySelector('.dag-rows').scrollTop = 1e9");
    await page.getByRole('link', { name: 'many-09999', exact: true }).waitFor();
    await page.getByText('Row of partner 9999', { exact: true }).waitFor();
    await page.getByLabel('Search DAGs').fill('partner 4711');
    await page.getByRole('link', { name: 'many-04711', exact: true }).waitFor();
    await page.getByText('1 DAG', { exact: true }).waitFor();
    await page.keyboard.press('Control+k');
    await page.keyboard.type('many-08888');
    await page.getByRole('option', { name: 'many-08888 dag' }).waitFor();
    await page.keyboard.press('Escape');
  });

  test('hostile text in schedules and triggers is text', async () => {
    const { page, go, complaints } = admin;
    complaints.length = 0;
    await deploy('hostile', { on: { type: `x.y`, where: `event.data.a == '${HOSTILE}'`, params: { a: HOSTILE } } });
    await ui.rig.ask('POST', '/v1/dags/hostile/schedules', { name: 'odd', cron: '0 0 1 1 *', params: { a: HOSTILE } });
    await go('/dags/hostile?tab=triggers');
    await page.getByText('<img src=x').first().waitFor();
    await go('/dags/hostile?tab=schedules');
    await press('Edit the schedule odd of hostile');
    await dialog().getByText('What happens to firings').click();
    expect(await dialog().getByLabel('Params as JSON').inputValue()).toContain('<img src=x');
    expect(await seriousFindings(page)).toEqual([]);
    expect(await page.evaluate('window.hacked')).toBeUndefined();
    expect(complaints).toEqual([]);
  });
});
