/** Why a schedule can't be used. */

export interface ScheduleFault {
  /** The field of the schedule: `cron`, `cron[2]`, `calendar.exclude[0]`. */
  readonly field: string;
  /** The column of the mistake in a cron expression, the first being 1. */
  readonly column?: number;
  readonly message: string;
  readonly remedy: string;
}

/** In place of what would have been compiled. */
export interface FaultOf {
  readonly ok: false;
  readonly fault: ScheduleFault;
}

export function fault(field: string, message: string, remedy: string): FaultOf {
  return { ok: false, fault: { field, message, remedy } };
}

export function isFault(value: object): value is FaultOf {
  return 'ok' in value && value.ok === false;
}
