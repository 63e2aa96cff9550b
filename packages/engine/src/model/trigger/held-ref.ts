import type { DagId } from '../ids.ts';

/** Names the events that wait together. */
export interface HeldRef {
  readonly dagId: DagId;
  readonly trigger: string;
  readonly groupKey: string;
}

export function heldName({ dagId, trigger, groupKey }: HeldRef): string {
  return `${dagId}/${trigger.length}/${trigger}/${groupKey}`;
}
