/** The web UI in a real browser against a real server: what people see, do, and may not do. */
import { eventually } from '@signalbox/server/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  chromium,
  findingsInBoth,
  openWhole,
  outsideOfPhone,
  type SignedIn,
  startUiRig,
  UI_TEST_MS,
  type UiRig,
} from './ui-rig.ts';

const HOSTILE = '<img src=x onerror="window.hacked=1"><script>window.hacked=1</script>\u202ekcab\u001b[31mred';

describe.skipIf(chromium === null)('the web UI', { timeout: UI_TEST_MS }, () => {
  let ui: UiRig;
  let admin: SignedIn;
  let release: () => void = () => undefined;
  let isFixed = false;

  beforeAll(async () => {
    ui = await startUiRig();
    await ui.rig.addWorker({
      echo: ({ params }: { params: unknown }) => params,
      hold: ({ signal }: { signal: AbortSignal }) =>
        new Promise<void>((resolve, reject) => {
          release = resolve;
          signal.addEventListener('abort', () => reject(signal.reason));
        }),
      hostile: ({ log }: { log: { info(text: string): void } }) => {
        log.info(HOSTILE);
        return { text: HOSTILE };
      },
      fail: () => {
        throw new Error('The disk of the warehouse is full.');
      },
      mend: () => {
        if (!isFixed) throw new Error('The price of row 3 is missing.');
        return 'mended';
      },
    });
    const deploy = (dag: { name: string }) => ui.rig.ask('PUT', `/v1/dags/${dag.name}`, dag);
    const chain = (name: string, handler: string) => ({
      name,
      tasks: [
        { name: 'first', handler: 'echo' },
        { name: 'second', handler, needs: ['first'] },
        { name: 'third', handler: 'echo', needs: ['second'] },
      ],
    });
    await deploy(chain('held', 'hold'));
    await deploy(chain('mended', 'mend'));
    await deploy(chain('failing', 'fail'));
    await deploy({ ...chain('hostile', 'hostile'), description: HOSTILE.replace(/[\u0000-\u001f]/g, '') } as never);
    await deploy({
      name: 'asked',
      params: {
        type: 'object',
        properties: {
          day: { type: 'string' },
          size: { type: 'integer', minimum: 1, default: 5 },
          mode: { enum: ['a', 'b'] },
        },
        required: ['day'],
      },
      tasks: [{ name: 'only', handler: 'echo' }],
    } as never);
    await deploy({ name: 'lonely', tasks: [{ name: 'waits', handler: 'echo', queue: 'nobody' }] } as never);
    admin = await ui.signIn();
  }, 120_000);

  afterAll(() => ui?.stop());

  /** A run of that dag, which has ended. */
  const ended = async (dag: string): Promise<string> => {
    const { body } = await ui.rig.ask('POST', `/v1/dags/${dag}/runs`, {});
    await eventually(async () => (await ui.rig.ask('GET', `/v1/runs/${body.id}`)).body.state === 'ended');
    return body.id;
  };

  test('a run is triggered by a form, and its page follows it without a reload', async () => {
    const { page, go } = admin;
    await go('/dags/asked');
    await page.getByRole('button', { name: 'Trigger' }).click();
    const dialog = page.getByRole('dialog');
    // What the schema asks for is asked for, and nothing is sent before it is there.
    expect(await dialog.getByRole('button', { name: 'Start run' }).isDisabled()).toBe(true);
    await dialog.getByLabel('day').fill('2026-11-16');
    await dialog.getByLabel('size').fill('0');
    await dialog.getByText('size must be at least 1').waitFor();
    await dialog.getByLabel('size').fill('7');
    await dialog.getByRole('button', { name: 'JSON' }).click();
    expect(JSON.parse(await dialog.getByLabel('Params as JSON').inputValue())).toEqual({ day: '2026-11-16', size: 7 });
    await dialog.getByRole('button', { name: 'Start run' }).click();
    await page.waitForURL(/\/runs\//);
    await page.getByRole('heading', { name: 'Succeeded', level: 1 }).waitFor();
    await page.getByRole('link', { name: 'Params and outputs' }).click();
    await page.getByText('"size": 7').first().waitFor();
  });

  test('a page shows what happens elsewhere, and may cancel it with a preview', async () => {
    const { page, go } = admin;
    const { body } = await ui.rig.ask('POST', '/v1/dags/held/runs', {});
    await go(`/runs/${body.id}?tab=tasks`);
    const row = (name: string) => page.getByRole('row').filter({ hasText: name });
    await row('second').getByText('Running').waitFor();
    await row('third').getByText('Blocked').waitFor();
    release();
    await row('third').getByText('Succeeded').waitFor();
    await page.getByRole('heading', { name: 'Succeeded', level: 1 }).waitFor();

    const other = await ui.rig.ask('POST', '/v1/dags/held/runs', {});
    await go(`/runs/${other.body.id}?tab=tasks`);
    await row('second').getByText('Running').waitFor();
    await page.getByRole('button', { name: 'Cancel', exact: true }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('It touches 2 tasks').waitFor();
    await dialog.getByRole('button', { name: 'Cancel the run' }).click();
    await page.getByRole('heading', { name: 'Cancelled', level: 1 }).waitFor();
  });

  test('from a failure to its cause, and to a rerun, by clicks alone', async () => {
    const { page, go } = admin;
    await ui.rig.ask('POST', '/v1/dags/mended/runs', {});
    await go('/');
    await page.getByRole('link', { name: 'DAGs', exact: true }).click();
    await page.getByRole('heading', { name: 'DAGs' }).waitFor();
    await page.getByRole('link', { name: 'mended', exact: true }).click();
    await page.locator('table.list tbody a.mono').first().click();
    await page.getByText('One task failed:').waitFor();
    await page.getByRole('status').getByText('Error: The price of row 3 is missing.').waitFor();
    await page.getByRole('link', { name: 'second', exact: true }).click();
    await page.getByText('Error: The price of row 3 is missing.').first().waitFor();
    await page.goBack();
    isFixed = true;
    await page.getByRole('button', { name: 'Rerun from failed' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('It touches 2 tasks').waitFor();
    await dialog.getByRole('button', { name: 'Rerun from failed' }).click();
    await page.getByRole('heading', { name: 'Succeeded', level: 1 }).waitFor();
  });

  test('once a fix is deployed, the page of the failed run offers a run with it', async () => {
    const { page, go } = admin;
    const fixable = (handler: string) => ({ name: 'fixable', tasks: [{ name: 'only', handler }] });
    await ui.rig.ask('PUT', '/v1/dags/fixable', fixable('fail'));
    await go(`/runs/${await ended('fixable')}`);
    await page.getByRole('button', { name: 'Rerun from failed' }).waitFor();
    await ui.rig.ask('PUT', '/v1/dags/fixable', fixable('echo'));
    await page.getByRole('button', { name: 'Run with version 2' }).click();
    await page.getByRole('heading', { name: 'Succeeded', level: 1 }).waitFor();
    await page.getByText('Version 2').waitFor();
  });

  test('why a run waits is said on its page and on the home page', async () => {
    const { page, go } = admin;
    const { body } = await ui.rig.ask('POST', '/v1/dags/lonely/runs', {});
    await go('/');
    await page.getByText(/lonely: Task waits: No worker .*"nobody"/).waitFor();
    await go(`/runs/${body.id}/tasks/waits`);
    await page.getByText(/No worker .*"nobody"/).waitFor();
    const held = page.getByRole('region', { name: 'What holds it' });
    await held.getByText('Start a worker for the queue:').waitFor();
    await held.locator('.command', { hasText: 'signalbox worker --queues nobody' }).waitFor();
    await ui.rig.ask('POST', `/v1/runs/${body.id}/cancel`, {});
  });

  test('hostile text is text, everywhere', async () => {
    const { page, go, complaints } = admin;
    const { body } = await ui.rig.ask('POST', '/v1/dags/hostile/runs', { params: { text: HOSTILE } });
    for (const path of [
      '/dags',
      '/dags/hostile',
      `/runs/${body.id}?tab=data`,
      `/runs/${body.id}?tab=log`,
      `/runs/${body.id}/tasks/second`,
    ]) {
      await go(path);
      await page.getByText('<img src=x').first().waitFor();
    }
    // In a log a character that turns text around is named, and colours are colours.
    await page.getByText('⟨U+202E⟩kcab').first().waitFor();
    await page.locator('.log-text .fg-1', { hasText: 'red' }).waitFor();
    expect(await page.evaluate('window.hacked')).toBeUndefined();
    expect(complaints).toEqual([]);
  });

  test('who may only look finds nothing to press, and is told why', async () => {
    const viewer = await ui.signIn('viewer');
    await viewer.go('/dags/asked');
    const trigger = viewer.page.getByRole('button', { name: 'Trigger' });
    await trigger.waitFor();
    const reason = 'Your role is viewer: it may look, but not change anything.';
    await expect
      .poll(async () => [await trigger.isDisabled(), await trigger.getAttribute('title')])
      .toEqual([true, reason]);
    await viewer.go('/system');
    await viewer.page.getByText('Only admins see tokens').waitFor();
    await viewer.page.getByRole('button', { name: 'Sign out' }).click();
    await viewer.page.getByText('The way in is a link').waitFor();
    await viewer.context.close();
  });

  test('the first page is few requests and little to load, and further pages load little more', async () => {
    const fresh = await ui.signIn();
    const { page, context } = fresh;
    const session = await context.newCDPSession(page);
    await session.send('Network.enable');
    await session.send('Network.setCacheDisabled', { cacheDisabled: true });
    let [bytes, scripts] = [0, 0];
    session.on('Network.requestWillBeSent', ({ type }) => {
      if (type === 'Script') scripts++;
    });
    session.on('Network.loadingFinished', ({ encodedDataLength }) => {
      bytes += encodedDataLength;
    });
    await openWhole(fresh, '/');
    // Libraries, the page itself, and a few lines of the bundler.
    expect(scripts).toBeLessThanOrEqual(3);
    expect(bytes).toBeLessThan(300_000);
    scripts = 0;
    await page.getByRole('link', { name: 'Limits', exact: true }).click();
    await page.getByRole('heading', { name: 'Pools and caps' }).waitFor();
    // Its own, and what many pages share.
    expect(scripts).toBeLessThanOrEqual(3);
    await context.close();
  });

  test('the keyboard alone leads anywhere', async () => {
    const { page, go } = admin;
    await go('/');
    await page.getByRole('heading', { name: 'Home' }).waitFor();
    await page.keyboard.press('Control+k');
    await page.keyboard.type('hosti');
    await page.getByRole('option', { name: 'hostile dag' }).waitFor();
    await page.keyboard.press('Enter');
    await page.waitForURL(/\/dags\/hostile$/);
    await page.keyboard.press('g');
    await page.keyboard.press('w');
    await page.waitForURL(/\/workers$/);
    await page.keyboard.press('?');
    await page.getByRole('dialog', { name: 'Keys' }).waitFor();
    await page.keyboard.press('Escape');
    await go('/dags');
    await page.getByLabel('Search DAGs').waitFor();
    await page.keyboard.press('/');
    await page.keyboard.type('hel');
    await page.waitForURL(/q=hel/);
    await expect.poll(() => page.locator('.virtual-row .dag-row').count()).toBe(1);
  });

  test('the grid has all runs in one request, and leads to a task by keys and by a click', async () => {
    const { page, go } = admin;
    const failed = await ended('failing');
    const asked: string[] = [];
    const note = (request: { url(): string }) => asked.push(request.url());
    page.on('request', note);
    await go('/dags/failing?tab=grid');
    const rows = page.getByRole('table', { name: /Tasks of the last/ });
    await rows.getByRole('cell', { name: /1 failed/ }).waitFor();
    page.off('request', note);
    // What ended just before may be told while the page opens: then it is asked for again.
    expect(new Set(asked.filter((url) => url.includes('/grid?'))).size).toBe(1);
    expect(asked.filter((url) => url.includes('/columns'))).toEqual([]);
    await rows.press('ArrowDown');
    await rows.press('ArrowDown');
    await page.getByText(/second in the run of .*: Failed/).waitFor();
    // A link to it shows the same cell.
    await page.waitForURL(new RegExp(`cell=${failed}\\+second`));
    await page.reload();
    await page.getByText(/second in the run of .*: Failed/).waitFor();
    await rows.press('Enter');
    await page.waitForURL(new RegExp(`/runs/${failed}/tasks/second$`));
    await page.goBack();
    const cells = rows.getByRole('row').filter({ hasText: 'third' }).locator('canvas');
    const width = (await cells.boundingBox())?.width ?? 0;
    await cells.click({ position: { x: width - 5, y: 10 } });
    await page.waitForURL(new RegExp(`/runs/${failed}/tasks/third$`));
  });

  test('the schedule shows the next firings, and where the clock changes', async () => {
    const { page, go } = admin;
    const schedule = { cron: '0 6 1 * *', zone: 'Europe/Berlin' };
    await ui.rig.ask('PUT', '/v1/dags/monthly', { name: 'monthly', schedule, tasks: [{ name: 'a', handler: 'echo' }] });
    await go('/dags/monthly?tab=schedules');
    await page.getByText('The clock goes forward by 1 h before this one.').first().waitFor();
    await page.getByText('The clock goes back by 1 h before this one.').first().waitFor();
    await expect.poll(() => page.getByRole('cell', { name: /, 06:00$/ }).count()).toBeGreaterThanOrEqual(12);
  });

  test('a run is paused and resumed, and its tasks are retried, marked and cancelled', async () => {
    const { page, go } = admin;
    const press = (name: string) => page.getByRole('button', { name, exact: true }).click();
    const choose = async (name: string) => {
      await press('More actions');
      await page.getByRole('menuitem', { name, exact: true }).click();
    };
    const confirm = (name: string) => page.getByRole('dialog').getByRole('button', { name, exact: true }).click();

    const { body } = await ui.rig.ask('POST', '/v1/dags/held/runs', {});
    await go(`/runs/${body.id}?tab=tasks`);
    await page.getByRole('row').filter({ hasText: 'second' }).getByText('Running').waitFor();
    await press('Pause');
    await page.getByRole('heading', { name: 'Paused', level: 1 }).waitFor();
    await press('Resume');
    await page.getByRole('heading', { name: 'Running', level: 1 }).waitFor();
    await go(`/runs/${body.id}/tasks/second`);
    await choose('Cancel …');
    await confirm('Cancel the task');
    await page.getByRole('heading', { name: 'Cancelled', level: 1 }).waitFor();

    const failed = await ended('failing');
    await go(`/runs/${failed}/tasks/second`);
    await page.getByRole('heading', { name: 'Failed', level: 1 }).waitFor();
    await press('Retry');
    await page.getByRole('link', { name: 'Attempt 2' }).waitFor();
    await page.getByRole('heading', { name: 'Failed', level: 1 }).waitFor();
    await choose('Mark as succeeded …');
    await confirm('Mark as succeeded');
    await page.getByRole('heading', { name: 'Succeeded', level: 1 }).waitFor();
    await expect.poll(async () => (await ui.rig.ask('GET', `/v1/runs/${failed}`)).body.outcome).toBe('succeeded');
  });

  test('dead letters are replayed and discarded, with a preview', async () => {
    const { page, go } = admin;
    await ended('failing');
    await go('/dead-letters?dag=failing');
    const group = page.locator('section.card').filter({ hasText: 'The disk of the warehouse is full.' });
    await group.getByRole('button', { name: 'Replay …' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Replay', exact: true }).click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    // It fails again, and is there again.
    await group.getByRole('button', { name: 'Discard …' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Discard', exact: true }).click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    const open = async () => (await ui.rig.ask('GET', '/v1/dead-letters?dag=failing')).body.items.length;
    await expect.poll(open).toBe(0);
  });

  test('schedules are paused and dags deleted, tokens made and revoked, workers drained', async () => {
    const { page, go } = admin;
    const schedule = { cron: '0 6 * * *', zone: 'UTC' };
    await ui.rig.ask('PUT', '/v1/dags/daily', { name: 'daily', schedule, tasks: [{ name: 'a', handler: 'echo' }] });
    const paused = async () => (await ui.rig.ask('GET', '/v1/dags/daily')).body.schedule.paused;
    await go('/dags/daily?tab=settings');
    await page.getByRole('button', { name: 'Pause the schedule of daily' }).click();
    await expect.poll(paused).toBe(true);
    await page.getByRole('button', { name: 'Resume the schedule of daily' }).click();
    await expect.poll(paused).toBe(false);
    await page.getByRole('button', { name: 'Delete the DAG …' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete', exact: true }).click();
    await page.getByText('This DAG was deleted').waitFor();

    await go('/system');
    await page.getByRole('button', { name: 'New token …' }).click();
    await page.getByRole('dialog').getByLabel('Name').fill('robot');
    await page.getByRole('dialog').getByRole('button', { name: 'Create token', exact: true }).click();
    await page.getByRole('dialog', { name: 'Token robot' }).waitFor();
    await page.keyboard.press('Escape');
    const row = page.getByRole('row').filter({ hasText: 'robot' }).first();
    await row.getByRole('button', { name: 'Revoke robot' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke', exact: true }).click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await expect.poll(() => row.getByRole('button', { name: 'Revoke robot' }).count()).toBe(0);

    await ui.rig.addWorker({ echo: () => null }, { name: 'leaves' });
    await go('/workers');
    const worker = page.getByRole('row').filter({ hasText: 'leaves' });
    await worker.getByRole('button', { name: 'Drain' }).click();
    await worker.waitFor({ state: 'detached' });
  });

  test('workers show what they run, queues what waits in them, and the system how large it is', async () => {
    const { page, go } = admin;
    const held = await ui.rig.ask('POST', '/v1/dags/held/runs', {});
    const lonely = await ui.rig.ask('POST', '/v1/dags/lonely/runs', {});
    await go('/workers');
    await page.getByRole('button', { name: /of 10/ }).click();
    await page.getByRole('link', { name: 'second', exact: true }).click();
    await page.waitForURL(new RegExp(`/runs/${held.body.id}/tasks/second$`));
    await go('/queues');
    const row = page.getByRole('row').filter({ hasText: 'nobody' });
    await row.getByText('no worker').waitFor();
    await expect.poll(() => row.getByRole('cell').nth(1).textContent()).toBe('1');
    await go('/');
    await page.getByRole('link', { name: '1 task waiting' }).waitFor();
    await go('/system');
    await page.getByText(/^Database \d/).waitFor();
    for (const { body } of [held, lonely]) await ui.rig.ask('POST', `/v1/runs/${body.id}/cancel`, {});
  });

  test.each([
    '/',
    '/dags',
    '/dags/asked?tab=settings',
    '/dags/held',
    '/dags/held?tab=grid',
    '/dags/held?tab=graph&node=second',
    '/dags/held?tab=history',
    '/dags/held?tab=versions',
    '/dags/held?tab=schedules',
    '/dags/held?tab=triggers',
    '/dags/held?tab=backfills',
    '/schedules',
    '/backfills',
    '/dags/held?tab=code',
    '/runs',
    '/runs/RUN',
    '/runs/RUN?tab=tasks',
    '/runs/RUN?tab=gantt',
    '/runs/RUN?tab=timeline',
    '/runs/RUN?tab=data',
    '/runs/RUN?tab=log',
    '/runs/RUN?tab=compare',
    '/runs/RUN/tasks/second',
    '/dead-letters',
    '/breakers',
    '/workers',
    '/queues',
    '/events?from=start',
    '/system',
    '/nowhere',
  ])('%s has no complaint of the browser, and no serious finding of axe, light and dark', async (path) => {
    const { page, complaints } = admin;
    const { body } = await ui.rig.ask('GET', '/v1/runs?dag=mended&limit=1');
    await openWhole(admin, path.replace('RUN', body.items[0]?.id ?? ''));
    expect(await findingsInBoth(page)).toEqual([]);
    expect(complaints).toEqual([]);
  });

  test('on a phone nothing that can be pressed lies outside the screen', async () => {
    const failed = await ended('failing');
    const pressed = [
      ['/dags', 'Trigger'],
      ['/dead-letters', 'Discard …'],
      ['/workers', 'Drain'],
      [`/runs/${failed}?tab=log`, 'Wrap'],
    ] as const;
    expect(await outsideOfPhone(admin, pressed)).toEqual([]);
  });

  test('a run of 10,000 tasks has a graph, and each of its tasks can be found', async () => {
    const { page, go } = admin;
    const tasks = Array.from({ length: 10_000 }, (_, no) => ({
      name: `t${no}`,
      handler: 'echo',
      queue: 'nobody',
      needs: no === 0 ? [] : [`t${Math.floor((no - 1) / 20)}`],
    }));
    await ui.rig.ask('PUT', '/v1/dags/huge', { name: 'huge', tasks });
    const { body } = await ui.rig.ask('POST', '/v1/dags/huge/runs', {});
    await go(`/runs/${body.id}`);
    // It takes 2 s of a core, which a machine at a load of 30 may give in half a minute.
    await page.getByRole('img', { name: 'Graph of 10000 tasks' }).waitFor({ timeout: 90_000 });
    await page.getByText('Laying out …').waitFor({ state: 'detached' });
    await page.getByLabel('Find a task in the graph').fill('t9998');
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Open t9998' }).click();
    await page.getByText('Waits for t').first().waitFor();
    await page.goBack();
    await page.getByRole('link', { name: 'Tasks 10' }).click();
    await page.getByLabel('Find a task', { exact: true }).fill('t9999');
    await page.getByRole('link', { name: 't9999' }).waitFor();
    expect(await page.locator('.task-row').count()).toBeLessThan(100);
    await ui.rig.ask('POST', `/v1/runs/${body.id}/cancel`, {});
  }, 240_000);

  test('when the server goes away the page says so, and goes on by itself when it is back', async () => {
    const { page, go } = admin;
    await go('/runs');
    await page.getByText('Live', { exact: true }).waitFor();
    const server = ui.rig.servers[0];
    const port = new URL(server?.url ?? '').port;
    await server?.stop();
    await page.getByText('The server does not answer.').waitFor();
    await ui.rig.addServer({ SIGNALBOX_HTTP: `127.0.0.1:${port}` });
    await page.getByText('Live', { exact: true }).waitFor({ timeout: 30_000 });
    await page.getByText('The server does not answer.').waitFor({ state: 'detached' });
  });
});
