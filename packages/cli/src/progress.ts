/** The progress that a running task reports: `50 %: half of the files`. Empty if it reports none. */
import type { TaskView } from '@signalbox/sdk';
import { plain } from './output.ts';

export function progressText({ progress }: Pick<TaskView, 'progress'>): string {
  if (progress === undefined) return '';
  const { fraction, note } = progress;
  const share = fraction === null ? [] : [`${Math.round(fraction * 100)} %`];
  return [...share, ...(note === '' ? [] : [plain(note)])].join(': ');
}
