/** The flags of `signalbox start`. */
import type { ServerFlags } from '../commands/server.ts';

export interface StartFlags extends ServerFlags {
  readonly slots: number;
  readonly dags?: string;
  readonly examples: boolean;
}
