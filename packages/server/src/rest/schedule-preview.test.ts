import { createClient } from '@signalbox/sdk';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Rig, startRig } from '../testing/rig.ts';

let rig: Rig;
beforeAll(async () => {
  rig = await startRig();
});
afterAll(() => rig.stop());

const preview = (query: Record<string, string>) =>
  rig.ask('GET', `/v1/schedules/preview?${new URLSearchParams(query).toString()}`);

test('a daily job over both clock changes of a year, strictly after `from`', async () => {
  const spring = { cron: '30 2 * * *', timezone: 'America/New_York', from: '2027-03-13T07:30:00Z', count: '2' };
  expect((await preview(spring)).body).toEqual({
    firings: [
      {
        at: '2027-03-14T07:00:00Z',
        local: '2027-03-14T03:00:00-04:00',
        note: '02:30 does not exist on 2027-03-14: the clock goes from 02:00 to 03:00. It fires when the gap ends.',
      },
      { at: '2027-03-15T06:30:00Z', local: '2027-03-15T02:30:00-04:00', note: null },
    ],
  });
  const autumn = { ...spring, cron: '30 1 * * *', from: '2027-11-07T00:00:00Z', count: '1', overlap: 'second' };
  expect((await preview(autumn)).body).toMatchObject({ firings: [{ at: '2027-11-07T06:30:00Z' }] });
});

test('a whole schedule, through the client', async () => {
  const client = createClient({ url: rig.servers[0]?.url ?? '', token: rig.token });
  const schedule = { cron: '0 9 LW * *', zone: 'Europe/Berlin' };
  const { firings } = await client.previewSchedule(schedule, { from: '2027-01-01T00:00:00+01:00', count: 2 });
  expect(firings.map(({ local }) => local)).toEqual(['2027-01-29T09:00:00+01:00', '2027-02-26T09:00:00+01:00']);
});

test.each([
  [{ cron: '61 * * * *' }, 422, 'column 1'],
  [{ cron: '0 0 30 2 *' }, 422, 'never fires'],
  [{ cron: '* * * * *', timezone: 'Mars/Base' }, 422, 'is not known'],
  [{ cron: '* * * * *', from: 'tomorrow' }, 400, 'from'],
  [{ cron: '* * * * *', count: '0' }, 400, 'count'],
  [{ cron: '* * * * *', zone: 'UTC' }, 400, 'zone'],
])('%j is refused with %i', async (query, status, text) => {
  const answer = await preview(query);
  expect(answer.status).toBe(status);
  expect(JSON.stringify(answer.body)).toContain(text);
});
