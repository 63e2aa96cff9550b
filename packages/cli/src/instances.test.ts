import type { Client, TaskView } from '@signalbox/sdk';
import { expect, test } from 'vitest';
import { linesOf } from './follow/live.ts';
import { PlainView } from './follow/plain-lines.ts';
import { countsText, failedInstances, tasksOf } from './instances.ts';
import { visible } from './output.ts';
import { runView, taskView } from './testing/run-view.ts';

const mapped = (failed: number) =>
  taskView('load', 'expanded', {
    attempt: 0,
    instances: {
      total: 12_000,
      states: { succeeded: 11_000, ...(failed > 0 ? { failed } : {}), ready: 1_000 - failed },
    },
  });

test('a mapped task is one line with counts, failures first', () => {
  expect(visible(countsText(mapped(3)))).toBe('3 failed, 997 ready, 11,000 succeeded of 12,000');
  expect(countsText(taskView('plain', 'running'))).toBe('');
  expect(countsText({ state: 'succeeded', instances: { total: 0, states: {} } })).toBe('no items');
  expect(countsText({ state: 'expanded', instances: { total: 0, states: {} } })).toBe('items to come');
  const lines = linesOf(runView([taskView('list', 'succeeded'), mapped(1)]), { columns: 200, rows: 40, now: 0 });
  expect(lines).toHaveLength(3);
  expect(visible(lines[2] ?? '')).toContain('load  expanded 1 failed, 999 ready, 11,000 succeeded of 12,000');
});

test('where lines can not be drawn over, counts are told when one more has failed, and not otherwise', () => {
  const said: string[] = [];
  const view = new PlainView((line) => said.push(visible(line)));
  for (const failed of [0, 0, 1, 1]) view.show(runView([mapped(failed)]));
  expect(said.slice(1)).toEqual([expect.stringContaining('1,000 ready'), expect.stringContaining('1 failed')]);
});

test('instances that failed are found page by page, without the mapped task itself', async () => {
  const instance = (index: number): TaskView =>
    taskView(`load[${index}]`, 'failed', { map: [{ group: 'load', index }] });
  const pages: Record<string, { items: TaskView[]; cursor: string | null }> = {
    0: { items: [mapped(3), instance(1)], cursor: '7' },
    7: { items: [instance(2), instance(5)], cursor: null },
  };
  const client = { listTasks: async (_: string, { cursor }: { cursor: string }) => pages[cursor] } as unknown as Client;
  expect((await failedInstances(client, 'run', 10)).map(({ name }) => name)).toEqual(['load[1]', 'load[2]', 'load[5]']);
  expect((await failedInstances(client, 'run', 2)).map(({ name }) => name)).toEqual(['load[1]', 'load[2]']);
  const all: string[] = [];
  for await (const { name } of tasksOf(client, 'run')) all.push(name);
  expect(all).toHaveLength(4);
});
