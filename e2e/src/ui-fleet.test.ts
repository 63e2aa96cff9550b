/** The web UI in a real browser, sixth part: workers and what they offer, quotas of tenants, and owners of dags. */
import { eventually } from '@signalbox/server/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  chromium,
  findingsInBoth,
  findingsInDialog,
  HOSTILE,
  openWhole,
  outsideOfPhone,
  type SignedIn,
  startUiRig,
  UI_TEST_MS,
  type UiRig,
} from './ui-rig.ts';

const VIEWER = 'Your role is viewer: it may look, but not change anything.';

interface Context {
  readonly signal: AbortSignal;
  readonly checkpoint: { get(): unknown; set(value: unknown): Promise<void> };
}

/** Saves a checkpoint and waits to be stopped; one that finds a checkpoint returns it. */
const counting = async ({ checkpoint, signal }: Context): Promise<unknown> => {
  const known = checkpoint.get();
  if (known !== null) return known;
  await checkpoint.set({ page: 7 });
  return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error)));
};

describe.skipIf(chromium === null)('the web UI', { timeout: UI_TEST_MS }, () => {
  let ui: UiRig;
  let admin: SignedIn;

  beforeAll(async () => {
    ui = await startUiRig();
    await ui.rig.addWorker({ echo: () => null }, { name: 'plain' });
    await ui.rig.ask('POST', '/v1/tenants', { name: 'team-a' });
    await deploy('orders', [{ name: 'only', handler: 'echo' }], { owner: 'team-shop' });
    admin = await ui.signIn();
  }, 120_000);

  afterAll(() => ui?.stop());

  const dialog = () => admin.page.getByRole('dialog');
  const press = (name: string) => admin.page.getByRole('button', { name, exact: true }).click();
  const confirm = (name: string) => dialog().getByRole('button', { name, exact: true }).click();
  const row = (text: string) => admin.page.locator('tbody tr').filter({ hasText: text });
  const deploy = (name: string, tasks: readonly object[], more: object = {}) =>
    ui.rig.ask('PUT', `/v1/dags/${name}`, { name, tasks, ...more });
  const submit = async (dag: string): Promise<string> => (await ui.rig.ask('POST', `/v1/dags/${dag}/runs`, {})).body.id;
  const taskOf = async (run: string, name: string) => (await ui.rig.ask('GET', `/v1/runs/${run}/tasks/${name}`)).body;
  const addWorker = (name: string, options: object) =>
    ui.rig.addWorker({ counting }, { name, queues: ['training'], slots: 4, ...options });

  test('workers show what is free, their labels and that they are spot workers', async () => {
    const { page, go } = admin;
    await addWorker('gpu-1', { resources: { cpu: 8, memory: '32GiB', gpu: 2 }, labels: { disk: 'ssd' } });
    await addWorker('spot-1', { resources: { cpu: 4 }, labels: { spot: 'true', zone: 'eu-2' } });
    await deploy('train', [
      { name: 'fit', handler: 'counting', queue: 'training', resources: { cpu: 2, memory: '8GiB', gpu: 1 } },
    ]);
    await go('/workers');
    await row('gpu-1').getByText('8 of 8 cpu').waitFor();
    await row('gpu-1').getByText('disk=ssd').waitFor();
    await row('spot-1').getByText('spot', { exact: true }).waitFor();
    await row('spot-1').getByText('zone=eu-2').waitFor();
    expect(await row('spot-1').getByText('spot=true').count()).toBe(0);
    expect(await row('gpu-1').getByText('spot', { exact: true }).count()).toBe(0);
    const run = await submit('train');
    for (const text of ['6 of 8 cpu', '24 GiB of 32 GiB memory', '1 of 2 gpu'])
      await row('gpu-1').getByText(text, { exact: true }).waitFor();
    await ui.rig.ask('POST', `/v1/runs/${run}/cancel`, {});
    await row('gpu-1').getByText('8 of 8 cpu').waitFor();
    expect(await page.locator('tbody tr').count()).toBe(3);
  });

  test('a task without a fitting worker says what is missing, and its definition what it asks for', async () => {
    const { page, go } = admin;
    const asked = { resources: { cpu: 2, memory: '64GiB' }, labels: { disk: 'tape' } };
    await deploy('archive', [{ name: 'pack', handler: 'counting', queue: 'training', ...asked, spot: 'never' }]);
    const unfit = await submit('archive');
    await go(`/runs/${unfit}/tasks/pack`);
    const reason = page.getByRole('status');
    await reason.getByText('No worker of queue "training" offers label disk=tape').waitFor();
    await page.getByText('2 cpu, 64 GiB of memory', { exact: true }).waitFor();
    await page.getByText('disk=tape, that are not spot workers', { exact: true }).waitFor();
    const help = page.getByRole('region', { name: 'What holds it' });
    await help.getByText('Ask for less, or start a worker that offers it:').waitFor();
    // A command to type, and no words after it.
    expect(await help.locator('.command').textContent()).toBe(
      'signalbox worker --resources <amounts> --labels <labels>',
    );
    await reason.getByRole('link', { name: 'Workers' }).click();
    await page.waitForURL(/\/workers$/);
    await ui.rig.ask('POST', `/v1/runs/${unfit}/cancel`, {});

    const tasks = [{ name: 'fit', handler: 'counting', queue: 'training', resources: { gpu: 2 } }];
    await deploy('large', tasks);
    const first = await submit('large');
    await eventually(async () => (await taskOf(first, 'fit')).state === 'running');
    const second = await submit('large');
    await go(`/runs/${second}/tasks/fit`);
    await reason.getByText('The task waits for 2 gpu: 1 worker fits, with at most 0 gpu free.').waitFor();
    for (const id of [first, second]) await ui.rig.ask('POST', `/v1/runs/${id}/cancel`, {});
    expect(admin.complaints).toEqual([]);
  });

  test('a worker is cordoned, uncordoned and evicted; what it ran goes on elsewhere', async () => {
    const { page, go } = admin;
    await go('/workers');
    await press('Cordon plain');
    await row('plain').getByText('cordoned').waitFor();
    await press('Uncordon plain');
    await row('plain').getByText('cordoned').waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Cordon plain', exact: true }).waitFor();

    const evicted = await addWorker('short-lived', { queues: ['spot'] });
    const only = { name: 'only', handler: 'counting', queue: 'spot', retries: { maxAttempts: 1 } };
    await deploy('counted', [only]);
    const run = await submit('counted');
    const hasSaved = async () => (await taskOf(run, 'only')) as unknown as { readonly checkpoint?: unknown };
    await eventually(async () => (await hasSaved()).checkpoint !== undefined);
    await press('Evict short-lived');
    await dialog().getByText('It takes nothing new, stops what it runs and leaves.').waitFor();
    await confirm('Keep it');
    await dialog().waitFor({ state: 'detached' });
    expect((await taskOf(run, 'only')).state).toBe('running');
    await press('Evict short-lived');
    await confirm('Evict the worker');
    await page.getByText('short-lived stops what it runs and leaves.').waitFor();
    await evicted.stopped;
    await row('short-lived').waitFor({ state: 'detached' });
    await addWorker('successor', { queues: ['spot'] });
    await eventually(async () => (await taskOf(run, 'only')).state === 'succeeded');
    await go(`/runs/${run}/tasks/only?attempt=1`);
    await page.getByText('Code evicted').waitFor();
    await page.getByText('Why this worker, and why then?').click();
    await page
      .getByText(/short-lived.* free slot/)
      .first()
      .waitFor();
    await go('/workers');
    await page.getByText('What happened to workers').click();
    const events = page.getByRole('listitem').filter({ hasText: 'short-lived' });
    await events.getByText('It left in order.').waitFor();
    await events.getByText(/ evicted it\.$/).waitFor();
    expect(admin.complaints).toEqual([]);
  });

  test('a quota is set, raised for a while with a reason, and removed; refusals are shown', async () => {
    const { page, go, complaints } = admin;
    await go('/tenants');
    await press('Quotas of team-a');
    await dialog().getByText('It has none: it may ask for as much as it likes.').waitFor();
    const done = dialog().getByRole('button', { name: 'Set the quota' });
    expect(await done.isDisabled()).toBe(true);
    await dialog().getByLabel('Hard limit').fill('many');
    await dialog().getByText('must be a whole number, 0 or more').waitFor();
    await dialog().getByLabel('Soft limit').fill('900');
    await dialog().getByLabel('Hard limit').fill('600');
    await confirm('Set the quota');
    await dialog().getByRole('alert').getByText('must not be above the hard limit').waitFor();
    // The browser says so of each refusal.
    expect(complaints.splice(0)).toEqual([expect.stringMatching(/400 .*\/quotas\/submits$/)]);
    await dialog().getByLabel('Soft limit').fill('300');
    await confirm('Set the quota');
    await page.getByText('The quota submits of team-a is changed.').waitFor();

    await press('Quotas of team-a');
    const quota = dialog().locator('tbody tr').filter({ hasText: 'runs submitted per minute' });
    await expect.poll(() => quota.locator('td').allTextContents()).toMatchObject([{}, '0', '300', '600', 'within']);
    // What holds is what is changed.
    await expect.poll(() => dialog().getByLabel('Soft limit').inputValue()).toBe('300');
    await dialog().getByLabel('What to do').selectOption({ label: 'Raise it for a while' });
    await dialog().getByLabel('Soft limit').fill('900');
    await dialog().getByLabel('Hard limit').fill('1200');
    expect(await dialog().getByRole('button', { name: 'Raise the quota' }).isDisabled()).toBe(true);
    await dialog().getByLabel('Reason').fill('sale of the year');
    await dialog().getByLabel('For how long').fill('soon');
    await confirm('Raise the quota');
    await dialog().getByRole('alert').getByText('for').first().waitFor();
    expect(complaints.splice(0)).toEqual([expect.stringMatching(/400 .*\/quotas\/submits\/raise$/)]);
    await dialog().getByLabel('For how long').fill('6h');
    await confirm('Raise the quota');
    await dialog().waitFor({ state: 'detached' });
    await press('Quotas of team-a');
    await quota.getByText('raised until in 6 h: sale of the year').waitFor();
    await quota.getByText('900').waitFor();
    // Another one is empty until it is set, and cannot be removed before.
    await dialog().getByLabel('Quota').selectOption({ label: 'failed tasks per hour' });
    await expect.poll(() => dialog().getByLabel('Hard limit').inputValue()).toBe('');
    await dialog().getByLabel('What to do').selectOption({ label: 'Remove it' });
    expect(await dialog().getByRole('button', { name: 'Remove the quota' }).isDisabled()).toBe(true);
    await dialog().getByLabel('Quota').selectOption({ label: 'runs submitted per minute' });
    await confirm('Remove the quota');
    await dialog().waitFor({ state: 'detached' });
    await press('Quotas of team-a');
    await dialog().getByText('It has none: it may ask for as much as it likes.').waitFor();
    const { body } = await ui.rig.ask('GET', '/v1/tenants/team-a/quotas');
    expect(body.items).toEqual([]);
    await page.keyboard.press('Escape');
    expect(complaints).toEqual([]);
  });

  test('the owner of a dag is set by hand, stays when it is deployed, and is given back', async () => {
    const { page, go } = admin;
    await go('/dags/orders');
    const labels = page.locator('.page-head');
    await labels.getByText('team-shop').waitFor();
    await press('Owner …');
    expect(await dialog().getByLabel('Owner').inputValue()).toBe('team-shop');
    await dialog().getByLabel('Owner').fill('x'.repeat(400));
    await confirm('Save');
    await dialog().getByRole('alert').waitFor();
    expect(admin.complaints.splice(0)).toEqual([expect.stringMatching(/400 .*\/owner$/)]);
    await dialog().getByLabel('Owner').fill('team-data');
    await confirm('Save');
    await page.getByText('orders belongs to team-data.').waitFor();
    await labels.getByText('team-data').waitFor();
    await deploy('orders', [{ name: 'only', handler: 'echo', timeout: '5m' }], { owner: 'team-shop' });
    await page.getByText('version 2').waitFor();
    await labels.getByText('team-data').waitFor();
    await go('/dags?owner=team-data');
    await page.getByRole('link', { name: 'orders', exact: true }).click();
    await press('Owner …');
    await dialog().getByLabel('Owner').fill('');
    await confirm('Save');
    await page.getByText('orders has the owner of its definition.').waitFor();
    await labels.getByText('team-shop').waitFor();
    expect(admin.complaints).toEqual([]);
  });

  test('who may only look can neither evict a worker nor change an owner, and is told why', async () => {
    const viewer = await ui.signIn('viewer');
    const isOff = async (path: string, name: string) => {
      await viewer.go(path);
      const button = viewer.page.getByRole('button', { name, exact: true });
      await button.waitFor();
      await expect
        .poll(async () => [name, await button.isDisabled(), await button.getAttribute('title')])
        .toEqual([name, true, VIEWER]);
    };
    for (const name of ['Cordon plain', 'Drain plain', 'Evict plain']) await isOff('/workers', name);
    await isOff('/dags/orders', 'Owner …');
    await viewer.go('/tenants');
    await viewer.page.getByText('Only admins of the tenant that runs the installation see this page.').waitFor();
    expect(await viewer.page.getByRole('button', { name: /Quotas/ }).count()).toBe(0);
    // Nor does an operator: quotas are for those who run the installation.
    const operator = await ui.signIn('operator');
    await operator.go('/tenants');
    await operator.page.getByText('Only admins of the tenant that runs the installation see this page.').waitFor();
    expect(await operator.page.getByRole('button', { name: /Quotas/ }).count()).toBe(0);
    await operator.go('/workers');
    expect(await operator.page.getByRole('button', { name: 'Evict plain' }).isDisabled()).toBe(false);
    expect([...viewer.complaints, ...operator.complaints]).toEqual([]);
    await viewer.context.close();
    await operator.context.close();
  });

  test('a quota is raised and a worker is evicted with the keyboard alone', async () => {
    const { page, go } = admin;
    const { keyboard } = page;
    const focusOn = async (name: string) => {
      const isThere = () =>
        page.evaluate(`(() => {
          const at = document.activeElement;
          return [at?.getAttribute('aria-label'), at?.textContent, at?.labels?.[0]?.textContent].includes(${JSON.stringify(name)});
        })()`);
      for (let steps = 0; steps < 120 && !(await isThere()); steps++) await keyboard.press('Tab');
      expect([name, await isThere()]).toEqual([name, true]);
    };
    await ui.rig.ask('PUT', '/v1/tenants/team-a/quotas/tasks', { hard: 10 });
    await go('/tenants');
    await row('team-a').waitFor();
    await focusOn('Quotas of team-a');
    await keyboard.press('Enter');
    await dialog().locator('tbody tr').first().waitFor();
    await focusOn('Quota');
    await keyboard.type('tasks at');
    await focusOn('What to do');
    await keyboard.type('Raise');
    await focusOn('Hard limit');
    await keyboard.press('Control+a');
    await keyboard.type('40');
    await focusOn('Reason');
    await keyboard.type('a long night');
    await focusOn('Raise the quota');
    await keyboard.press('Enter');
    await dialog().waitFor({ state: 'detached' });
    const { body } = await ui.rig.ask('GET', '/v1/tenants/team-a/quotas');
    expect(body.items).toMatchObject([{ quota: 'tasks', raise: { hard: 40, reason: 'a long night' } }]);

    const leaving = await addWorker('leaving', { queues: ['elsewhere'] });
    await go('/workers');
    await row('leaving').waitFor();
    await focusOn('Evict leaving');
    await keyboard.press('Enter');
    await dialog().waitFor();
    await keyboard.press('Escape');
    await dialog().waitFor({ state: 'detached' });
    await focusOn('Evict leaving');
    await keyboard.press('Enter');
    await dialog().waitFor();
    await focusOn('Evict the worker');
    await keyboard.press('Enter');
    await leaving.stopped;
  });

  test('hostile text in labels and in reasons of quotas is text', async () => {
    const { page, go, complaints } = admin;
    const text = HOSTILE.slice(0, 150);
    await addWorker('odd', { queues: ['odd'], labels: { note: text } });
    const raise = { hard: 50, for: '1h', reason: text };
    expect((await ui.rig.ask('POST', '/v1/tenants/team-a/quotas/tasks/raise', raise)).status).toBe(200);
    await go('/workers');
    await row('odd').getByText('<img src=x').waitFor();
    expect(await page.evaluate('document.documentElement.scrollWidth > innerWidth')).toBe(false);
    await go('/tenants');
    await press('Quotas of team-a');
    await dialog().getByText('<img src=x').waitFor();
    expect(await page.evaluate('window.hacked')).toBeUndefined();
    expect(complaints).toEqual([]);
  });

  test.each(['/workers', '/tenants', '/dags/orders'])(
    '%s has no serious finding of axe, light and dark',
    async (path) => {
      await openWhole(admin, path);
      expect(await findingsInBoth(admin.page)).toEqual([]);
    },
  );

  test.each([
    ['/workers', 'Evict plain'],
    ['/tenants', 'Quotas of team-a'],
    ['/dags/orders', 'Owner …'],
  ])('%s: what opens by "%s" has no serious finding of axe', async (path, way) => {
    expect(await findingsInDialog(admin, path, way)).toEqual([]);
  });

  test('on a phone workers, tenants and owners have everything within the screen', async () => {
    const pressed = [
      ['/workers', 'Evict plain'],
      ['/tenants', 'Quotas of team-a'],
      ['/dags/orders', 'Owner …'],
      ['/dags', 'Trigger orders'],
    ] as const;
    expect(await outsideOfPhone(admin, pressed)).toEqual([]);
  });
});
