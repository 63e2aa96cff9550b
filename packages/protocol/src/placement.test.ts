import { expect, test } from 'vitest';
import { bookingText, readAmount, readBooking, readOffers, shownAmount } from './placement.ts';
import { toDagSpec } from './rest/dag-spec.ts';

test.each([
  ['cpu', '0.5', 500],
  ['cpu', 4, 4_000],
  ['cpu', '0.0001', null],
  ['memory', '4GiB', 4 * 2 ** 30],
  ['memory', 1_000, 1_000],
  ['disk', '1.5TB', 1.5e12],
  ['memory', '4 GiB', null],
  ['gpu', '2', 2],
  ['gpu', 0.5, null],
  ['gpu', -1, null],
  ['license', '1e3', null],
])('%s %j is read as %j', (name, given, amount) => {
  expect(readAmount(name, given)).toBe(amount);
});

test('amounts are shown as people say them', () => {
  expect(shownAmount('cpu', 2_500)).toBe('2.5 cpu');
  expect(shownAmount('memory', 6 * 2 ** 30)).toBe('6 GiB of memory');
  expect(shownAmount('disk', 1_536 * 2 ** 20)).toBe('1.5 GiB of disk');
  expect(shownAmount('gpu', 1)).toBe('1 gpu');
});

test('offers and bookings come out as they went in; anything else is none', () => {
  const offers = { resources: { cpu: 1_000, 'my/license': 3 }, labels: { zone: 'a' } };
  expect(readOffers(JSON.stringify(offers))).toEqual(offers);
  const booking = { resources: { gpu: 1 }, exclusive: true };
  expect(readBooking(bookingText(booking))).toEqual(booking);
  for (const text of ['', '[]', 'null', '{"resources":{"cpu":-1},"labels":{}}', '{"resources":{"a b":1},"labels":{}}'])
    expect(readOffers(text)).toBeNull();
});

const dag = (task: object) =>
  toDagSpec({
    name: 'd',
    tasks: [
      { name: 'a', run: 'x' },
      { name: 'b', run: 'x', ...task },
    ],
  });

test('a task says what it asks of its worker', () => {
  const { placement } = dag({
    resources: { cpu: 2, memory: '4GiB', gpu: 1 },
    labels: { disk: 'ssd' },
    zone: 'eu-1',
    prefer: { labels: { cache: 'orders' }, near: ['a'] },
    spread: 'dag',
    exclusive: true,
  }).spec.tasks[1]!;
  expect(placement).toEqual({
    resources: { cpu: 2_000, memory: 4 * 2 ** 30, gpu: 1 },
    labels: { disk: 'ssd', zone: 'eu-1' },
    prefer: { cache: 'orders' },
    near: [0],
    spread: { of: 'dag' },
    exclusive: true,
  });
  expect(dag({}).spec.tasks[1]).not.toHaveProperty('placement');
  expect(dag({ resources: {}, exclusive: false }).spec.tasks[1]).not.toHaveProperty('placement');
});

test.each([
  [{ resources: { cpu: 0 } }, 'tasks[1].resources.cpu'],
  [{ resources: { memory: 'much' } }, 'tasks[1].resources.memory'],
  [{ labels: { 'a b': 'c' } }, 'tasks[1].labels'],
  [{ zone: 'a', labels: { zone: 'b' } }, 'tasks[1].zone'],
  [{ prefer: { near: ['nobody'] } }, 'tasks[1].prefer.near[0]'],
])('%j is refused with its place', (task, path) => {
  expect(() => dag(task)).toThrow(
    expect.objectContaining({
      details: expect.objectContaining({
        problems: expect.arrayContaining([expect.objectContaining({ path: expect.stringContaining(path) })]),
      }),
    }),
  );
});
