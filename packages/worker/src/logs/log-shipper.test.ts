import { status } from '@grpc/grpc-js';
import type { Log } from '@signalbox/sdk';
import { expect, onTestFinished, test } from 'vitest';
import { ScriptedData } from '../scripted-data.ts';
import { LogShipper } from './log-shipper.ts';

const quiet: Log = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
const claim = (runId: number) => ({ shard: 0, runId, task: 0, attempt: 1, fence: 1 });
const token = Buffer.from('t');
const line = (text: string) => ({ at: 1, stream: 'stdout' as const, text });

async function startShipper(log: Log = quiet) {
  const data = await ScriptedData.start();
  const shipper = new LogShipper({ id: 'w', token: 'secret', rootCertificates: null }, log);
  onTestFinished(() => {
    shipper.destroy();
    data.stop();
  });
  const place = { target: data.address, tls: false };
  return { data, shipper, place };
}

test('lines arrive in order, numbered without a gap, with the worker’s token, and are let go when stored', async () => {
  const { data, shipper, place } = await startShipper();
  const [one, two] = [shipper.open(claim(1), token), shipper.open(claim(2), token)];
  // Before an address is known they wait.
  one.take(line('first'));
  shipper.move(place);
  for (let i = 0; i < 5_000; i++) (i % 3 === 0 ? two : one).take(line(String(i)));
  await shipper.flush(one, 10_000);
  await shipper.flush(two, 10_000);
  expect(data.linesOf(claim(1)).length + data.linesOf(claim(2)).length).toBe(5_001);
  expect(data.linesOf(claim(1))[0]?.text).toBe('first');
  expect(data.gaps).toEqual([]);
  expect(data.streams.length).toBe(1);
  expect(String(data.streams[0]?.metadata.get('authorization')[0])).toBe('Bearer secret');
  expect(shipper.bufferedBytes).toBe(0);
});

test('what a lost stream took with it is sent again on the next, and nothing is kept twice', async () => {
  const { data, shipper, place } = await startShipper();
  shipper.move(place);
  data.stores = false;
  const outgoing = shipper.open(claim(1), token);
  for (let i = 0; i < 100; i++) outgoing.take(line(String(i)));
  await data.until(() => data.linesOf(claim(1)).length === 100);
  data.cut();
  data.stores = true;
  for (let i = 100; i < 200; i++) outgoing.take(line(String(i)));
  await data.until(() => data.linesOf(claim(1)).length === 200);
  expect(data.linesOf(claim(1)).map(({ text }) => text)).toEqual(Array.from({ length: 200 }, (_, i) => String(i)));
  expect(data.gaps).toEqual([]);
  await shipper.flush(outgoing, 10_000);
  expect(shipper.bufferedBytes).toBe(0);
});

test('lines go to where the newest welcome says', async () => {
  const first = await startShipper();
  const second = await ScriptedData.start();
  onTestFinished(() => second.stop());
  first.data.stores = false;
  first.shipper.move(first.place);
  const outgoing = first.shipper.open(claim(1), token);
  outgoing.take(line('a'));
  await first.data.until(() => first.data.linesOf(claim(1)).length === 1);
  first.shipper.move({ target: second.address, tls: false });
  await second.until(() => second.linesOf(claim(1)).length === 1);
  expect(second.linesOf(claim(1))).toEqual([line('a')]);
});

test('what is kept is bounded, for one attempt and for all; what does not fit is refused (I73)', async () => {
  const { shipper } = await startShipper();
  const text = 'x'.repeat(10_000);
  for (let runId = 1; runId <= 10; runId++) {
    const outgoing = shipper.open(claim(runId), token);
    let taken = 0;
    while (taken < 10_000 && outgoing.take(line(text))) taken++;
    expect(taken).toBeLessThan(450);
    expect(outgoing.isBehind).toBe(true);
  }
  expect(shipper.bufferedBytes).toBeLessThanOrEqual(16 * 1024 * 1024);
});

test('a wait for lines to be stored is bounded, and not made again until something is stored', async () => {
  const { data, shipper, place } = await startShipper();
  shipper.move(place);
  data.stores = false;
  const outgoing = shipper.open(claim(1), token);
  outgoing.take(line('a'));
  const before = performance.now();
  await shipper.flush(outgoing, 50);
  expect(performance.now() - before).toBeLessThan(5_000);
  await shipper.flush(outgoing, 600_000);
});

test('a batch that the server refuses again and again is given up, and the next ones go on', async () => {
  const warnings: string[] = [];
  const { data, shipper, place } = await startShipper({ ...quiet, warn: (text) => warnings.push(text) });
  shipper.move(place);
  data.refusesWith = status.INVALID_ARGUMENT;
  const bad = shipper.open(claim(1), token);
  bad.take(line('bad'));
  while (warnings.length === 0) await new Promise<void>((resolve) => shipper.whenRelieved(resolve));
  data.refusesWith = null;
  const good = shipper.open(claim(2), token);
  good.take(line('good'));
  await data.until(() => data.linesOf(claim(2)).length === 1);
  expect(warnings).toEqual(['lines of a log were refused by the server and are lost']);
});

test('where no logs are taken they are dropped, with one warning', async () => {
  const warnings: string[] = [];
  const { shipper } = await startShipper({ ...quiet, warn: (text) => warnings.push(text) });
  const outgoing = shipper.open(claim(1), token);
  outgoing.take(line('before'));
  shipper.move('none');
  for (let i = 0; i < 10; i++) expect(outgoing.take(line('after'))).toBe(true);
  await shipper.flush(outgoing, 600_000);
  expect(warnings).toEqual(['the server takes no logs; those of attempts are lost']);
  expect(shipper.bufferedBytes).toBe(0);
});
