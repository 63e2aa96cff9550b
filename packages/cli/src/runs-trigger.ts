/** `signalbox runs trigger`: submits, and follows the run if asked to. */
import type { RunView } from '@signalbox/sdk';
import { type ConnectionFlags, connect } from './connection.ts';
import { coloured, colours, isTerminal, print, printJson } from './output.ts';
import { CliError } from './problem.ts';
import { showRun } from './runs-show.ts';

export interface TriggerFlags extends ConnectionFlags {
  readonly params?: string;
  readonly priority?: string;
  readonly key?: string;
  readonly wait?: boolean;
  readonly json?: boolean;
}

const PRIORITIES = ['critical', 'high', 'normal', 'low'] as const;
const REDRAW_MS = 100;

export async function trigger(dag: string, flags: TriggerFlags): Promise<void> {
  const params = flags.params === undefined ? {} : { params: readParams(flags.params) };
  const priority = flags.priority === undefined ? {} : { priority: readPriority(flags.priority) };
  const client = await connect(flags);
  const key = flags.key === undefined ? {} : { idempotencyKey: flags.key };
  const { id } = await client.submit(dag, { ...params, ...priority }, key);
  if (!flags.wait) {
    if (flags.json) printJson({ id });
    else print(`run ${colours.bold(id)}\n${colours.dim(`follow it with: npx signalbox runs show ${id}`)}`);
    return;
  }
  const stopDrawing = isTerminal && !flags.json ? draw(() => client.getRun(id)) : () => undefined;
  const run = await client.waitForRun(id).finally(stopDrawing);
  if (flags.json) printJson(run);
  else showRun(run);
  process.exitCode = run.outcome === 'succeeded' ? 0 : 1;
}

/** One line that is written over. */
function draw(look: () => Promise<RunView>): () => void {
  let isOver = false;
  const redraw = async (): Promise<void> => {
    while (!isOver) {
      const run = await look().catch(() => null);
      if (run !== null && !isOver) process.stdout.write(`\r\u001b[2K${progressOf(run)}`);
      await new Promise((resolve) => setTimeout(resolve, REDRAW_MS));
    }
  };
  void redraw();
  return () => {
    isOver = true;
    process.stdout.write('\r\u001b[2K');
  };
}

function progressOf(run: RunView): string {
  const counts = new Map<string, number>();
  for (const { state } of run.tasks) counts.set(state, (counts.get(state) ?? 0) + 1);
  const parts = Array.from(counts, ([state, count]) => `${count} ${coloured(state)}`);
  return `${run.dag}: ${run.state}, ${parts.join(', ')}`;
}

function readParams(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new CliError(
      `--params is no JSON: ${text.slice(0, 100)}`,
      `Quote it for the shell: --params '{"name":"you"}'`,
    );
  }
}

function readPriority(text: string): (typeof PRIORITIES)[number] {
  const found = PRIORITIES.find((known) => known === text);
  if (found !== undefined) return found;
  throw new CliError(`--priority is "${text}".`, `Give one of ${PRIORITIES.join(', ')}.`);
}
