/** What a node waits for, as its gateways know it. */
import type { QueueName, Request, TenantId } from '@signalbox/engine';

export interface Wanted {
  readonly tenantId: TenantId;
  readonly queue: QueueName;
  readonly request: Request | null;
  /** By priority. */
  readonly counts: number[];
  /** The class for which a worker should be reserved; null: none. */
  readonly reserve: number | null;
  /** What is reserved was lent for it since the node told of it. */
  isReserveLent: boolean;
  /** Of gangs: the run that has waited longest. */
  readonly head: number | null;
  /** Of gangs: these workers have lent slots since the node told of it. */
  readonly lentBy: Set<object> | null;
}
