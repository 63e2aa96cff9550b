/** The settings of the cluster that the edge shows schedules by, once its thread has read them. */
import type { SettingsBook } from './settings-book.ts';

let book: Pick<SettingsBook, 'defaultJitterMs'> = { defaultJitterMs: () => 0 };

/** The edge has a thread, and so this module, of its own. */
export function showSettingsOf(cluster: SettingsBook): void {
  book = cluster;
}

export const defaultJitterMs = (): number => book.defaultJitterMs();
