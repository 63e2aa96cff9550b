/** `signalbox why`: why a task does not run. */
import type { TaskWhy } from '@signalbox/protocol';
import type { RunView } from '@signalbox/sdk';
import { type ClientFlags, connect } from '../connection.ts';
import { EXIT } from '../exit-codes.ts';
import { coloured, plain, print, printJson } from '../output.ts';
import { CliError } from '../problem.ts';
import { resolveRun } from '../run-id.ts';

export async function why(given: string, task: string | undefined, flags: ClientFlags): Promise<void> {
  const client = await connect(flags);
  const id = await resolveRun(client, given);
  const name = task ?? chooseTask(await client.getRun(id));
  const found = await client.getTaskWhy(id, name);
  if (flags.json) return printJson(found);
  print(`task ${plain(found.task)} of run ${found.run} (${plain(found.dag)}) is ${coloured(found.state)}`);
  for (const line of linesOf(found)) print(line);
}

/** The one that holds the run: what is ready tells more than what waits for it. */
function chooseTask({ id, tasks }: RunView): string {
  for (const state of ['retrying', 'ready', 'expanded', 'waiting', 'blocked', 'running', 'failed'] as const) {
    const found = tasks.find((task) => task.state === state);
    if (found !== undefined) return found.name;
  }
  throw new CliError(
    `No task of run ${id} waits.`,
    `Name a task to see why it ended as it did: signalbox why ${id} <task>`,
    EXIT.refused,
  );
}

function linesOf({ task, message, chain, suggestion, predictedStart, missing }: TaskWhy): readonly string[] {
  const reasons = chain.map(({ task: of, message: reason, until }, i) => {
    const whose = of === task ? '' : `${plain(of)}: `;
    const end = until !== null && !reason.includes(until) ? ` That ends at ${until}.` : '';
    return `${'  '.repeat(i)}${i === 0 ? '' : '└ '}${whose}${plain(reason)}${end}`;
  });
  return [
    ...(reasons.length === 0 ? [plain(message)] : reasons),
    ...(predictedStart === null ? [] : [`Starts at about ${predictedStart.at}: ${plain(predictedStart.basis)}`]),
    ...(suggestion === null ? [] : [`What helps: ${plain(suggestion)}`]),
    ...(missing.length === 0 ? [] : [`No answer from ${missing.join(', ')}: what is known there is missing.`]),
  ];
}
