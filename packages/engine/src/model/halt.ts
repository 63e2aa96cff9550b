/**
 * Why a dag is halted. `fan_out`: it created too many tasks within a minute, by runs and maps. `live_tasks`: its live runs have too
 * many tasks.
 */
export const HALT_CAUSES = ['fan_out', 'live_tasks'] as const;
export type HaltCause = (typeof HALT_CAUSES)[number];

/** The time that the fan-out of a dag is counted over. */
export const FAN_OUT_MS = 60_000;
