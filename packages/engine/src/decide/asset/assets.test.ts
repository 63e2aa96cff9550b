import { describe, expect, test } from 'vitest';
import type { AssetTriggerSpec } from '../../model/asset.ts';
import type { DagId, RunId } from '../../model/ids.ts';
import { readRunNotes } from '../../model/run/run-notes.ts';
import { AssetLines } from '../../testing/asset-lines.ts';
import { type Scenario, scenario, TENANT } from '../../testing/scenario.ts';
import { dag, task } from '../../testing/specs.ts';

/** Dags `orders` and `rates` produce the assets of their names; `report` waits for them. */
function shop(mode: AssetTriggerSpec['mode'] = 'all', names = ['orders', 'rates']) {
  const box = scenario();
  const dags = Object.fromEntries(
    names.map((name) => [name, box.deploy(dag([task('make', [], { produces: [name] })]), name)]),
  );
  const report = box.deploy(waiting({ mode, names }), 'report');
  const lines = new AssetLines(box);
  const produce = (name: string, outcome: 'succeeded' | 'permanent' = 'succeeded') => {
    box.feed(box.submission({ dagId: dags[name] as DagId }));
    box.report(box.claim('make'), outcome);
  };
  const reports = () => createdOf(box, report);
  return { box, dags, report, lines, produce, reports };
}

const waiting = (assets: AssetTriggerSpec) =>
  dag([task('write')], { priority: 'low', on: [{ name: 'assets', type: '', assets }] });

const createdOf = (box: Scenario, dagId: DagId) => box.changes('RunCreated').filter((run) => run.dagId === dagId);
const namesOf = (run: { readonly assets?: readonly { readonly name: string; readonly no: number }[] } | undefined) =>
  run?.assets?.map(({ name, no }) => `${name} ${no}`);

describe('a dag that waits for all of its assets', () => {
  test('runs once when all are fresh, and again only when all were produced again', () => {
    const { lines, produce, reports } = shop();
    produce('orders');
    lines.deliver();
    expect(reports()).toEqual([]);
    produce('orders');
    produce('rates');
    lines.deliver();
    expect(reports().map(namesOf)).toEqual([['orders 2', 'rates 1']]);
    produce('rates');
    lines.deliver();
    expect(reports()).toHaveLength(1);
    produce('orders');
    lines.deliver();
    expect(reports().map(namesOf)).toEqual([
      ['orders 2', 'rates 1'],
      ['orders 3', 'rates 2'],
    ]);
  });

  test('knows by which runs its assets were produced, also after a load and when it is opened again', () => {
    const { box, lines, produce, reports, dags } = shop();
    produce('orders');
    produce('rates');
    lines.deliver();
    const [run] = reports();
    const [orders] = createdOf(box, dags['orders']!);
    expect(run).toMatchObject({ cause: 'event', actor: 'asset' });
    const expected = { name: 'orders', run: orders?.uid, dag: 'orders', task: 'make', no: 1 };
    expect(run?.assets?.[0]).toMatchObject(expected);
    box.killOwner();
    expect(notesOf(box, run?.runId as RunId).assets).toEqual(run?.assets);
    box.report(box.claim('write'), 'permanent');
    box.retry('write', run?.runId);
    expect(notesOf(box, run?.runId as RunId).assets).toEqual(run?.assets);
  });
});

const notesOf = (box: Scenario, runId: RunId) =>
  readRunNotes(box.node.store.runsStored().find((run) => run.runId === runId)?.notes);

test('with any, each asset that is produced makes a run', () => {
  const { lines, produce, reports } = shop('any');
  for (const name of ['orders', 'rates', 'orders']) {
    produce(name);
    lines.deliver();
  }
  expect(reports().map(namesOf)).toEqual([['orders 1'], ['rates 1'], ['orders 2']]);
});

test('a task that fails produces nothing, and one that succeeds at the second attempt does', () => {
  const { box, lines, produce, reports } = shop('any');
  produce('orders', 'permanent');
  lines.deliver();
  expect(reports()).toEqual([]);
  box.retry('make');
  box.report(box.claim('make'), 'succeeded');
  lines.deliver();
  expect(reports()).toHaveLength(1);
});

describe('word of an asset', () => {
  test('that comes again and again makes one run, whoever is the owner (I1, I11)', () => {
    const { box, lines, produce, reports } = shop('any', ['orders']);
    produce('orders');
    const [word] = lines.take();
    for (let i = 0; i < 3; i++) lines.tell(word!);
    box.killOwner();
    lines.tell(word!);
    box.report(box.claim('write'), 'succeeded');
    box.killOwner().advance('30s');
    lines.deliver();
    lines.tell(word!);
    expect(reports()).toHaveLength(1);
  });

  test('is repeated until it is answered, also by the next owner (I72)', () => {
    const { box, lines, produce, reports } = shop('any', ['orders']);
    produce('orders');
    lines.take();
    box.advance('21s');
    expect(lines.take()).toMatchObject([{ kind: 'TellAsset', asset: { name: 'orders', no: 1 } }]);
    box.killOwner().advance('2s');
    lines.deliver();
    expect(reports()).toHaveLength(1);
    box.killOwner().advance('60s');
    expect(lines.take()).toEqual([]);
  });

  test('that was overtaken by a newer one is old', () => {
    const { lines, produce, reports } = shop('any', ['orders']);
    produce('orders');
    const [old] = lines.take();
    produce('orders');
    lines.deliver();
    lines.tell(old!);
    lines.answer(old!);
    expect(reports().map(namesOf)).toEqual([['orders 2']]);
  });

  test('an answer to an older one does not end the telling of a newer one', () => {
    const { box, lines, produce, reports } = shop('any', ['orders']);
    produce('orders');
    const [old] = lines.take();
    produce('orders');
    lines.take();
    lines.answer(old!);
    box.advance('21s');
    lines.deliver();
    expect(reports().map(namesOf)).toEqual([['orders 2']]);
  });
});

test('an asset can be declared fresh by hand, and counts like any other', () => {
  const { box, lines, produce, reports } = shop();
  const shard = box.shard;
  expect(box.feed({ kind: 'ProduceAsset', shard, tenantId: TENANT, name: 'rates', actor: box.actor })).toMatchObject({
    ok: true,
  });
  produce('orders');
  lines.deliver();
  expect(reports()[0]?.assets).toMatchObject([{ name: 'orders' }, { name: 'rates', run: null, dag: null, task: null }]);
});

test('a retired dag takes nothing, and a dag that was deployed without its trigger neither', () => {
  const { box, lines, produce, reports, report } = shop('any', ['orders']);
  box.retire(report);
  produce('orders');
  lines.deliver();
  box.tryDeploy(dag([task('write')]), 'report');
  produce('orders');
  lines.deliver();
  expect(reports()).toEqual([]);
});

test('what is fresh survives a new version of the dag', () => {
  const { box, lines, produce, reports } = shop();
  produce('orders');
  lines.deliver();
  box.deploy({ ...waiting({ mode: 'all', names: ['orders', 'rates'] }), maxActiveRuns: 3 }, 'report');
  produce('rates');
  lines.deliver();
  expect(reports().map(namesOf)).toEqual([['orders 1', 'rates 1']]);
});
