/** Follows a run for a person or a script, and exits with the code of its outcome. */
import { type Client, type RunView, WaitTimedOut } from '@signalbox/sdk';
import { showAttempts, showRun } from '../commands/runs-show.ts';
import { EXIT } from '../exit-codes.ts';
import { onInterrupt } from '../interrupt.ts';
import { colours, isLive, print, printJson } from '../output.ts';
import { next } from '../program-name.ts';
import { explainFailure } from './failure.ts';
import { followRun } from './follow-run.ts';
import { LiveView } from './live.ts';
import { PlainView } from './plain-lines.ts';

interface FollowFlags {
  readonly json?: boolean;
  /** Milliseconds. */
  readonly timeout?: number;
}

interface View {
  show(run: RunView): void;
  clear(): void;
}

export async function followToEnd(client: Client, id: string, { json, timeout }: FollowFlags): Promise<void> {
  const view = json ? silent : viewOf();
  const { signal } = onInterrupt();
  try {
    const run = await followRun(client, id, { timeoutMs: timeout, signal, onSeen: (seen) => view.show(seen) });
    view.clear();
    await conclude(client, run, json ?? false);
  } catch (error) {
    view.clear();
    if (signal.aborted) {
      if (!json) sayItGoesOn(id, 'Stopped waiting.');
      process.exitCode = EXIT.interrupted;
    } else if (error instanceof WaitTimedOut) {
      if (json) printJson(error.run);
      else sayItGoesOn(id, error.message);
      process.exitCode = EXIT.timedOut;
    } else throw error;
  }
}

async function conclude(client: Client, run: RunView, json: boolean): Promise<void> {
  process.exitCode = run.outcome === 'succeeded' ? EXIT.ok : EXIT.failed;
  if (json) return printJson(run);
  showRun(run);
  // Without a live view each attempt had its line already.
  if (isLive) showAttempts(run);
  if (run.outcome !== 'succeeded') await explainFailure(client, run);
}

function sayItGoesOn(id: string, why: string): void {
  print(`${why} The run continues.`);
  print(`${colours.dim('follow it:')}  ${colours.cyan(next(`runs watch ${id}`))}`);
  print(`${colours.dim('end it:')}     ${colours.cyan(next(`runs cancel ${id}`))}`);
}

const silent: View = { show: () => {}, clear: () => {} };

function viewOf(): View {
  if (isLive) return new LiveView(process.stdout);
  const lines = new PlainView(print);
  return { show: (run) => lines.show(run), clear: () => {} };
}
