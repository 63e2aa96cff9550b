import type { Answer, ClaimRef, Command, RunUid, SendCall, TaskNo, TellParent } from '@signalbox/engine';
import { childUid, shardOfUid } from '@signalbox/engine';
import { type DagFound, type PayloadKey, payloadName, type Store } from '@signalbox/store';
import { expect, test } from 'vitest';
import { Payloads } from '../payloads.ts';
import type { Routed } from '../router.ts';
import { Children, type ChildrenPorts } from './children.ts';
import { KeyedLimiter } from './keyed-limiter.ts';

const claim = { runId: 65_536, taskNo: 0, attemptNo: 2, fence: 3 } as ClaimRef;
const claimedAt = 1_767_225_600_000 as SendCall['claimedAt'];
const place = { shard: 7, dagId: 71, versionNo: 1, paramsSchema: null } as unknown as DagFound;
const live: Answer = { ok: true, kind: 'child', state: 'live' };
const absent: Answer = { ok: true, kind: 'child', state: 'absent' };
const unchecked: Answer = { ok: false, code: 'PARAMS_UNCHECKED', detail: '2' };

interface Script {
  /** What the dag is, one look after the other; the last one stays. */
  readonly places?: readonly (DagFound | null)[];
  readonly answers?: readonly (Answer | null)[];
  readonly wait?: boolean;
  readonly texts?: Readonly<Record<string, string>>;
  readonly childParams?: ChildrenPorts['childParams'];
}

function setUp(script: Script = {}) {
  const asked: Command[] = [];
  const [places, answers] = [[...(script.places ?? [place])], [...(script.answers ?? [])]];
  const texts = new Map(Object.entries(script.texts ?? {}));
  const fetchPayloads = async (keys: readonly PayloadKey[]) =>
    new Map(
      keys.flatMap((key) => (texts.has(payloadName(key)) ? [[payloadName(key), texts.get(payloadName(key))]] : [])),
    );
  const children = new Children({
    store: { findDag: async () => (places.length > 1 ? places.shift() : places[0]) ?? null },
    payloads: new Payloads({ fetchPayloads } as unknown as Store),
    router: {
      ask: async (command: Command): Promise<Routed> => {
        asked.push(command);
        if (command.kind === 'ChildEnded') return { status: 'answered', answer: { ok: true, kind: 'recorded' } };
        const answer = answers.length > 0 ? answers.shift() : live;
        return answer == null ? { status: 'unknown' } : { status: 'answered', answer };
      },
    },
    childParams: script.childParams ?? (() => ({ ok: true, params: '{"a":1}' })),
    log: () => undefined,
  });
  const task = { name: 'call', child: { dag: 'other', wait: script.wait ?? true }, work: { kind: 'child' } };
  const version = { dag: { tenantId: 1, name: 'parent' }, spec: {}, task: () => task };
  const call = (step: SendCall['step']) => {
    const visible = { specNo: 0, map: null, hasParams: false, runInfo: null, force: false };
    const upstream = { succeededUpstream: [], failedUpstream: [], missingUpstream: [] };
    const named = { claim, claimedAt, runUid: 'parent', version, priority: 'high', depth: 1 };
    children.call({ kind: 'SendCall', step, ...named, ...visible, ...upstream } as unknown as SendCall);
    return settled();
  };
  return { children, asked, call };
}

const settled = () => new Promise((resolve) => setImmediate(resolve));

test('a call is a run that is named by it, with the params and the priority of its parent', async () => {
  const { asked, call } = setUp();
  await call('begin');
  const uid = childUid(place.shard, claim, claimedAt);
  expect(shardOfUid(uid)).toBe(7);
  expect(asked).toMatchObject([
    {
      kind: 'BeginChild',
      shard: 7,
      dagId: 71,
      uid,
      params: '{"a":1}',
      priority: 'high',
      parent: { ...claim, task: 'call' },
    },
  ]);
});

test('one that may have begun is asked for first, and sent anew only when it is not there', async () => {
  const { asked, call } = setUp({ answers: [live, absent, live] });
  await call('ask');
  expect(asked.map(({ kind }) => kind)).toEqual(['AskChild']);
  await call('ask');
  expect(asked.map(({ kind }) => kind)).toEqual(['AskChild', 'AskChild', 'BeginChild']);
});

test('without an answer nothing is decided: it is asked for again in time (I12)', async () => {
  const { asked, call } = setUp({ answers: [null, null] });
  await call('begin');
  await call('stop');
  expect(asked.map(({ kind }) => kind)).toEqual(['BeginChild', 'AskChild']);
});

test('a dag that is not there ends the call; a stop of it finds that nothing has begun', async () => {
  const { asked, call } = setUp({ places: [null] });
  await call('begin');
  await call('stop');
  expect(asked).toMatchObject([
    { kind: 'ChildEnded', claim, end: 'refused', error: 'Dag other does not exist.' },
    { kind: 'ChildEnded', claim, end: 'unbegun' },
  ]);
});

test('one that nobody waits for has succeeded with the id of its run', async () => {
  const { asked, call } = setUp({ wait: false });
  await call('begin');
  const output = JSON.stringify({ run: childUid(place.shard, claim, claimedAt) });
  expect(asked.at(-1)).toMatchObject({ kind: 'ChildEnded', end: 'accepted', output });
});

test('params are checked against the version that the run gets, and refused by no older one', async () => {
  const strict = { ...place, paramsSchema: { type: 'object' } };
  const newer = { ...strict, versionNo: 2 } as unknown as DagFound;
  const childParams: ChildrenPorts['childParams'] = (_, __, schema) =>
    schema === newer.paramsSchema ? { ok: true, params: null } : { ok: false, error: 'It does not fit.' };
  const changed = setUp({ places: [strict, newer], answers: [live], childParams });
  Object.assign(newer, { paramsSchema: { type: 'null' } });
  await changed.call('begin');
  expect(changed.asked).toMatchObject([{ kind: 'BeginChild', checkedFor: 2 }]);
  const same = setUp({ places: [strict, strict], childParams });
  await same.call('begin');
  expect(same.asked).toMatchObject([{ kind: 'ChildEnded', end: 'refused', error: 'It does not fit.' }]);
  const raced = setUp({
    places: [place, newer],
    answers: [unchecked, live],
    childParams: () => ({ ok: true, params: null }),
  });
  await raced.call('begin');
  expect(raced.asked).toMatchObject([{ kind: 'BeginChild' }, { kind: 'BeginChild', checkedFor: 2 }]);
});

const told = (more: Partial<TellParent>): TellParent => ({
  kind: 'TellParent',
  parent: { ...claim, uid: 'parent' as RunUid, task: 'call', depth: 1, waits: true },
  dag: 'other',
  runId: 99 as TellParent['runId'],
  uid: 'child' as RunUid,
  end: 'succeeded',
  outputs: [],
  failed: [],
  ...more,
});

test('what a run leaves is an object of what its leaves left; of a mapped one a list, with null for what is not there', async () => {
  const texts = { '99/0': '{"a":1}', '99/10': '1', '99/12': '3' };
  const { asked, children } = setUp({ texts });
  const instances = { of: 'instances', ranges: [{ from: 10, step: 1, count: 3 }], except: [11] } as const;
  const task = (no: number) => ({ of: 'task', no: no as TaskNo }) as const;
  children.tell(
    told({
      outputs: [
        { name: 'x y', at: task(0) },
        { name: 'none', at: task(5) },
        { name: 'm', at: instances },
      ],
    }),
  );
  await settled();
  expect(asked).toEqual([
    { kind: 'ChildEnded', claim, end: 'succeeded', output: '{"x y":{"a":1},"none":null,"m":[1,null,3]}', error: null },
  ]);
});

test('what is too large to be an output is a clear failure, also where it lies elsewhere (I56)', async () => {
  for (const text of [JSON.stringify('x'.repeat(300_000)), '@-1000000005:300000']) {
    const { asked, children } = setUp({ texts: { '99/0': text } });
    children.tell(told({ outputs: [{ name: 'big', at: { of: 'task', no: 0 } }] }));
    await settled();
    expect(asked).toMatchObject([{ kind: 'ChildEnded', end: 'refused', output: null }]);
  }
});

test.each([
  ['failed', ['a', 'b'], 'Run child of dag other failed: a, b.'],
  ['cancelled', [], 'Run child of dag other was cancelled.'],
  ['set_aside', [], 'Run child of dag other was set aside: deciding about it went wrong.'],
] as const)('a run that was %s says so', async (end, failed, error) => {
  const { asked, children } = setUp();
  children.tell(told({ end, failed }));
  await settled();
  expect(asked).toMatchObject([{ kind: 'ChildEnded', end, error }]);
});

test('so many at one time, one of a name, and of those that wait under a name the newest', async () => {
  const begun: string[] = [];
  const ends: (() => void)[] = [];
  const limiter = new KeyedLimiter<string>(2, (item) => {
    begun.push(item);
    return new Promise((resolve) => ends.push(resolve));
  });
  for (const [name, item] of ['a1', 'a2', 'a3', 'b1', 'c1'].map((item) => [item[0]!, item] as const))
    limiter.enter(name, item);
  expect(begun).toEqual(['a1', 'b1']);
  ends[0]!();
  await settled();
  expect(begun).toEqual(['a1', 'b1', 'a3']);
  ends[1]!();
  await settled();
  expect(begun).toEqual(['a1', 'b1', 'a3', 'c1']);
});
