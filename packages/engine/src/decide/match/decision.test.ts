import { expect, test } from 'vitest';
import type { ClaimDecision } from '../../model/decision.ts';
import type { Amounts, WorkerTraits } from '../../model/placement.ts';
import { type Scenario, scenario } from '../../testing/scenario.ts';
import { dag, task } from '../../testing/specs.ts';

const has = (resources: Amounts, labels: Record<string, string> = {}): WorkerTraits => ({
  slots: 4,
  resources,
  labels,
});

const lendAll = (box: Scenario, name: string, traits: WorkerTraits) =>
  box.lend(box.worker(name), traits.slots, true, 0, { traits, room: traits.resources, isWhole: true });

const told = (box: Scenario): (ClaimDecision | null)[] =>
  box.effects.flatMap((effect) => (effect.kind === 'SendAssignment' ? [effect.decision] : []));

test('a placed task tells which workers had room, the best first, and what each had', () => {
  const box = scenario({
    dag: dag([task('first'), task('job', [0], { placement: { resources: { cpu: 1_000 } } })]),
    workers: ['small', 'large', 'tiny'],
  });
  lendAll(box, 'large', has({ cpu: 8_000 }));
  const [attempt] = box.worker('large').assigned;
  lendAll(box, 'small', has({ cpu: 2_000 }));
  lendAll(box, 'tiny', has({ cpu: 500 }));
  box.report(box.attemptOf(attempt!), 'succeeded');
  expect(told(box)[1]).toEqual({
    kind: 'placed',
    priority: 'normal',
    queue: 'default',
    request: { resources: { cpu: 1_000 }, labels: {}, exclusive: false, noSpot: false },
    waiting: 1,
    dags: 1,
    tenants: 1,
    workers: 3,
    fitting: 2,
    candidates: [
      { workerId: 'small', score: 0.5, slots: 4, room: { cpu: 2_000 } },
      { workerId: 'large', score: 7 / 8, slots: 3, room: { cpu: 8_000 } },
    ],
    limits: [],
    loan: 'standing',
    slotCameFree: false,
  });
  expect(box.effects.at(-1)).toMatchObject({ kind: 'SendAssignment', workerId: 'small' });
});

test.each(['worst', 'best'])(
  'no more than eight workers are told, those that are best, also with the %s first',
  (first) => {
    const workers = ['plain', ...Array.from({ length: 20 }, (_, no) => `w${no + 1}`)];
    const box = scenario({
      dag: dag([task('first'), task('job', [0], { placement: { resources: { cpu: 1 } } })]),
      workers,
    });
    box.lend(box.worker('plain'), 1, true);
    const sizes = Array.from({ length: 20 }, (_, no) => no + 1);
    for (const cpu of first === 'best' ? sizes : sizes.toReversed()) lendAll(box, `w${cpu}`, has({ cpu }));
    box.report(box.attemptOf(box.worker('plain').assigned[0]!), 'succeeded');
    const decision = told(box)[1];
    expect(decision?.fitting).toBe(20);
    expect(decision?.candidates.map(({ workerId }) => workerId)).toEqual(
      [1, 2, 3, 4, 5, 6, 7, 8].map((cpu) => `w${cpu}`),
    );
  },
);

test('a task that asks for nothing tells whose turn it was, what waited with it, and the limits that had room', () => {
  const box = scenario({ dag: dag([task('a'), task('b'), task('c')], { maxActiveTasks: 5 }) });
  box.lend(box.worker(), 2, true);
  expect(told(box)).toEqual([
    expect.objectContaining({ kind: 'turn', waiting: 3, slotCameFree: true, request: null, fitting: 1 }),
    expect.objectContaining({ kind: 'turn', waiting: 2, limits: [{ limit: 'dag:etl', takes: 1, free: 4 }] }),
  ]);
  expect(told(box)[0]?.limits).toEqual([{ limit: 'dag:etl', takes: 1, free: 5 }]);
  expect(told(box)[0]?.candidates).toEqual([{ workerId: String(box.worker().id), score: null, slots: 2, room: {} }]);
});

test('limits of tasks, runs and starts are told by name, each with what was free', () => {
  const job = task('job', [], { maxActive: 2, rate: { limit: 7, perMs: 60_000 } });
  const box = scenario({ dag: dag([job], { maxActiveTasksPerRun: 3 }) });
  box.lend(box.worker(), 1, true);
  expect(told(box)[0]?.limits).toEqual([
    { limit: 'dag:etl task:job', takes: 1, free: 2 },
    { limit: 'rate of dag:etl task:job', takes: 1, free: 7 },
    { limit: 'each run of dag:etl', takes: 1, free: 3 },
  ]);
});

test('a flood tells so many decisions and no more, and more with time; placed tasks have their own', () => {
  const jobs = (count: number, more = {}) => Array.from({ length: count }, (_, no) => task(`t${no}`, [], more));
  const box = scenario({ dag: dag(jobs(1_200)), workers: ['w'] });
  box.lend(box.worker(), 1_200, true, 0, { traits: has({ cpu: 10 }), room: { cpu: 10 } });
  const count = () => told(box).filter((decision) => decision !== null).length;
  expect([told(box).length, count()]).toEqual([1_200, 1_000]);
  box.dagId = box.deploy(dag(jobs(5, { placement: { resources: { cpu: 1 } } })), 'placed');
  box.submit();
  box.lend(box.worker(), 5, true);
  expect(count()).toBe(1_005);
  box.advance('500ms');
  box.dagId = box.deploy(dag(jobs(50)), 'later');
  box.submit();
  box.lend(box.worker(), 50, true);
  expect(count()).toBe(1_015);
});

test('with 0 decisions per second none is told', () => {
  const box = scenario({
    dag: dag([task('a'), task('b', [], { placement: { resources: { cpu: 1 } } })]),
    workers: ['w'],
    settings: { decisionsPerSecond: 0 },
  });
  lendAll(box, 'w', has({ cpu: 10 }));
  expect(told(box)).toEqual([null, null]);
});
