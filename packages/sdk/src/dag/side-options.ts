/** Tasks beside tasks and runs: undos and hooks. */
import type { DagDefinition } from '@signalbox/protocol';
import type { HandlerContext } from '../handler.ts';
import type { Duration } from './amounts.ts';

type SideDefinition = NonNullable<DagDefinition['tasks'][number]['undo']>;

interface SideCommon {
  /** Default: the one of the task that it belongs to. */
  readonly queue?: string;
  readonly timeout?: Duration;
  readonly retries?: NonNullable<SideDefinition['retries']>;
}

/** A function, a function with options, a process, or an HTTP call. */
export type Side<Context> =
  | ((context: Context) => unknown)
  | (SideCommon & {
      readonly function: (context: Context) => unknown;
      readonly inProcess?: boolean;
      readonly secrets?: readonly string[];
    })
  | (SideCommon & Pick<SideDefinition, 'run' | 'shell' | 'env' | 'cwd' | 'secrets'> & { readonly run: unknown })
  | (SideCommon & { readonly http: NonNullable<SideDefinition['http']> });

/** What a hook is told. */
export interface HookInputs {
  readonly event: 'before' | 'after' | 'on_success' | 'on_failure' | 'on_retry' | 'on_slow';
  /** The task that it belongs to; null for a hook of the run. */
  readonly task: string | null;
  /** What became of the task, or of the run; null as long as that is open. */
  readonly outcome: string | null;
  /** Number of the attempt that the event is about; 0 for none. For events of a run: how often the event has happened so far. */
  readonly attempt: number;
  /** Why that attempt failed. */
  readonly error: string | null;
  /** For a hook of the run: the tasks that failed by themselves. */
  readonly failed: readonly string[];
}

type Hook<Params> = Side<HandlerContext<HookInputs, Params>>;

export interface Hooks<Params = unknown> {
  /** Before it begins; it must succeed. */
  readonly before?: Hook<Params>;
  /** After it has ended, in whatever way. */
  readonly after?: Hook<Params>;
  readonly onSuccess?: Hook<Params>;
  readonly onFailure?: Hook<Params>;
  /** Each time that it is tried again, by its policy or by hand; of a task, `attempt` is the one that did not succeed. */
  readonly onRetry?: Hook<Params>;
  /** When it takes longer than its soft timeout, which it must have: once for each attempt of a task. It goes on beside this. */
  readonly onSlow?: Hook<Params>;
}

/** What undoes a task sees: the inputs of the task, and what it returned. */
export type UndoContext<Output, Params, Item = unknown> = HandlerContext<
  { readonly output: Output } & Readonly<Record<string, unknown>>,
  Params,
  Item
>;
