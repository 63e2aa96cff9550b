/** The guide page of schedules from elsewhere: each is parsed, and its first firings stand on the page. Write them with `-u`. */
import { readFileSync } from 'node:fs';
import type { ScheduleInput } from '@signalbox/protocol';
import { expect, test } from 'vitest';
import { readText } from './definition/read-text.ts';
import { previewSchedule } from './preview-schedule.ts';

const page = new URL('../../../docs/guides/crontab.md', import.meta.url);
const ROW = /^(\| .* \| )`(\{ .* \})` \| .*\|$/;
const FROM = Date.parse('2027-03-01T00:00:00Z');

function fill(line: string): string {
  const [, before, written] = ROW.exec(line) ?? [];
  if (before === undefined || written === undefined) return line;
  const outcome = readText(written, 'yaml');
  if (!outcome.ok) throw new Error(`${written}: ${outcome.faults[0]?.message}`);
  const previewed = previewSchedule(outcome.read.value as ScheduleInput, FROM, 2);
  if (!previewed.ok) throw new Error(`${written}: ${previewed.fault.message}`);
  const firings = previewed.firings.map(({ at }) => new Date(at).toISOString().replace(/(:00)?\.000Z$/, 'Z'));
  return `${before}\`${written}\` | ${firings.join(', ')} |`;
}

test('has fifty lines of a crontab, and the schedules of Temporal and Airflow', () => {
  const sections = readFileSync(page, 'utf8').split('\n## ').slice(1);
  const counts = sections.map((section) => section.split('\n').filter((line) => ROW.test(line)).length);
  expect(counts[0]).toBeGreaterThanOrEqual(50);
  expect(counts[1]).toBeGreaterThanOrEqual(12);
  expect(counts[2]).toBeGreaterThanOrEqual(12);
});

test('shows the first firings of each schedule', async () => {
  const filled = readFileSync(page, 'utf8').split('\n').map(fill).join('\n');
  await expect(filled).toMatchFileSnapshot(page.pathname);
});
