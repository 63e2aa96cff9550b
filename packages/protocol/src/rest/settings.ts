/** Settings of the cluster that people change while it runs. */
import { z } from 'zod';
import { spanSchema } from './common.ts';

const DAY_MS = 86_400_000;

export const changeSettingsSchema = z.strictObject({
  /** Schedules that name no jitter fire late by less than this; 0 for none. */
  jitter: spanSchema({ minMs: 0, maxMs: DAY_MS, example: '"30s" or "5m"' }),
});
export type ChangeSettings = z.input<typeof changeSettingsSchema>;

export const settingsSchema = z.object({
  /** Schedules that name no jitter fire late by less than this. */
  jitterMs: z.int(),
});
export type SettingsView = z.infer<typeof settingsSchema>;
