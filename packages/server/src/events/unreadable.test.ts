import { createClient, type EventView } from '@signalbox/sdk';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Rig, startRig } from '../testing/rig.ts';

let rig: Rig;
beforeAll(async () => {
  rig = await startRig();
  await rig.addWorker({ echo: ({ params }: { params: unknown }) => params });
  await rig.ask('PUT', '/v1/dags/told', { name: 'told', tasks: [{ name: 'a', handler: 'echo' }] });
});
afterAll(() => rig.stop());

const client = () => createClient({ url: rig.servers[0]?.url ?? '', token: rig.token });
/** A client of a new server. Servers keep what they have read, so the first one may still have a row as it was. */
const freshReader = async () => createClient({ url: (await rig.addServer()).url, token: rig.token });
const kindsOf = (events: readonly EventView[]) => events.map(({ kind }) => kind);

/** Three runs; the rows of the second are made unreadable as `damage` says. */
async function threeRuns(damage: string): Promise<{ after: string; runs: string[] }> {
  const { cursor: after } = await client().listEvents({});
  const runs: string[] = [];
  for (let i = 0; i < 3; i++) {
    const before = await rig.sql('select shard, max(commit_no) as no from journal group by shard');
    // Commits are numbered for each shard by itself.
    const known = before.map(({ shard, no }) => `(shard = ${String(shard)} and commit_no <= ${String(no)})`);
    const { id } = await client().submit('told');
    await client().waitForRun(id);
    runs.push(id);
    if (i === 1) await rig.sql(`update journal set ${damage} where not (${['false', ...known].join(' or ')})`);
  }
  return { after, runs };
}

const whole = ['run.created', 'attempt.claimed', 'attempt.ended', 'run.closing', 'run.ended'];

test.each([
  ['of a format that a newer server writes', 'format = 99', { reason: 'newer_format', format: 99 }],
  ['whose bytes make no sense', `changes = '\\xff00'::bytea`, { reason: 'damaged' }],
])('a row %s is skipped with a marker, and the stream goes on (I59)', async (_, damage, reason) => {
  const { after, runs } = await threeRuns(damage);
  const reader = await freshReader();
  const { items } = await reader.listEvents({ after, limit: 100 });
  expect(kindsOf(items.filter(({ run }) => run === runs[0]))).toEqual(whole);
  expect(items.filter(({ run }) => run === runs[1])).toEqual([]);
  expect(kindsOf(items.filter(({ run }) => run === runs[2]))).toEqual(whole);
  const markers = items.filter(({ kind }) => kind === 'events.skipped');
  const rows = await rig.sql(`select shard, commit_no, at from journal where ${damage} order by commit_no`);
  expect(markers).toMatchObject(
    rows.map(({ shard, commit_no, at }) => ({
      at: new Date(Number(at)).toISOString(),
      dag: null,
      run: null,
      task: null,
      details: { commits: [{ shard: Number(shard), commit: Number(commit_no) }], ...reason },
    })),
  );
  expect(markers.length).toBeGreaterThan(0);
  // Whoever filters is told as well, and the stream of server-sent events says the same as the pages.
  const filtered = await reader.listEvents({ after, run: runs[2] ?? '', limit: 100 });
  expect(kindsOf(filtered.items)).toEqual([...markers.map(({ kind }) => kind), ...whole]);
  const heard: EventView[] = [];
  for await (const event of reader.followEvents({ after })) if (heard.push(event) === items.length) break;
  expect(heard).toEqual(items);
});

test('a reader that has half of a commit gets the marker for the rest of it', async () => {
  const { cursor: start } = await client().listEvents({});
  await client().submitMany('told', [{}, {}, {}]);
  const [first] = (await client().listEvents({ after: start, limit: 1 })).items;
  expect(first?.kind).toBe('run.created');
  await rig.sql(`update journal set format = 99 where at >= ${Date.parse(first?.at ?? '')}`);
  const reader = await freshReader();
  const { items } = await reader.listEvents({ after: first?.cursor ?? '', limit: 1 });
  expect(kindsOf(items)).toEqual(['events.skipped']);
});
