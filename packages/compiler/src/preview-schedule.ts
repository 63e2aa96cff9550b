/** When a schedule fires next, without a server: by the function that servers decide by. */
import { type Instant, previewSchedule as preview, type SchedulePreview, type TimetableSpec } from '@signalbox/engine';
import { zoneData } from '@signalbox/protocol/zones';

/** The firings strictly after `from`. */
export function previewSchedule(spec: TimetableSpec, from: number, count: number): SchedulePreview {
  return preview(spec, from as Instant, count, zoneData);
}
