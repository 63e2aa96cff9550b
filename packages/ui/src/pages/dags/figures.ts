/** What is said of a dag at a glance. */
import type { EndedSums } from '@signalbox/protocol';

/** Of the runs that ended by themselves, how many of a hundred succeeded; null without any. */
export function successRate({ succeeded, failed }: Pick<EndedSums, 'succeeded' | 'failed'>): number | null {
  return succeeded + failed === 0 ? null : Math.round((100 * succeeded) / (succeeded + failed));
}
