/** Whether a claim has arrived at its worker: the values of `attempts.confirmed`. */

/** Sent, or about to be; the worker has not shown it yet. */
export const UNCONFIRMED = 0;
/** The worker has shown that it holds the claim. */
export const CONFIRMED = 1;
/** In the set of the heartbeat at hand. */
export const SEEN = 2;
/** Sent a while ago: what the worker shows next tells whether it has arrived (I26). */
export const OVERDUE = 4;
/** Loaded from the database: this engine did not send it. */
export const LOADED = 3;
/**
 * Shown once, and not in the last set that came. A gateway that was paused, or a stream that the worker has left, may bring
 * an old set late: only sets that lack it for longer than workers are silent between two of them prove that it is gone (I25).
 */
export const MISSING = 5;
