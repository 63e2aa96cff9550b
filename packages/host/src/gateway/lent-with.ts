/** What an owner is told of the worker whose slots it gets. */
import { isEmpty, isSpot, type LendSlots, type NodeId } from '@signalbox/engine';
import type { Loan } from './lending.ts';
import type { Session } from './session.ts';

/** Slots for any task may be taken by one that must not run on spot workers: the owner has to know that this is one. */
export function spotOf({ traits }: Session): Pick<LendSlots, 'traits'> {
  return traits !== null && isSpot(traits) ? { traits } : {};
}

/** What goes with lent slots of a worker that says what it has. */
export function lentWith(
  session: Session,
  { room }: Loan,
  nodeId: NodeId,
): Partial<Pick<LendSlots, 'traits' | 'room' | 'isWhole'>> {
  const { traits, isIdle } = session;
  return {
    ...(traits === null ? {} : { traits }),
    ...(isEmpty(room) ? {} : { room }),
    ...(isIdle && session.isLentOnlyTo(nodeId) ? { isWhole: true } : {}),
  };
}
