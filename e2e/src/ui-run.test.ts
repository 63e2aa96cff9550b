/** The web UI in a real browser, fifth part: maps, attempts, comparisons, events, many runs at once, what holds a task, and callbacks. */
import { eventually } from '@signalbox/server/testing';
import type { Locator } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  chromium,
  findingsInBoth,
  findingsInDialog,
  HOSTILE,
  harmedByText,
  openWhole,
  outsideOfPhone,
  type SignedIn,
  startUiRig,
  UI_TEST_MS,
  type UiRig,
} from './ui-rig.ts';

const VIEWER = 'Your role is viewer: it may look, but not change anything.';

interface Context {
  readonly inputs: { readonly no: number };
  readonly attempt: number;
  readonly log: { info(text: string): void };
  readonly progress: (fraction: number, note: string) => void;
}

describe.skipIf(chromium === null)('the web UI', { timeout: UI_TEST_MS }, () => {
  let ui: UiRig;
  let admin: SignedIn;
  let isBroken = true;
  let release: () => void = () => undefined;
  let handlers: Record<string, unknown> = {};

  beforeAll(async () => {
    ui = await startUiRig();
    handlers = {
      echo: () => null,
      odd: ({ inputs }: Context) => {
        if (inputs.no % 10 === 3) throw new Error(`page ${inputs.no} is empty`);
      },
      flaky: ({ attempt, log }: Context) => {
        log.info(`try ${attempt}`);
        if (attempt === 1) throw new Error('the line was busy');
      },
      night: () => {
        if (isBroken) throw new Error('the disk is full');
      },
      slow: ({ progress }: Context) => {
        progress(0.4, '4 of 10 files');
        return new Promise<void>((resolve) => {
          release = resolve;
        });
      },
    };
    await ui.rig.addWorker(handlers as never, { name: 'first' });
    admin = await ui.signIn();
  }, 120_000);

  afterAll(() => ui?.stop());

  const dialog = () => admin.page.getByRole('dialog');
  const press = (name: string) => admin.page.getByRole('button', { name, exact: true }).click();
  const confirm = (name: string) => dialog().getByRole('button', { name, exact: true }).click();
  const chooseForMany = async (name: string) => {
    await press('Many runs …');
    await admin.page.getByRole('menuitem', { name, exact: true }).click();
  };
  const row = (text: string) => admin.page.locator('tbody tr').filter({ hasText: text });
  const deploy = (name: string, tasks: readonly object[], more: object = {}) =>
    ui.rig.ask('PUT', `/v1/dags/${name}`, { name, tasks, ...more });
  const submit = async (dag: string): Promise<string> => (await ui.rig.ask('POST', `/v1/dags/${dag}/runs`, {})).body.id;
  const outcomeOf = async (id: string) => (await ui.rig.ask('GET', `/v1/runs/${id}`)).body.outcome;
  const ended = async (dag: string): Promise<string> => {
    const id = await submit(dag);
    await eventually(async () => (await outcomeOf(id)) != null);
    return id;
  };

  test('items of a map are listed by state, and each has its own page', async () => {
    const { page, go } = admin;
    const map = Array.from({ length: 40 }, (_, no) => no);
    await deploy('crawl', [{ name: 'read', handler: 'odd', map, inputs: { no: '${{ item }}' } }]);
    const id = await ended('crawl');
    await go(`/runs/${id}/tasks/read`);
    await page.getByRole('heading', { name: '40 items' }).waitFor();
    await page.getByRole('button', { name: 'Failed 4' }).click();
    await page.waitForURL(/items=failed/);
    const items = page.getByRole('table', { name: 'Items' });
    await expect
      .poll(() => items.getByRole('link').allTextContents())
      .toEqual(['read[3]', 'read[13]', 'read[23]', 'read[33]']);
    await page.reload();
    await expect.poll(() => items.getByRole('link').count()).toBe(4);
    await items.getByRole('link', { name: 'read[13]' }).click();
    await page.getByText('Error: page 13 is empty').first().waitFor();
  });

  test('a running task says how far it is, and the worker it runs on', async () => {
    const { page, go } = admin;
    await deploy('long', [{ name: 'copy', handler: 'slow' }]);
    const id = await submit('long');
    await go(`/runs/${id}/tasks/copy`);
    await page.getByText('40 % · 4 of 10 files').waitFor();
    await page.getByRole('link', { name: 'first', exact: true }).click();
    await page.waitForURL(/\/workers\?worker=/);
    await page.getByRole('link', { name: 'copy' }).waitFor();
    release();
    await eventually(async () => (await outcomeOf(id)) === 'succeeded');
  });

  test('attempts are tabs with their own error and log, and the log shows times', async () => {
    const { page, go } = admin;
    const retries = { maxAttempts: 2, baseMs: 10 };
    await deploy('flaky', [
      { name: 'call', handler: 'flaky', retries },
      { name: 'after', handler: 'echo', needs: ['call'] },
    ]);
    const id = await ended('flaky');
    await go(`/runs/${id}/tasks/call`);
    await page.getByText('Attempt 2 succeeded, after 1 attempt that failed.').waitFor();
    await page.getByRole('log').getByText('try 2').waitFor();
    await page
      .getByRole('navigation', { name: 'Attempts' })
      .getByRole('link', { name: /Attempt 1/ })
      .click();
    await page.waitForURL(/attempt=1/);
    await page.getByText('Error: the line was busy').first().waitFor();
    await page.getByRole('log').getByText('try 1').waitFor();
    expect(await page.locator('.log-clock').count()).toBe(0);
    await press('Times');
    await page.waitForURL(/times=on/);
    expect(await page.locator('.log-clock').first().textContent()).toMatch(/^\d\d:\d\d:\d\d\.\d{3}$/);
    await go(`/runs/${id}?tab=timeline`);
    await page.getByText('attempt 1 failed: Error: the line was busy').waitFor();
    await page.getByText('attempt 2 started on worker first.').waitFor();
    await go(`/runs/${id}?tab=gantt`);
    await expect.poll(() => page.locator('.gantt-row.critical a').allTextContents()).toEqual(['call', 'after']);
    await expect.poll(() => page.locator('.gantt-row.critical').first().locator('.tone-fill-bad').count()).toBe(1);
  });

  test('two runs are compared: how long each took, and what differs first', async () => {
    const { page, go } = admin;
    isBroken = false;
    await deploy('night', [
      { name: 'load', handler: 'night' },
      { name: 'tell', handler: 'echo', needs: ['load'] },
    ]);
    const good = await ended('night');
    isBroken = true;
    const bad = await ended('night');
    await go(`/runs/${bad}?tab=compare`);
    await page.getByText(/^This run took \d+ ms, run [0-9a-f-]+ \d+ ms\.$/).waitFor();
    await page.getByText('First difference: load failed here, and succeeded there.').waitFor();
    await page.locator('.card-lead').getByRole('link').click();
    await page.waitForURL(new RegExp(`/runs/${good}$`));
  });

  test('the graph of a DAG has the states of its newest run, and folds groups', async () => {
    const { page, go } = admin;
    await go('/dags/night?tab=graph');
    await page.getByText(/^As in the newest run, [0-9a-f]{6}\. Click a task/).waitFor();
    await page.getByRole('button', { name: 'Focus on failed' }).click();
    await page.waitForURL(/focus=failed/);
    await page.getByText('2 shown').waitFor();
    const parts = ['a', 'b', 'c'].map((name) => ({ name, handler: 'echo', group: 'parts' }));
    await deploy('parted', [...parts, { name: 'end', handler: 'echo', needs: ['a', 'b', 'c'] }], {
      groups: [{ name: 'parts' }],
    });
    await go('/dags/parted?tab=graph&groups=folded&node=b');
    await page.getByRole('button', { name: 'Open parts' }).click();
    await page.waitForURL(/open=parts/);
    await page.getByRole('heading', { name: 'b', exact: true }).waitFor();
  });

  test('failed runs that fit a filter are retried together, after a preview', async () => {
    const { page, go } = admin;
    const failed = [await ended('night'), await ended('night')];
    const preview = dialog().locator('.preview li');
    const isReady = async () => !(await dialog().getByRole('button', { name: 'Retry the runs' }).isDisabled());
    await go('/dags/night?state=failed');
    await chooseForMany('Retry failed …');
    await dialog().getByText('It runs 6 tasks again in 3 runs.').waitFor();
    await expect.poll(() => preview.allTextContents()).toEqual(Array(3).fill(expect.stringMatching(/2 tasks$/)));
    await dialog().getByLabel('Created since').fill('2099-01-01T00:00');
    await dialog().getByText('No failed run fits.').waitFor();
    expect(await isReady()).toBe(false);
    await dialog().getByLabel('Created since').fill('2020-01-01T00:00');
    await dialog().getByText('It runs 6 tasks again in 3 runs.').waitFor();
    await dialog().getByLabel('Priority').selectOption('high');
    await dialog().getByText('No failed run fits.').waitFor();
    await dialog().getByLabel('Priority').selectOption('normal');
    await expect.poll(isReady).toBe(true);
    // A preview changes nothing.
    expect(await Promise.all(failed.map(outcomeOf))).toEqual(['failed', 'failed']);
    isBroken = false;
    await confirm('Retry the runs');
    await page.getByText('3 runs retried.').waitFor();
    for (const id of failed) await eventually(async () => (await outcomeOf(id)) === 'succeeded');
    await page.getByText('No run matches.').waitFor();
  });

  test('failed runs of all DAGs with a tag are retried, and those of other DAGs are not', async () => {
    const { page, go } = admin;
    isBroken = true;
    for (const name of ['dusk', 'dawn']) await deploy(name, [{ name: 'only', handler: 'night' }], { tags: ['dim'] });
    const [dusk, dawn] = [await ended('dusk'), await ended('dawn')];
    await deploy('noon', [{ name: 'only', handler: 'night' }]);
    const noon = await ended('noon');
    await go('/runs');
    await chooseForMany('Retry failed …');
    await dialog().getByRole('heading', { name: 'Retry failed runs by tag' }).waitFor();
    expect(await dialog().getByRole('button', { name: 'Retry the runs' }).isDisabled()).toBe(true);
    await dialog().getByLabel('Tag').selectOption('dim');
    await dialog().getByText('It runs 2 tasks again in 2 runs.').waitFor();
    for (const dag of ['dusk', 'dawn']) await dialog().locator('.preview li').filter({ hasText: dag }).waitFor();
    isBroken = false;
    await confirm('Retry the runs');
    await page.getByText('2 runs retried.').waitFor();
    for (const id of [dusk, dawn]) await eventually(async () => (await outcomeOf(id)) === 'succeeded');
    expect(await outcomeOf(noon)).toBe('failed');
    // Of one DAG, by the filter of the list: it has no run with this tag left to retry.
    await go('/runs?dag=dusk');
    await chooseForMany('Retry failed …');
    await dialog().getByText('No failed run fits.').waitFor();
    await page.keyboard.press('Escape');
    await dialog().waitFor({ state: 'detached' });
  });

  test('runs that fit a filter are cancelled together, after a preview', async () => {
    const { page, go } = admin;
    await deploy('jam', [{ name: 'only', handler: 'echo', queue: 'nobody' }], { maxActiveRuns: 1, tags: ['stuck'] });
    const ids = [await submit('jam'), await submit('jam'), await submit('jam')];
    const preview = dialog().locator('.preview li');
    await go('/dags/jam?state=queued');
    await chooseForMany('Cancel runs …');
    await dialog().getByText('It cancels 2 runs.').waitFor();
    await dialog().getByLabel('Which runs').selectOption('Queued and running');
    await dialog().getByText('It cancels 3 runs.').waitFor();
    await expect.poll(() => preview.count()).toBe(3);
    await dialog().getByLabel('Priority').selectOption('low');
    await dialog().getByText('No run fits.').waitFor();
    expect(await dialog().getByRole('button', { name: 'Cancel the runs' }).isDisabled()).toBe(true);
    await dialog().getByLabel('Priority').selectOption('Any');
    await dialog().getByLabel('Which runs').selectOption('Only queued');
    await dialog().getByText('It cancels 2 runs.').waitFor();
    expect(await Promise.all(ids.map(outcomeOf))).toEqual([null, null, null]);
    await confirm('Cancel the runs');
    await page.getByText('2 runs cancelled.').waitFor();
    await expect.poll(() => Promise.all(ids.map(outcomeOf))).toEqual([null, 'cancelled', 'cancelled']);
    await page.getByText('No run matches.').waitFor();
    // Without a DAG: those of all DAGs with a tag.
    await go('/runs');
    await chooseForMany('Cancel runs …');
    expect(await dialog().getByRole('button', { name: 'Cancel the runs' }).isDisabled()).toBe(true);
    await dialog().getByLabel('Tag').selectOption('stuck');
    await preview.filter({ hasText: 'jam' }).waitFor();
    await confirm('Cancel the runs');
    await page.getByText('1 run cancelled.').waitFor();
    await expect.poll(() => outcomeOf(ids[0]!)).toBe('cancelled');
    // What has ended cannot be cancelled, and what has not failed cannot be retried.
    await go('/runs?state=failed');
    await press('Many runs …');
    expect(await page.getByRole('menuitem').allTextContents()).toEqual(['Retry failed …']);
    await go('/runs?state=open');
    await press('Many runs …');
    expect(await page.getByRole('menuitem').allTextContents()).toEqual(['Change priorities …', 'Cancel runs …']);
    await go('/runs?state=succeeded');
    await page.getByRole('button', { name: 'Succeeded' }).waitFor();
    expect(await page.getByRole('button', { name: 'Many runs …' }).count()).toBe(0);
  });

  test('what holds a task is told to the innermost reason, and its run is let go first', async () => {
    const { page, go } = admin;
    await ui.rig.addWorker({ slow: handlers.slow, echo: handlers.echo } as never, {
      ...{ name: 'narrow', queues: ['narrow'], slots: 1 },
    });
    await deploy('lane', [
      { name: 'copy', handler: 'slow', queue: 'narrow' },
      { name: 'after', handler: 'echo', needs: ['copy'] },
    ]);
    const [first, second, third] = [await submit('lane'), await submit('lane'), await submit('lane')];
    const stateOf = async (id: string) =>
      ((await ui.rig.ask('GET', `/v1/runs/${id}/tasks/copy`)).body as unknown as { state: string }).state;
    await eventually(async () => (await stateOf(first)) === 'running');
    await go(`/runs/${third}/tasks/after`);
    const held = page.getByRole('region', { name: 'What holds it' });
    await page.getByRole('status').getByText('Waits for copy').waitFor();
    await expect
      .poll(() => held.locator('.why-chain li').allTextContents())
      .toEqual([
        'copy: Position 2: 1 task of queue "narrow" goes first.',
        'The only slot for queue "narrow" is in use. Queues',
      ]);
    await held.getByRole('link', { name: 'copy' }).first().click();
    await page.waitForURL(new RegExp(`/runs/${third}/tasks/copy$`));
    await page.getByRole('status').getByText('Position 2: 1 task of queue "narrow" goes first.').waitFor();
    await held.getByText(/1 task goes first, and queue "narrow" starts \S+ tasks a minute\./).waitFor();
    await held.getByText('Add workers, or slots to workers.').waitFor();
    await held.getByRole('button', { name: 'Change the priority …' }).click();
    expect(await dialog().getByRole('button', { name: 'Change the priority' }).isDisabled()).toBe(true);
    await dialog().getByLabel('Priority').selectOption('high');
    await confirm('Change the priority');
    await page.getByText('The priority of the run was normal and is high.').waitFor();
    await page.getByRole('status').getByText('The only slot for queue "narrow" is in use.').waitFor();
    await held.getByRole('button', { name: 'Change the priority …' }).waitFor({ state: 'detached' });
    await go(`/runs/${second}/tasks/copy`);
    await page.getByRole('status').getByText('Position 2').waitFor();
    expect(await findingsInBoth(page)).toEqual([]);
  });

  test('who may only look sees what holds a task, and can press nothing that helps', async () => {
    const { items } = (await ui.rig.ask('GET', '/v1/runs?dag=lane')).body;
    const second = items[1]?.id;
    const viewer = await ui.signIn('viewer');
    const isOff = (button: Locator) =>
      expect.poll(async () => [await button.isDisabled(), await button.getAttribute('title')]).toEqual([true, VIEWER]);
    await viewer.go(`/runs/${second}/tasks/copy`);
    await viewer.page.getByRole('status').getByText('Position 2').waitFor();
    await isOff(viewer.page.getByRole('button', { name: 'Change the priority …' }));
    await viewer.go('/dags/lane');
    await viewer.page.getByRole('button', { name: 'Many runs …' }).click();
    for (const name of ['Retry failed …', 'Change priorities …', 'Cancel runs …'])
      await isOff(viewer.page.getByRole('menuitem', { name }));
    await viewer.go(`/runs/${second}`);
    await viewer.page.getByRole('button', { name: 'More actions' }).click();
    await isOff(viewer.page.getByRole('menuitem', { name: 'Change the priority …' }));
    expect(viewer.complaints).toEqual([]);
    await viewer.context.close();
  });

  test('the priority of many runs changes together, after a preview; that of an ended one does not', async () => {
    const { page, go } = admin;
    await deploy('lane', [{ name: 'copy', handler: 'slow', queue: 'narrow' }], { tags: ['slow-lane'] });
    const runs = (await ui.rig.ask('GET', '/v1/runs?dag=lane')).body.items;
    const priorities = async () => {
      const { items } = (await ui.rig.ask('GET', '/v1/runs?dag=lane')).body as unknown as {
        items: readonly { readonly priority: string }[];
      };
      return items.map(({ priority }) => priority);
    };
    await go('/dags/lane');
    await chooseForMany('Change priorities …');
    await dialog().getByText('Priority high for 2 runs.').waitFor();
    await dialog().getByLabel('New priority').selectOption('low');
    await dialog().getByText('Priority low for 3 runs.').waitFor();
    await dialog().getByLabel('Priority', { exact: true }).selectOption('high');
    await dialog().getByText('Priority low for 1 run.').waitFor();
    await expect
      .poll(() => dialog().locator('.preview li').allTextContents())
      .toEqual([expect.stringMatching(/high → low$/)]);
    await dialog().getByLabel('Created since').fill('2099-01-01T00:00');
    await dialog().getByText('No run fits.').waitFor();
    expect(await dialog().getByRole('button', { name: 'Change the priorities' }).isDisabled()).toBe(true);
    await dialog().getByLabel('Created since').fill('');
    await dialog().getByText('Priority low for 1 run.').waitFor();
    expect(await priorities()).toEqual(['high', 'normal', 'normal']);
    await confirm('Change the priorities');
    await page.getByText('1 run changed to low.').waitFor();
    await expect.poll(priorities).toEqual(['low', 'normal', 'normal']);
    // Without a DAG: those of all DAGs with a tag.
    await go('/runs?state=open');
    await chooseForMany('Change priorities …');
    await dialog().getByLabel('Tag').selectOption('slow-lane');
    await dialog().locator('.preview li').filter({ hasText: 'lane' }).first().waitFor();
    await dialog().getByText('Priority high for 3 runs.').waitFor();
    await confirm('Change the priorities');
    await page.getByText('3 runs changed to high.').waitFor();
    await expect.poll(priorities).toEqual(['high', 'high', 'high']);
    await go(`/runs/${runs[0]?.id}`);
    await page.getByText('Priority high').waitFor();
    for (const { id } of runs) await ui.rig.ask('POST', `/v1/runs/${id}/cancel`, { force: true });
    await page.getByRole('heading', { name: 'Cancelled', level: 1 }).waitFor();
    await press('More actions');
    const item = page.getByRole('menuitem', { name: 'Change the priority …' });
    expect([await item.isDisabled(), await item.getAttribute('title')]).toEqual([true, 'The run has ended.']);
    await page.keyboard.press('Escape');
  });

  test('runs of one batch can be told apart', async () => {
    const { page, go } = admin;
    await ui.rig.ask('POST', '/v1/dags/flaky/runs/batch', { runs: [{}, {}, {}] });
    await go('/dags/flaky');
    await expect.poll(() => page.locator('td a.mono').count()).toBe(4);
    const names = await page.locator('td a.mono').allTextContents();
    expect(new Set(names).size).toBe(4);
  });

  test('events are narrowed by dag and kind, which the address keeps', async () => {
    const { page, go } = admin;
    await go('/events?from=start');
    const rows = page.getByRole('table', { name: 'Events' });
    await rows.getByText('attempt.ended').first().waitFor();
    await page.getByLabel('Only this kind').selectOption('run.ended');
    await page.getByLabel('Only events of this DAG').fill('crawl');
    await page.keyboard.press('Enter');
    await page.waitForURL(/dag=crawl/);
    await expect.poll(() => rows.getByText('run.ended').count()).toBe(1);
    await page.reload();
    await expect.poll(() => rows.getByText('run.ended').count()).toBe(1);
    await press('Pause');
    await ended('crawl');
    await press('Resume');
    await expect.poll(() => rows.getByText('run.ended').count()).toBe(2);
  });

  test('what a task waits for is a sentence that leads there', async () => {
    const { page, go } = admin;
    await ui.rig.ask('PUT', '/v1/limits/pool:line', { slots: 0 });
    await deploy('piped', [{ name: 'send', handler: 'echo', pool: { name: 'line', slots: 1 } }]);
    const id = await submit('piped');
    await go(`/runs/${id}/tasks/send`);
    await page.getByRole('status').filter({ hasText: 'Pool "line"' }).getByRole('link', { name: 'Limits' }).click();
    await page.waitForURL(/\/limits$/);
    await ui.rig.ask('POST', `/v1/runs/${id}/pause`, {});
    await go(`/runs/${id}`);
    // In the viewer's words: no token:…, and a local time.
    await page.getByText(/^The run is paused, by admin since \d\d:\d\d:\d\d\.$/).waitFor();
    await ui.rig.ask('POST', `/v1/runs/${id}/cancel`, {});
  });

  test('calls that nobody answers are listed, sent again, and their secret is for admins', async () => {
    const { page, go } = admin;
    await go('/callbacks');
    await page.getByText('No calls yet.').waitFor();
    await deploy('calling', [{ name: 'only', handler: 'echo' }], { callbackUrl: 'http://127.0.0.1:9/ended' });
    await ended('calling');
    await row('calling').getByText('127.0.0.1:9').waitFor();
    // The server calls no address of its own network, and gives up at once.
    await row('calling')
      .getByText(/SIGNALBOX_CALLBACK_ALLOW/)
      .waitFor();
    await page.getByLabel('Only calls in this state').selectOption('answered');
    await page.getByText('No call is in this state.').waitFor();
    await page.getByLabel('Only calls in this state').selectOption('All calls');
    const again = row('calling').getByRole('button', { name: /^Send again/ });
    await eventually(() => again.isEnabled());
    await again.click();
    await page.getByText(/^The calls of run [0-9a-f]+ are sent again\.$/).waitFor();
    await press('Show the secret …');
    await dialog()
      .locator('pre')
      .getByText(/\S{20,}/)
      .waitFor();
    await dialog().getByText('signalbox-signature').waitFor();
    await dialog().getByLabel('Close').click();
    const viewer = await ui.signIn('viewer');
    await viewer.go('/callbacks');
    const button = viewer.page.getByRole('button', { name: 'Show the secret …' });
    await button.waitFor();
    expect(await button.isDisabled()).toBe(true);
    await viewer.context.close();
  });

  test('a queue is scaled in: the least busy worker leaves', async () => {
    const { page, go } = admin;
    await ui.rig.addWorker({ echo: () => null }, { name: 'spare-a', queues: ['spare'] });
    await ui.rig.addWorker({ echo: () => null }, { name: 'spare-b', queues: ['spare'] });
    await go('/queues');
    await row('spare').getByText('2 workers').waitFor();
    await press('Scale in spare');
    await dialog().getByLabel('Workers that stay').fill('one');
    await dialog().getByText('must be a whole number, 0 or more').waitFor();
    await dialog().getByLabel('Workers that stay').fill('1');
    await confirm('Drain 1 worker');
    await page.getByText(/^Draining spare-[ab]\.$/).waitFor();
    await row('spare').getByText('1 worker', { exact: true }).waitFor();
  });

  test('a token for the first admin of a new tenant is created in the page', async () => {
    const { page, go } = admin;
    await ui.rig.ask('POST', '/v1/tenants', { name: 'team-new' });
    await go('/system');
    await press('New token …');
    await dialog().getByLabel('Name', { exact: true }).fill('first-admin');
    await dialog().getByLabel('Role').selectOption('admin');
    await dialog().getByLabel('Tenant').selectOption('team-new');
    await confirm('Create token');
    const token = (await dialog().locator('pre').textContent()) ?? '';
    const answer = await ui.rig.ask('GET', '/v1/session', undefined, { headers: { authorization: `Bearer ${token}` } });
    expect(answer.body).toMatchObject({ tenant: 'team-new', role: 'admin' });
    await page.keyboard.press('Escape');
  });

  test('code and values are coloured, and are text', async () => {
    const { page, go } = admin;
    await deploy('coloured', [{ name: 'only', run: `echo '${HOSTILE}'` }]);
    await go('/dags/coloured?tab=code');
    await page.locator('.code-key', { hasText: '"tasks"' }).waitFor();
    await page.getByText('<img src=x').first().waitFor();
    expect(await page.evaluate('window.hacked')).toBeUndefined();
  });

  test('hostile text of workers, credentials, callbacks, freezes, breakers, backfills and settings is text', async () => {
    const name = HOSTILE.slice(0, 150);
    await ui.rig.ask('PUT', '/v1/limits/pool:shut', { slots: 0 });
    await deploy('held', [
      { name: 'send', handler: 'echo', pool: { name: 'shut', slots: 1 } },
      { name: 'after', handler: 'echo', needs: ['send'] },
    ]);
    const key = { concurrency: { key: '${{ params.of }}', limit: 1 } };
    await deploy('keyed', [{ name: 'only', handler: 'echo', queue: 'nobody' }], key);
    const keyed: string[] = [];
    for (const _ of ['holds the key', 'waits for it'])
      keyed.push((await ui.rig.ask('POST', '/v1/dags/keyed/runs', { params: { of: HOSTILE } })).body.id);
    await ui.rig.ask('PUT', '/v1/freezes/dag:held', { reason: HOSTILE });
    const frozen = await submit('held');
    const schema = { type: 'object', properties: { day: { type: 'string', description: HOSTILE } } };
    await deploy('odd', [{ name: 'only', handler: 'echo' }], {
      ...{ params: schema, description: HOSTILE, callbackUrl: `http://127.0.0.1:9/${encodeURIComponent(HOSTILE)}` },
      schedule: { cron: '0 0 * * *' },
    });
    await ui.rig.ask('POST', '/v1/dags/odd/backfills', { from: '2026-01-01T00:00:00Z', to: '2026-01-03T00:00:00Z' });
    await ended('odd');
    await ui.rig.addWorker({ echo: () => null }, { name, queues: [name] });
    await ui.rig.ask('POST', '/v1/tokens', { name: 'odd', role: 'viewer' });
    // What is checked at the door is text all the same if it came another way.
    await eventually(async () => Number((await ui.rig.sql('select count(*) as n from callback'))[0]?.n) > 0);
    for (const change of [
      'update callback set url = $1, last_error = $1',
      "update api_token set name = $1, created_by = $1 where name = 'odd'",
      `insert into audit_event (tenant_id, actor, action, target, origin, outcome)
        select tenant_id, $1, 'token.created', $1, $1, 'done' from dag where name = 'odd'`,
      'update backfill set reason = $1, actor = $1',
      'update dag_version set actor = $1',
      `insert into breaker (shard, dag_id, fingerprint, tenant_id, state, pause_ms, opened_at, since, error)
        select shard, dag_id, 7, tenant_id, 1, 1000, 0, 0, $1 from dag where name = 'odd'`,
    ]) {
      await ui.rig.sql(change.replaceAll('$1', `'${HOSTILE}'`));
    }
    const paths = [
      ...['/limits', `/runs/${frozen}`, `/runs/${frozen}/tasks/send`, `/runs/${frozen}/tasks/after`],
      ...[`/runs/${keyed[1]}`, `/runs/${keyed[1]}/tasks/only`, '/workers', '/queues', '/system', '/callbacks'],
      ...['/backfills', '/breakers', '/dags/odd?tab=settings', '/dags/odd?tab=versions', '/dags/odd?tab=backfills'],
    ];
    expect(await harmedByText(admin, paths)).toEqual([]);
    await ui.rig.sql('delete from breaker where fingerprint = 7');
    for (const id of [frozen, ...keyed]) await ui.rig.ask('POST', `/v1/runs/${id}/cancel`, {});
    await ui.rig.ask('DELETE', '/v1/freezes/dag:held');
    await ui.rig.ask('DELETE', '/v1/limits/pool:shut');
    expect(admin.complaints).toEqual([]);
  });

  test.each([
    ['/dags/night', 'Many runs … > Retry failed …'],
    ['/dags/night', 'Many runs … > Cancel runs …'],
    ['/dags/night', 'Many runs … > Change priorities …'],
    ['/runs', 'Many runs … > Retry failed …'],
    ['/queues', 'Scale in default'],
    ['/callbacks', 'Show the secret …'],
    ['/limits', 'New limit …'],
    ['/limits', 'Freeze …'],
    ['/system', 'New token …'],
    ['/', 'Go to … Ctrl K'],
  ])('%s: what opens by "%s" has no serious finding of axe', async (path, way) => {
    expect(await findingsInDialog(admin, path, way)).toEqual([]);
  });

  const newestCrawl = async () => (await ui.rig.ask('GET', '/v1/runs?dag=crawl&limit=1')).body.items[0]?.id;

  // Other pages are tested with other data.
  test('callbacks and items of a map have no serious finding of axe, light and dark', async () => {
    for (const path of ['/callbacks', `/runs/${await newestCrawl()}/tasks/read?items=failed`]) {
      await openWhole(admin, path);
      expect([path, await findingsInBoth(admin.page)]).toEqual([path, []]);
    }
  });

  test('on a phone queues, limits and callbacks have everything within the screen', async () => {
    const pressed = [
      ['/queues', 'Scale in default'],
      ['/limits', /^Remove/],
      ['/callbacks', /^Send again/],
      ['/dags/night', 'Many runs …'],
      ['/runs', 'Many runs …'],
      ['/dags', /^Trigger/],
    ] as const;
    expect(await outsideOfPhone(admin, pressed)).toEqual([]);
    expect(admin.complaints).toEqual([]);
  });
});
