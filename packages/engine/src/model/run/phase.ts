/**
 * The phases of a run: *open*, then *closing* (its outcome is fixed; running attempts are being stopped), then *ended*. A
 * run that was *set aside* stays in its phase, and nothing touches it until a person does.
 */
export const RUN_PHASES = ['open', 'closing', 'ended'] as const;
export type RunPhase = (typeof RUN_PHASES)[number];

export const RUN_OUTCOMES = ['succeeded', 'failed', 'cancelled'] as const;
export type RunOutcome = (typeof RUN_OUTCOMES)[number];
