/** How far a running task is, in its own words: `50 %: half of the files`. Empty when it has told nothing. */
import type { TaskView } from '@signalbox/sdk';
import { plain } from './output.ts';

export function progressText({ progress }: Pick<TaskView, 'progress'>): string {
  if (progress === undefined) return '';
  const { fraction, note } = progress;
  const share = fraction === null ? [] : [`${Math.round(fraction * 100)} %`];
  return [...share, ...(note === '' ? [] : [plain(note)])].join(': ');
}
