/** The web UI in a real browser, second part: every action, by keys alone, and what a viewer may not do. */
import { createHash } from 'node:crypto';
import { eventually } from '@signalbox/server/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { chromium, type SignedIn, seriousFindings, startUiRig, UI_TEST_MS, type UiRig } from './ui-rig.ts';

const HOSTILE = '<img src=x onerror="window.hacked=1"> "\'&lt;script&gt;';
/** What terminals obey, in both codings, and a character that turns text around. */
const TRICKS = 'abc\u202egnp\u001b[31mred\u001b[2J\u009b8m.exe';
const TRACE = `Error: no\n${Array.from({ length: 9 }, (_, no) => `    at frame${no} (file.ts:${no})`).join('\n')}\nend`;

describe.skipIf(chromium === null)('the web UI', { timeout: UI_TEST_MS }, () => {
  let ui: UiRig;
  let admin: SignedIn;
  const waiting = new Set<() => void>();
  let talk: ((lines: readonly string[]) => void) | null = null;

  beforeAll(async () => {
    ui = await startUiRig();
    await ui.rig.addWorker({
      echo: ({ params }: { params: unknown }) => params,
      hold: ({ signal }: { signal: AbortSignal }) =>
        new Promise<void>((resolve, reject) => {
          waiting.add(resolve);
          signal.addEventListener('abort', () => reject(signal.reason));
        }),
      fail: () => {
        throw new Error(HOSTILE);
      },
      // Says what it is told, until it is told nothing.
      talk: ({ log }: { log: { info(text: string): void; error(text: string): void } }) =>
        new Promise<void>((resolve) => {
          talk = (lines) => {
            for (const line of lines) {
              if (line.startsWith('Error')) log.error(line);
              else log.info(line);
            }
            if (lines.length === 0) resolve();
          };
        }),
      trick: () => {
        throw new Error(TRICKS);
      },
      save: async ({ checkpoint }: { checkpoint: { set(value: unknown): Promise<void> } }) => {
        await checkpoint.set({ rowsDone: 4711 });
      },
    });
    const chain = (name: string, handler: string, more: object = {}) => ({
      name,
      tasks: [
        { name: 'first', handler: 'echo' },
        { name: 'second', handler, needs: ['first'] },
        { name: 'third', handler: 'echo', needs: ['second'] },
      ],
      ...more,
    });
    for (const dag of [
      chain('held', 'hold'),
      chain('plain', 'echo', { tags: ['billing'], owner: HOSTILE }),
      chain('broken', 'fail', { tags: ['nightly'] }),
      { name: 'saving', tasks: [{ name: 'only', handler: 'save' }] },
      {
        name: 'grouped',
        groups: [{ name: 'load' }],
        tasks: [
          { name: 'start', handler: 'echo' },
          ...['a', 'b', 'c'].map((name) => ({ name, handler: 'echo', group: 'load', needs: ['start'] })),
          { name: 'end', handler: 'echo', needs: ['a', 'b', 'c'] },
        ],
      },
    ])
      await ui.rig.ask('PUT', `/v1/dags/${dag.name}`, dag);
    admin = await ui.signIn();
  }, 120_000);

  afterAll(() => ui?.stop());

  const started = async (dag: string, body: object = {}): Promise<string> =>
    (await ui.rig.ask('POST', `/v1/dags/${dag}/runs`, body)).body.id;
  const ended = async (dag: string, body: object = {}): Promise<string> => {
    const id = await started(dag, body);
    await eventually(async () => (await ui.rig.ask('GET', `/v1/runs/${id}`)).body.state === 'ended');
    return id;
  };
  const choose = async (name: string) => {
    await admin.page.getByRole('button', { name: 'More actions', exact: true }).click();
    await admin.page.getByRole('menuitem', { name, exact: true }).click();
  };
  const confirm = (name: string) => admin.page.getByRole('dialog').getByRole('button', { name, exact: true }).click();
  // Of the page, not of a dialog: "Mark load as failed" is not yet "Failed".
  const heading = (name: string) => admin.page.getByRole('heading', { name, level: 1 }).waitFor();

  test('a run is repeated as a whole, and again with other params', async () => {
    const { page, go } = admin;
    const id = await ended('plain', { params: { day: 1 } });
    await go(`/runs/${id}?tab=tasks`);
    await choose('Run all tasks again …');
    await page.getByRole('dialog').getByText('It touches 3 tasks').waitFor();
    await confirm('Run all again');
    await heading('Succeeded');
    await eventually(async () => {
      const { body } = await ui.rig.ask('GET', `/v1/runs/${id}/tasks/third`);
      return (body as unknown as { attempt: number }).attempt === 2;
    });
    await choose('New run with these params …');
    await page.getByRole('dialog').getByLabel('Params as JSON').fill('{"day": 2}');
    await confirm('Start run');
    await page.waitForURL((url) => !url.pathname.endsWith(id));
    await heading('Succeeded');
    await page.getByRole('link', { name: 'Params and outputs' }).click();
    await page.getByText('"day": 2').first().waitFor();
  });

  test('tasks are marked as failed and skipped, paused and resumed, and run again', async () => {
    const { page, go } = admin;
    const run = await started('held');
    await go(`/runs/${run}/tasks/third`);
    await heading('Blocked');
    await choose('Pause');
    await page.getByText('third is paused: it does not start.').waitFor();
    await choose('Resume');
    await page.getByText('third may start.').waitFor();
    await choose('Mark as skipped …');
    await confirm('Mark as skipped');
    await heading('Skipped');
    for (const release of waiting) release();
    const done = await ended('plain');
    await go(`/runs/${done}/tasks/second`);
    await choose('Mark as failed …');
    await confirm('Mark as failed');
    await heading('Failed');
    await page.getByRole('button', { name: 'Run again …' }).click();
    await page.getByRole('dialog').getByText('It touches 2 tasks').waitFor();
    await confirm('Run again');
    await heading('Succeeded');
    await page.getByRole('link', { name: 'Attempt 2' }).waitFor();
  });

  test('a checkpoint and the definition are on the page of a task', async () => {
    const { page, go } = admin;
    await go(`/runs/${await ended('saving')}/tasks/only`);
    await page.getByText('"rowsDone": 4711').waitFor();
    await page.getByRole('heading', { name: 'Definition' }).waitFor();
  });

  test('what a task was given, and what it may use, is on its page', async () => {
    const { page, go } = admin;
    const given = { inputs: { day: '${{ params.day }}', rows: '${{ tasks.first.output }}', fixed: HOSTILE } };
    await ui.rig.ask('PUT', '/v1/dags/given', {
      name: 'given',
      tasks: [
        { name: 'first', handler: 'echo' },
        { name: 'shell', run: 'true', needs: ['first'], memory: '512MiB', ...given },
      ],
    });
    await go(`/runs/${await ended('given', { params: { day: 'monday' } })}/tasks/shell`);
    const input = page.locator('section.card').filter({ has: page.getByRole('heading', { name: 'Input' }) });
    await input.locator('pre', { hasText: /^"monday"$/ }).waitFor();
    await input.locator('pre', { hasText: '"day": "monday"' }).waitFor();
    await input.getByText('<img src=x').waitFor();
    await page.getByText('512 MiB').waitFor();
  });

  test('a run is triggered and cancelled by keys alone', async () => {
    const { page, go } = admin;
    const { keyboard } = page;
    /** Tab, until the focus is on it. */
    const reach = async (name: string) => {
      for (let step = 0; step < 80; step++) {
        await keyboard.press('Tab');
        const text = await page.evaluate('document.activeElement?.textContent?.trim()');
        if (text === name) return;
      }
      throw new Error(`No key leads to ${name}.`);
    };
    await go('/');
    await heading('Home');
    await keyboard.press('Control+k');
    await keyboard.type('held');
    await page.getByRole('option', { name: 'held dag' }).waitFor();
    await keyboard.press('Enter');
    await heading('held');
    await reach('Trigger');
    await keyboard.press('Enter');
    await page.getByRole('dialog').waitFor();
    await reach('Start run');
    await keyboard.press('Enter');
    await page.waitForURL(/\/runs\//);
    await page.getByRole('button', { name: 'Cancel', exact: true }).waitFor();
    await reach('Cancel');
    await keyboard.press('Enter');
    await page.getByRole('dialog').getByText('It touches').waitFor();
    await reach('Cancel the run');
    await keyboard.press('Enter');
    await heading('Cancelled');
  });

  test('DAGs are found by tag and owner, with both in the address', async () => {
    const { page, go } = admin;
    await go('/dags');
    await page.getByLabel('Tag', { exact: true }).selectOption('nightly');
    await page.waitForURL(/tag=nightly/);
    await expect.poll(() => page.locator('.virtual-row .dag-row').count()).toBe(1);
    await page.getByRole('link', { name: 'broken', exact: true }).waitFor();
    await go('/dags');
    await page.getByLabel('Owner', { exact: true }).selectOption({ value: HOSTILE });
    await page.waitForURL(/owner=/);
    await expect.poll(() => page.locator('.virtual-row .dag-row').count()).toBe(1);
    expect(await page.evaluate('window.hacked')).toBeUndefined();
  });

  test('rates, percentiles and the calendar come from what ended', async () => {
    const { page, go } = admin;
    await ended('plain');
    await go('/dags/plain?tab=history');
    await page.getByText('100 %').first().waitFor();
    await page.getByRole('img', { name: /^Half of \d+ runs? took at most/ }).waitFor();
    await page.getByRole('button', { name: '48 hours' }).click();
    await page.waitForURL(/by=hour/);
    await page.getByText(/runs? in 26 weeks/).waitFor();
    expect(await seriousFindings(page)).toEqual([]);
    await go('/');
    await page.getByText(/runs? ended in the last 24 hours/).waitFor();
  });

  test('groups fold in the graph, and the place in it is in the address', async () => {
    const { page, go } = admin;
    const id = await ended('grouped');
    await go(`/runs/${id}`);
    await page.getByRole('button', { name: 'Fold groups' }).click();
    await page.waitForURL(/groups=folded/);
    await page.getByLabel('Find a task in the graph').fill('b');
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Open load' }).click();
    await page.waitForURL(/open=load/);
    await page.getByRole('button', { name: 'Zoom in' }).click();
    await page.waitForURL(/at=[-\d]+%2C[-\d]+%2C[\d.]+/);
  });

  test('versions show what changed in the code', async () => {
    const { page, go } = admin;
    const base = ui.rig.servers[0]?.url ?? '';
    const deploy = async (source: string) => {
      const code = `// ${source}`;
      const hash = createHash('sha256').update(code).digest('hex');
      const put = (path: string, body: string) =>
        fetch(`${base}${path}`, {
          method: 'PUT',
          headers: { authorization: `Bearer ${ui.rig.token}`, 'content-type': 'application/octet-stream' },
          body,
        });
      await put(`/v1/bundles/${hash}`, code);
      const map = { version: 3, sources: ['price.ts'], sourcesContent: [`const a = 1;\n${source}\nexport { a };`] };
      await put(`/v1/bundles/${hash}/source-map`, JSON.stringify(map));
      await ui.rig.ask('PUT', '/v1/dags/coded', {
        name: 'coded',
        bundle: hash,
        tasks: [{ name: 'only', handler: 'echo' }],
      });
    };
    await deploy('const price = 2;');
    await deploy('const price = 3;');
    await go('/dags/coded?tab=versions');
    const diff = page.getByRole('region', { name: 'Changes of price.ts' });
    await diff.getByText('const price = 3;').waitFor();
    expect(await diff.locator('.diff-removed').textContent()).toContain('const price = 2;');
    expect(await seriousFindings(page)).toEqual([]);
  });

  test('a log is folded and searched, and the address shows the same again', async () => {
    const { page, go } = admin;
    const task = { name: 'only', run: `printf '%s\\n' "$INPUT_text"`, inputs: { text: TRACE } };
    await ui.rig.ask('PUT', '/v1/dags/traced', { name: 'traced', tasks: [task] });
    const id = await ended('traced');
    await go(`/runs/${id}/tasks/only`);
    await page.locator('.log-text', { hasText: 'at frame8' }).waitFor();
    await page.getByRole('button', { name: 'Fold', exact: true }).click();
    await page.locator('.log-text', { hasText: 'at frame8' }).waitFor({ state: 'detached' });
    await page.getByRole('button', { name: '9 more' }).click();
    await page.locator('.log-text', { hasText: 'at frame8' }).waitFor();
    await page.getByLabel('Search the log').fill('frame7');
    await page.waitForURL(/find=frame7/);
    await page.reload();
    await page.getByText('1 line', { exact: true }).waitFor();
    await page.getByRole('button', { name: '9 more' }).waitFor();
    await page.getByRole('button', { name: 'Next match' }).click();
    await page.waitForURL(/line=9/);
    await go(`/runs/${id}?tab=log&line=3`);
    const marked = page.locator('.log-line.marked');
    await marked.filter({ hasText: 'at frame1' }).waitFor();
    await page.locator('.log-line', { hasText: 'at frame4' }).locator('.log-no').click();
    await marked.filter({ hasText: 'at frame4' }).waitFor();
    const download = page.waitForEvent('download');
    await page.getByRole('link', { name: 'Download' }).click();
    expect((await download).suggestedFilename()).toBe(`${id}.log`);
  });

  test('a log is followed to its end while it is written, until somebody scrolls up', async () => {
    const { page, go } = admin;
    await ui.rig.ask('PUT', '/v1/dags/talking', { name: 'talking', tasks: [{ name: 'only', handler: 'talk' }] });
    const id = await started('talking');
    const say = async (lines: readonly string[]) => {
      await eventually(() => talk !== null);
      talk?.(lines);
    };
    await say(Array.from({ length: 400 }, (_, no) => `line ${no}`));
    await go(`/runs/${id}/tasks/only`);
    const log = page.getByRole('log');
    await log.getByText('line 399').waitFor();
    expect(await page.locator('.log-line').count()).toBeLessThan(100);
    await log.getByText('line 399').hover();
    await expect.poll(() => log.getByText('line 399').getAttribute('title')).toMatch(/UTC: /);
    await say(['the bad one', 'Error: one'].concat(Array.from({ length: 400 }, (_, no) => `later ${no}`)));
    await log.getByText('later 399').waitFor();
    await page.getByRole('button', { name: 'Following' }).waitFor();
    await log.focus();
    await page.keyboard.press('Home');
    await log.getByText('line 0', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Follow', exact: true }).waitFor();
    await say(['the last one']);
    await page.getByText('803 lines, live').waitFor();
    await log.getByText('line 0', { exact: true }).waitFor();
    expect(await log.getByText('the last one').count()).toBe(0);
    await page.getByRole('button', { name: 'First error' }).click();
    await page.locator('.log-line.marked', { hasText: 'Error: one' }).waitFor();
    await page.getByRole('button', { name: 'Follow', exact: true }).click();
    await log.getByText('the last one').waitFor();
    await say([]);
    await page.getByText('803 lines, complete').waitFor();
  });

  test('who may only look can press no action on any page, and each says why', async () => {
    const failed = await ended('broken');
    const running = await started('held');
    const viewer = await ui.signIn('viewer');
    const reason = 'Your role is viewer: it may look, but not change anything.';
    for (const [path, ...names] of [
      ['/dags', 'Trigger'],
      ['/dags/plain', 'Trigger'],
      ['/dags/plain?tab=settings', 'Delete the DAG …'],
      [`/runs/${failed}`, 'Rerun from failed'],
      [`/runs/${running}`, 'Pause', 'Cancel'],
      [`/runs/${failed}/tasks/second`, 'Retry', 'Run again …'],
      ['/dead-letters', 'Replay …', 'Discard …'],
      ['/workers', 'Drain'],
    ] as const) {
      await viewer.go(path);
      for (const name of names) {
        const button = viewer.page.getByRole('button', { name: new RegExp(`^${name}`) }).first();
        await button.waitFor();
        await expect
          .poll(async () => [path, name, await button.isDisabled(), await button.getAttribute('title')])
          .toEqual([path, name, true, reason]);
      }
    }
    expect(viewer.complaints).toEqual([]);
    await viewer.context.close();
    await ui.rig.ask('POST', `/v1/runs/${running}/cancel`, {});
  });

  test('what failed with hostile words shows them as words, on every page that tells of it', async () => {
    const { page, go, complaints } = admin;
    const failed = await ended('broken');
    for (const path of [
      '/',
      '/dead-letters',
      `/runs/${failed}`,
      `/runs/${failed}?tab=timeline`,
      `/runs/${failed}/tasks/second`,
    ]) {
      await go(path);
      await page.getByText('<img src=x').first().waitFor();
    }
    expect(await page.evaluate('window.hacked')).toBeUndefined();
    expect(complaints).toEqual([]);
  });

  test('tricks with colours, cursors and directions in params, outputs, errors and descriptions do nothing', async () => {
    const { page, go } = admin;
    const tasks = [
      { name: 'first', handler: 'echo' },
      { name: 'second', handler: 'trick', needs: ['first'] },
    ];
    await ui.rig.ask('PUT', '/v1/dags/tricky', { name: 'tricky', description: 'abc\u202egnp.exe', tasks });
    const failed = await ended('tricky', { params: { text: TRICKS } });
    const [named, value] = ['abc⟨U+202E⟩gnp', 'abc⟨U+202E⟩gnp\\u001b[31mred'];
    for (const [path, shown] of [
      ['/dags?q=tricky', named],
      ['/dags/tricky', named],
      ['/', `${named}red\ufffd8m.exe`],
      ['/dead-letters?dag=tricky', `${named}red\ufffd8m.exe`],
      [`/runs/${failed}`, `${named}red\ufffd8m.exe`],
      [`/runs/${failed}?tab=timeline`, `${named}red\ufffd8m.exe`],
      [`/runs/${failed}?tab=data`, value],
      [`/runs/${failed}/tasks/first`, value],
      [`/runs/${failed}/tasks/second`, `${named}red\ufffd8m.exe`],
      ['/events?from=start&dag=tricky', 'tricky'],
    ] as const) {
      await go(path);
      await page.getByText(shown).first().waitFor();
      const raw = await page.evaluate('/[\\u202e\\u001b\\u009b]/.test(document.documentElement.outerHTML)');
      expect([path, raw]).toEqual([path, false]);
    }
  });
});
