/** How a process on a machine is reached. */
import type { PeerCaller, WorkerHello } from '@signalbox/host';
import type { Line, LineEnd } from './line.ts';
import type { Process } from './process.ts';

/** The first frame of a stream says who opens it. */
export type Opening =
  | { readonly opens: 'peer'; readonly caller: PeerCaller }
  | { readonly opens: 'worker'; readonly hello: WorkerHello };

/** What a process listens with. */
export interface Door {
  readonly process: Process;
  readonly accept: (opening: Opening, line: Line) => LineEnd;
}
