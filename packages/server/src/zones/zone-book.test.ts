import {
  compileTimetable,
  type Instant,
  type NodeId,
  type TenantId,
  windowAfter,
  type ZoneData,
} from '@signalbox/engine';
import { tzVersion, zoneData } from '@signalbox/protocol/zones';
import { openQueries, type Queries } from '@signalbox/store';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventually, type Rig, startRig } from '../testing/rig.ts';
import { OWN_ZONES, type OwnZones, ownDataOf, ZoneBook } from './zone-book.ts';

const hourMs = 3_600_000;
/** The data of a later edition in which every clock is five hours ahead of ours. */
const LATER: OwnZones = {
  version: '9999a',
  source(zone, from, until) {
    const { initialOffsetMs, transitions, ...data } = zoneData(zone, from, until);
    return {
      ...data,
      tzVersion: '9999a',
      initialOffsetMs: initialOffsetMs + 5 * hourMs,
      transitions: transitions.map(({ atMs, offsetMs }) => ({ atMs, offsetMs: offsetMs + 5 * hourMs })),
    };
  },
};

let rig: Rig;
let queries: Queries;
beforeAll(async () => {
  rig = await startRig();
  queries = await openQueries({ url: rig.databaseUrl });
});
afterAll(async () => {
  await queries.close();
  await rig.stop();
});

async function openBook(own: OwnZones, changes: string[] = []): Promise<ZoneBook> {
  const onChanged = (reason: string) => void changes.push(reason);
  const book = new ZoneBook({ store: queries, tell: () => undefined, nodeId: null, onChanged, own });
  await book.start();
  book.stop();
  return book;
}

function firstWindows(book: ZoneBook, zone: string): (number | undefined)[] {
  const compiled = compileTimetable({ cron: '30 2 * * *', zone, gap: 'fire_after' }, '');
  if (!compiled.ok) throw new Error(compiled.fault.message);
  let after = Date.parse('2027-03-01T00:00:00Z');
  return Array.from({ length: 40 }, () => {
    const at = windowAfter(compiled.timetable, after as Instant, book.source)?.at;
    after = at ?? after;
    return at;
  });
}

test('a zone that is used is stored, and nodes with other data decide by it (I3)', async () => {
  const ours = await openBook(OWN_ZONES);
  const expected = firstWindows(ours, 'America/New_York');
  await ours.settled();
  expect(firstWindows(await openBook(LATER), 'America/New_York')).toEqual(expected);
});

test('of two nodes that use a zone first, one wins, and the other computes its windows again', async () => {
  const [changes, others]: [string[], string[]] = [[], []];
  const [one, two] = [await openBook(OWN_ZONES, changes), await openBook(LATER, others)];
  const [before, beforeOther] = [firstWindows(one, 'Asia/Tokyo'), firstWindows(two, 'Asia/Tokyo')];
  expect(beforeOther).not.toEqual(before);
  await Promise.all([one.settled(), two.settled()]);
  expect(firstWindows(one, 'Asia/Tokyo')).toEqual(firstWindows(two, 'Asia/Tokyo'));
  expect([...changes, ...others]).toEqual(['the cluster has other data for asia/tokyo']);
});

test('a server with other data that takes over goes on where the last one was: nothing fires twice, nothing is left out (I1, I2)', async () => {
  const now = new Date();
  const parts = new Intl.DateTimeFormat('en-GB', { timeZone: 'Europe/Berlin', hour: 'numeric', hourCycle: 'h23' });
  const hour = Number(parts.format(now));
  const schedule = {
    cron: `* * ${hour},${(hour + 1) % 24} * * *`,
    zone: 'Europe/Berlin',
    missed: 'all',
    missedLimit: 1_000,
  };
  const tasks = [{ name: 't', handler: 'none' }];
  expect((await rig.ask('PUT', '/v1/dags/berlin', { name: 'berlin', schedule, tasks })).status).toBe(200);
  const decided = async () => {
    const rows = await rig.sql('select fires_at, until_at, run_id from window_decision order by fires_at');
    return rows.map(({ fires_at: at }) => Number(at));
  };
  // The first server uses the zone first: its data is that of the cluster.
  await eventually(async () => (await decided()).length >= 2);
  await rig.addServer({}, LATER);
  await rig.servers[0]?.stop();
  const before = (await decided()).length;
  await eventually(async () => (await decided()).length >= before + 3, 30_000);
  const fired = await decided();
  expect(new Set(fired).size).toBe(fired.length);
  expect(fired.map((at, i) => (i === 0 ? 1_000 : at - (fired[i - 1] ?? 0)))).toEqual(fired.map(() => 1_000));
  const [server] = rig.servers.slice(1);
  if (server === undefined) throw new Error('the second server is gone');
  await eventually(async () => {
    const { body } = await rig.ask('GET', '/v1/zones', undefined, { server });
    const { version, nodes } = body as unknown as { version: string; nodes: { version: string | null }[] };
    return version === tzVersion && nodes.some((node) => node.version === '9999a');
  });
});

test('the version is raised by a recorded action, and only to a newer one', async () => {
  const server = rig.servers[1];
  if (server === undefined) throw new Error('the second server is gone');
  const asked = await rig.ask('POST', '/v1/zones/upgrade', {}, { server });
  expect(asked.body).toMatchObject({ version: tzVersion, previous: tzVersion, changed: false });

  const changes: string[] = [];
  const book = await openBook(OWN_ZONES, changes);
  const before = firstWindows(book, 'Asia/Kolkata');
  await book.settled();
  const { zones } = await queries.readZones(tzVersion);
  const by = { tenantId: 1 as TenantId, actor: 'token:admin', origin: '127.0.0.1' };
  const raise = async (version: string, data: readonly ZoneData[]) =>
    queries.raiseZones({ ...by, version, zones: data });
  expect(await raise('1999a', [])).toBe(false);
  expect(await raise('9999a', await ownDataOf(zones.keys(), LATER))).toBe(true);
  expect(await raise('9999a', [])).toBe(false);
  await book.runOnce();
  expect(changes).toEqual(['the cluster decides by zone data 9999a']);
  expect(firstWindows(book, 'Asia/Kolkata')).toEqual(before.map((at) => (at ?? 0) - 5 * hourMs));
  const audit = await rig.ask('GET', '/v1/audit?action=zones.upgrade', undefined, { server });
  expect(audit.body.items).toMatchObject([{ action: 'zones.upgrade', target: '9999a', actor: 'token:admin' }]);
  await queries.noteZoneVersion('00000000-0000-4000-8000-000000000000' as NodeId, '9999a'); // a node that is gone: nothing
});
