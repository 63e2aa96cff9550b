import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { expect, test } from 'vitest';
import { ReapedCpu } from './reaped-cpu.ts';

test('a child has what the count has grown by; of several that end at once each has its share', async () => {
  let ticks = 100;
  const cpu = new ReapedCpu(() => ticks);
  cpu.began();
  ticks = 130;
  expect(await cpu.exited(500)).toBe(300_000);
  ticks = 170;
  expect(await Promise.all([cpu.exited(300), cpu.exited(100)])).toEqual([300_000, 100_000]);
  expect(await cpu.exited(0)).toBe(0);
});

test('without the count nothing is known', async () => {
  const cpu = new ReapedCpu(() => null);
  cpu.began();
  expect(await cpu.exited(10)).toBeNull();
});

test.skipIf(!existsSync('/proc/self/stat'))('a real child that is busy is measured', async () => {
  const cpu = new ReapedCpu();
  cpu.began();
  const child = spawn('sh', ['-c', 'i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done']);
  await once(child, 'exit');
  expect(await cpu.exited(100)).toBeGreaterThan(20_000);
});
