/** What a manual action has done or would do, as text. */

import type { Touched } from '@signalbox/protocol';
import { counted } from '@signalbox/protocol';
import type { ClientFlags } from '../connection.ts';
import { coloured, plain, print, printJson } from '../output.ts';
import { next } from '../program-name.ts';
import { isSure } from './sure.ts';

export interface TouchFlags extends ClientFlags {
  readonly dryRun?: boolean;
  readonly force?: boolean;
  readonly yes?: boolean;
}

/** Fewer than this many tasks are touched without a question. */
const MANY = 10;
const SHOWN = 20;
const WORDS: Readonly<Record<string, string>> = { decided: 'follows', closes: 'runs at closing' };

/** Makes a dry run first if requested, and asks for confirmation before it changes many tasks. Null: nothing was done. */
export async function touch(flags: TouchFlags, hand: (dryRun: boolean) => Promise<Touched>): Promise<Touched | null> {
  if (flags.dryRun) {
    show(await hand(true), flags);
    return null;
  }
  if (!flags.yes && process.stdin.isTTY && !flags.json) {
    const planned = await hand(true);
    const stopped = planned.tasks.filter(({ stopped }) => stopped !== null).length;
    if (planned.count >= MANY || stopped > 0) {
      const also = stopped > 0 ? ` and stop ${stopped} running` : '';
      if (!(await isSure(`Change ${counted(planned.count, 'task')} of run ${planned.run}${also}? [y/N] `))) {
        print('nothing was changed');
        return null;
      }
    }
  }
  const touched = await hand(false);
  show(touched, flags);
  return touched;
}

export function show(touched: Touched, flags: ClientFlags): void {
  if (flags.json) return printJson(touched);
  const { count, tasks, dryRun, reopened, run } = touched;
  if (count === 0) return print('nothing to do: no task is in that state');
  for (const { task, before, after, how, stopped } of tasks.slice(0, SHOWN)) {
    const what = WORDS[how] ?? how;
    print(
      `${plain(task)}  ${coloured(before)} → ${coloured(after)}  ${what}${stopped === null ? '' : `, attempt ${stopped} stopped`}`,
    );
  }
  if (count > SHOWN) print(`… and ${count - SHOWN} more`);
  if (reopened) print(`run ${run} ${dryRun ? 'would open' : 'is open'} again`);
  print(dryRun ? 'nothing was changed' : `follow it with: ${next(`runs watch ${run}`)}`);
}
