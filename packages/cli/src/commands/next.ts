/** `signalbox next`: when a cron expression fires, without a server. */
import { previewSchedule } from '@signalbox/compiler';
import { print, printJson, table } from '../output.ts';
import { CliError } from '../problem.ts';

export interface NextFlags {
  readonly tz: string;
  readonly count: number;
  readonly from?: number;
  readonly gap: 'skip' | 'fire_after';
  readonly overlap: 'first' | 'second' | 'both';
  readonly json?: boolean;
}

export function showNext(cron: string, { tz, count, from, gap, overlap, json }: NextFlags): void {
  const previewed = previewSchedule({ cron, zone: tz, gap, overlap }, from ?? Date.now(), count);
  if (!previewed.ok) throw new CliError(previewed.fault.message, previewed.fault.remedy);
  const firings = previewed.firings.map(({ at, local, note }) => ({ at: shortIso(at), local, note }));
  if (json) return printJson({ firings });
  print(
    table(
      [previewed.zone, 'UTC', 'note'],
      firings.map(({ at, local, note }) => [local, at, note ?? '']),
    ),
  );
}

/** Without milliseconds where there are none, as the API has it. */
function shortIso(at: number): string {
  return new Date(at).toISOString().replace('.000Z', 'Z');
}
