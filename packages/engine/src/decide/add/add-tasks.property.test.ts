import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { NewTask } from '../../model/command.ts';
import { growSpec } from '../../model/dag/added.ts';
import { type DagSpec, FAILURE_POLICIES } from '../../model/dag/spec.ts';
import { TRIGGER_RULES } from '../../model/task/trigger.ts';
import { type NaiveEnd, naiveStates } from '../../testing/naive-states.ts';
import { type Attempt, type Scenario, scenario } from '../../testing/scenario.ts';
import { dag, task } from '../../testing/specs.ts';

const RETRY = { maxAttempts: 3, minMs: 0, maxMs: 0 };
const rules = fc.oneof(fc.constant('all_success' as const), fc.constantFrom(...TRIGGER_RULES));
const subsetBelow = (count: number) => fc.subarray(Array.from({ length: count }, (_, i) => i));

const specs: fc.Arbitrary<DagSpec> = fc.integer({ min: 2, max: 5 }).chain((count) =>
  fc
    .record({
      tasks: fc.tuple(
        ...Array.from({ length: count }, (_, no) =>
          fc.record({ needs: subsetBelow(no), rule: rules, adds: fc.boolean() }),
        ),
      ),
      templates: fc.array(
        fc.record({ needs: subsetBelow(count), rule: rules, adds: fc.constantFrom(false, false, true) }),
        {
          minLength: 1,
          maxLength: 2,
        },
      ),
      onFailure: fc.constantFrom(...FAILURE_POLICIES.filter((policy) => policy !== 'fail_fast')),
    })
    .map(({ tasks, templates, onFailure }) => {
      const made = (name: string, { needs, rule, adds }: (typeof tasks)[number]) =>
        task(name, needs, { rule, retry: RETRY, ...(adds && { adds: true as const }) });
      return dag(
        tasks.map((one, no) => made(`t${no}`, { ...one, adds: one.adds || no === 0 })),
        { templates: templates.map((one, i) => made(`p${i}`, one)), maxAddedTasks: 4, onFailure },
      );
    }),
);

const names = ['t0', 't1', 't2', 't3', 't4', 'a', 'b', 'c', 'd', 'e'];
const newTask: fc.Arbitrary<NewTask> = fc.record({
  name: fc.constantFrom('a', 'b', 'c', 'd', 'e', 't1'),
  template: fc.constantFrom('p0', 'p0', 'p1'),
  needs: fc.array(fc.constantFrom(...names), { maxLength: 2 }),
  before: fc.array(fc.constantFrom(...names), { maxLength: 2 }),
  inputs: fc.constantFrom(null, '{"k":1}'),
});
const actions = fc.array(
  fc.oneof(
    {
      weight: 4,
      arbitrary: fc.record({
        do: fc.constant('add' as const),
        asDrawn: fc.constantFrom(true, false, false, false),
        tasks: fc.array(newTask, { minLength: 1, maxLength: 3 }),
      }),
    },
    {
      weight: 5,
      arbitrary: fc.record({
        do: fc.constant('report' as const),
        as: fc.constantFrom('succeeded', 'succeeded', 'transient', 'permanent'),
      }),
    },
    { weight: 1, arbitrary: fc.record({ do: fc.constant('clear' as const), no: fc.nat(8), downstream: fc.boolean() }) },
    {
      weight: 1,
      arbitrary: fc.record({
        do: fc.constant('mark' as const),
        no: fc.nat(8),
        as: fc.constantFrom('skipped', 'failed', 'succeeded'),
      }),
    },
    { weight: 1, arbitrary: fc.record({ do: fc.constant('kill' as const) }) },
  ),
  { minLength: 5, maxLength: 25 },
);

/** Mostly such as can be added: of what is drawn, names that are there, and of what is to wait, what has not begun. */
function sensible(box: Scenario, deployed: DagSpec, tasks: readonly NewTask[], asDrawn: boolean): readonly NewTask[] {
  if (asDrawn) return tasks;
  const { tasks: all, templates = [] } = growSpec(deployed, box.node.store.runsStored().at(-1)!.added);
  const there = new Set([...all, ...tasks].map(({ name }) => name));
  const isBlocked = (name: string) => all.some((one) => one.name === name) && box.task(name).state === 'blocked';
  const once = new Map(tasks.filter(({ name }) => name !== 't1').map((one) => [one.name, one]));
  return [...once.values()].map((one) => ({
    ...one,
    template: templates.some(({ name }) => name === one.template) ? one.template : 'p0',
    needs: one.needs.filter((name) => there.has(name) && name !== one.name).slice(0, 1),
    before: one.before.filter((name) => isBlocked(name) && !one.needs.includes(name) && name !== one.name),
  }));
}

/** What the rows say of tasks that ran or were marked; the others follow. */
function expectNaive(box: Scenario, deployed: DagSpec): void {
  const run = box.node.store.runsStored().at(-1)!;
  if (run.phase !== 'open') return;
  const spec = growSpec(deployed, run.added);
  const ended = new Map<number, NaiveEnd>();
  for (const { taskNo, state } of run.tasks) {
    if (state === 'cleared') continue;
    const end = state === 'succeeded' || state === 'failed' || state === 'skipped' ? state : 'open';
    ended.set(taskNo, { state: end, output: null });
  }
  const isOpen = (state: string) => ['ready', 'running', 'retrying'].includes(state);
  const found = spec.tasks.map(({ name }) => box.task(name).state).map((state) => (isOpen(state) ? 'open' : state));
  const wanted = naiveStates(spec, ended).map((state) => (state === 'ready' ? 'open' : state));
  expect(found).toEqual(wanted);
}

test('whatever is added, retried, cleared and taken over, each task is what a rescan of the grown graph says (I30, I31)', () => {
  let added = 0;
  let dropped = 0;
  fc.assert(
    fc.property(specs, actions, (spec, script) => {
      const box = scenario({ dag: spec });
      let held: Attempt[] = [];
      for (const action of script) {
        for (let next = box.tryClaim(); next !== null; next = box.tryClaim()) held.push(next);
        if (action.do === 'kill') box.killOwner();
        const [attempt] = held;
        if (action.do === 'add') {
          const tasks = sensible(box, spec, action.tasks, action.asDrawn);
          for (const { claim, worker } of held) box.feed({ kind: 'AddTasks', claim, workerId: worker.id, tasks });
        }
        if (action.do === 'report' && attempt !== undefined) {
          held = held.slice(1);
          box.report(attempt, action.as);
          box.advance('1ms', [...box.workers.values()]);
        }
        const count =
          box.state.runs.find(box.lastRun()) < 0 ? 0 : (box.node.store.runsStored().at(-1)!.added?.length ?? 0);
        const nameAt = (no: number) => growSpec(spec, box.node.store.runsStored().at(-1)!.added).tasks[no]?.name;
        if (action.do === 'clear' && nameAt(action.no) !== undefined && box.run().phase === 'open') {
          box.clear([nameAt(action.no)!], { downstream: action.downstream });
        }
        if (action.do === 'mark' && nameAt(action.no) !== undefined && box.run().phase === 'open') {
          box.mark(nameAt(action.no)!, action.as);
        }
        if (box.run().phase !== 'open') break;
        expect(count).toBeLessThanOrEqual(4);
        expectNaive(box, spec);
      }
      added += box.changes('TasksAdded').length;
      dropped += box.changes('TasksDropped').length;
    }),
    { numRuns: 300 },
  );
  // The cases are worth something.
  expect(added).toBeGreaterThan(100);
  expect(dropped).toBeGreaterThan(3);
});
