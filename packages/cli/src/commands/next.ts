/** `signalbox next`: when a schedule fires, without a server. */
import { previewSchedule, readCalendar } from '@signalbox/compiler';
import type { ScheduleInput } from '@signalbox/protocol';
import { print, printJson, table } from '../output.ts';
import { CliError } from '../problem.ts';

export interface NextFlags {
  readonly every?: string;
  readonly anchor?: string;
  readonly phase?: string;
  readonly at?: readonly string[];
  readonly start?: string;
  readonly end?: string;
  readonly limit?: number;
  readonly jitter?: string;
  readonly calendar?: string;
  readonly tz: string;
  readonly count: number;
  readonly from?: number;
  readonly gap: 'skip' | 'fire_after';
  readonly overlap: 'first' | 'second' | 'both';
  readonly json?: boolean;
}

export async function showNext(crons: readonly string[], flags: NextFlags): Promise<void> {
  const { tz, count, from, json, calendar, gap, overlap, every, anchor, phase, at, start, end, limit, jitter } = flags;
  if (crons.length === 0 && every === undefined && at === undefined) {
    throw new CliError('Nothing says when to fire.', 'Give a cron expression in quotes, --every 15m, or --at a time.');
  }
  const written = {
    ...(crons.length === 0 ? {} : { cron: crons.length === 1 ? crons[0] : crons }),
    ...given({ every, anchor, phase, at, start, end, limit, jitter }),
    zone: tz,
    gap,
    overlap,
    ...(calendar === undefined ? {} : { calendar: await readCalendar(calendar) }),
  };
  const previewed = previewSchedule(written as ScheduleInput, from ?? Date.now(), count);
  if (!previewed.ok) throw new CliError(previewed.fault.message, previewed.fault.remedy);
  const firings = previewed.firings.map(({ at: time, firesAt, local, note }) => {
    const late = firesAt === time ? {} : { firesAt: shortIso(firesAt) };
    return { at: shortIso(time), ...late, local, note };
  });
  if (json) return printJson({ firings });
  if (firings.length === 0) return print('does not fire again');
  // In UTC, the local time says the same as the instant.
  const isUtc = previewed.zone === 'UTC';
  print(
    table(
      [...(isUtc ? [] : [previewed.zone]), 'UTC', 'note'],
      firings.map(({ at: time, local, note }) => [...(isUtc ? [] : [local]), time, note ?? '']),
    ),
  );
}

/** Without those that were not given. */
function given(flags: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(flags).filter(([, value]) => value !== undefined));
}

/** Without milliseconds where there are none, as the API has it. */
function shortIso(at: number): string {
  return new Date(at).toISOString().replace('.000Z', 'Z');
}
