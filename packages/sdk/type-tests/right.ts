/** Compiles: what authors write, and the types that come out of it. */
import { dag, type HandlerContext, type Ref, secret, type Task } from '@signalbox/sdk';
import { testRun } from '@signalbox/sdk/testing';

export const coffee = dag<{ cups: number }>('coffee', { schedule: { cron: '0 7 * * *' } }, ({ task, params }) => {
  const grind = task('grind', ({ params }) => ({ grams: 16 * params.cups }));
  const brew = task(
    'brew',
    { inputs: { grams: grind.output.grams }, timeout: '30s', retries: { maxAttempts: 3 } },
    ({ inputs }) => `coffee of ${inputs.grams.toFixed()} g`,
  );
  const text: Task<string> = brew;
  task('serve', { needs: [grind, text], inputs: { cups: params.cups } }, ({ inputs }) => inputs.cups * 2);
});

export const unwrapped = dag('unwrapped', ({ task }) => {
  const fetched = task('fetch', async () => ({
    at: new Date(),
    rows: [{ id: 1 }],
    note: undefined as string | undefined,
  }));
  const at: Ref<string> = fetched.output.at; // through JSON
  const id: Ref<number> = fetched.output.rows[0]!.id;
  const note: Ref<string | undefined> = fetched.output.note;
  task('use', { inputs: { at, id, note, rows: fetched.output.rows } }, ({ inputs }) => {
    const rows: readonly { id: number }[] = inputs.rows;
    return `${inputs.at.toUpperCase()} ${inputs.id.toFixed()} ${inputs.note ?? ''} ${rows.length}`;
  });
  const nothing = task('nothing', () => {});
  const none: Ref<null> = nothing.output;
  task('after', { inputs: { none } }, ({ inputs }) => inputs.none === null);
});

const load = async ({ inputs }: HandlerContext<{ grams: number; label?: string }>) => inputs.grams;

export const separate = dag('separate', ({ task }) => {
  const grind = task('grind', () => ({ grams: 1 }));
  task('load', { inputs: { grams: grind.output.grams } }, load);
  task('literal', { inputs: { grams: 3, label: 'x' } }, load);
});

export const outside = dag(
  'outside',
  { on: { event: 'order' }, maxActiveRuns: 2, priority: 'low' },
  ({ process, http, task }) => {
    const extract = process<{ rows: number }>('extract', {
      run: ['node', 'x.mjs'],
      env: { KEY: secret('KEY') },
      cwd: '/',
    });
    const told = http<{ ok: boolean }>('tell', { url: 'https://example.com', method: 'POST', needs: [extract] });
    task('end', { inputs: { rows: extract.output.rows, ok: told.output.body.ok }, inProcess: true }, ({ inputs }) =>
      inputs.ok ? inputs.rows + 1 : 0,
    );
  },
);

export const loose = dag('loose', ({ task }) => {
  const parsed = task('parse', () => JSON.parse('{}'));
  task(
    'use',
    { inputs: { deep: parsed.output.any.thing } },
    ({ inputs }: HandlerContext<{ deep: string }>) => inputs.deep,
  );
  const unknown = task('unknown', (): unknown => 1);
  task('look', { inputs: { it: unknown.output } }, ({ inputs }) => String(inputs.it));
  const maybe = task('maybe', () => (Math.random() > 2 ? { n: 1 } : null));
  task('see', { inputs: { n: maybe.output.n } }, ({ inputs }) => (inputs.n ?? 0).toFixed());
});

export const tried = testRun(coffee, { params: { cups: 2 }, stubs: { brew: ({ inputs }) => inputs.grams } });

export const mapped = dag<{ days: string[] }>('mapped', { maxMapSize: 50_000 }, ({ task, map, group, params }) => {
  const list = task('list', () => ({ files: [{ path: 'a', size: 1 }] }));
  const load = task('load', { map: list.output.files, timeout: '1m' }, ({ item, index }) => ({
    rows: item.size + index,
    name: item.path.toUpperCase(),
  }));
  task('again', { map: load.output }, ({ item }) => item.rows.toFixed());
  const rows: Ref<number[]> | { readonly rows: number } = { rows: 1 };
  task('sum', { inputs: { rows: load.output.rows, all: load.output } }, ({ inputs }) => {
    const names: string[] = inputs.all.map(({ name }) => name);
    return inputs.rows.reduce((sum, each) => sum + each, rows.rows) + names.length;
  });
  task('days', { map: params.days }, ({ item }) => item.trim());
  task('fixed', { map: [1, 2] }, ({ item }) => item.toFixed());
  task('crossed', { map: { over: { file: list.output.files, day: params.days, n: [1] }, mode: 'zip' } }, ({ item }) => {
    return `${item.file.path} ${item.day.trim()} ${item.n.toFixed()}`;
  });

  const done = map('each-file', list.output.files, ({ item, index, task, process, map }) => {
    const fetched = task('fetch', { inputs: { path: item.path, no: index } }, ({ inputs, item }) => ({
      text: inputs.path.repeat(inputs.no + item.size),
      parts: [{ id: 1 }],
    }));
    const part = map('each-part', fetched.output.parts, ({ item: inner, task }) =>
      task('part', { inputs: { id: inner.id, path: item.path } }, ({ inputs }) => inputs.id + inputs.path.length),
    );
    const counted = process<{ lines: number }>('count', { run: 'wc', inputs: { path: item.path } });
    task('close', { inputs: { ids: part.output } }, ({ inputs }) => inputs.ids.map((id) => id.toFixed()));
    return { fetched, part, counted };
  });
  const gathered = group('end', ({ task }) =>
    task('gather', { inputs: { texts: done.fetched.output.text, ids: done.part.output } }, ({ inputs }) => {
      return inputs.texts.map((text) => text.trim()).length + inputs.ids.map((id) => id.toFixed()).length;
    }),
  );
  task('after', { needs: [done.counted, load], inputs: { n: gathered.output } }, ({ inputs }) => inputs.n.toFixed());
});

export const region = dag<{ region: string; day?: string }, { load: { rows: number } }>('region', ({ task }) => {
  task('load', ({ params }) => ({ rows: params.region.length }));
});

export const regions = dag<{ day: string }>('regions', ({ child, task, params }) => {
  const north = child('north', { dag: region, inputs: { region: 'north', day: params.day }, timeout: '1h' });
  const rows: Ref<number> = north.output.load.rows;
  const later = child('later', { dag: region, inputs: { region: 'south' }, wait: false, needs: [north] });
  const id: Ref<string> = later.output.run;
  const named = child<{ last: string }>('named', { dag: 'other', inputs: { any: rows } });
  child('loose', { dag: coffee, inputs: { cups: 1 } });
  child('none', { dag: unwrapped });
  task('sum', { inputs: { rows, id, last: named.output.last } }, ({ inputs }) => inputs.rows + inputs.last.length);
});

dag<{ day: string }>('missing-upstream', ({ task, params, run, window }) => {
  const count = task('count', () => ({ n: 3, list: [1] }));
  task('strict', { inputs: { n: count.output.n } }, ({ inputs }) => inputs.n.toFixed());
  task('said', { rule: 'all_success', inputs: { n: count.output.n } }, ({ inputs }) => inputs.n.toFixed());
  const after = task(
    'lax',
    {
      rule: 'all_done',
      inputs: { n: count.output.n, first: count.output.list[0]!, day: params.day, unit: 'g', run: run.id },
    },
    ({ inputs }) =>
      `${inputs.n?.toFixed() ?? 'none'}${inputs.first?.toFixed()}${inputs.day.trim()}${inputs.unit.trim()}${inputs.run.trim()}`,
  );
  task('next', { inputs: { text: after.output } }, ({ inputs }) => inputs.text.trim());
  task('on-schedule', { inputs: { at: window.at, created: run.createdAt } }, ({ inputs }) =>
    (inputs.at ?? inputs.created).slice(0, 10),
  );
});

const workdays = { weekdays: ['MON', 'TUE', 'WED', 'THU', 'FRI'], exclude: ['12-25'], ical: 'holidays.ics' } as const;
dag(
  'crons',
  { schedule: { cron: ['0 9 * * MON-FRI', '0 12 * * SAT'], jitter: '5m' } },
  ({ task }) => void task('t', () => 1),
);
dag(
  'interval',
  { schedule: { every: '90m', anchor: '2027-01-01T09:00', limit: 3 } },
  ({ task }) => void task('t', () => 1),
);
dag('times', { schedule: { at: ['2027-01-01T09:00'], zone: 'Asia/Tokyo' } }, ({ task }) => void task('t', () => 1));
dag(
  'workdays',
  { schedule: { cron: '@daily', calendar: { ...workdays, weekdays: [...workdays.weekdays], exclude: [] } } },
  ({ task }) => void task('t', () => 1),
);
