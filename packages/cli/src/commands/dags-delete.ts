/** `signalbox dags delete`. */
import { createInterface } from 'node:readline/promises';
import { type ClientFlags, connect } from '../connection.ts';
import { EXIT } from '../exit-codes.ts';
import { print, printJson } from '../output.ts';
import { CliError } from '../problem.ts';

export interface DeleteFlags extends ClientFlags {
  readonly yes?: boolean;
}

export async function deleteDag(name: string, flags: DeleteFlags): Promise<void> {
  const client = await connect(flags);
  if (!flags.yes) {
    const { version, schedule } = await client.getDag(name);
    const also = schedule === null ? '' : ' and its schedule';
    if (!(await isSure(`Retire ${name} (version ${version})${also}? Its history stays. [y/N] `)))
      return print('nothing was changed');
  }
  const answer = await client.deleteDag(name);
  if (flags.json) printJson(answer);
  else print(`${answer.name} takes no new runs; deploying it again brings it back`);
}

async function isSure(question: string): Promise<boolean> {
  if (!process.stdin.isTTY) {
    throw new CliError('Nobody is there to be asked.', 'Add --yes to do it without a question.', EXIT.usage);
  }
  const asking = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return /^y(es)?$/i.test((await asking.question(question)).trim());
  } finally {
    asking.close();
  }
}
