/** `signalbox dags delete`. */
import { type ClientFlags, connect } from '../connection.ts';
import { print, printJson } from '../output.ts';
import { isSure } from './sure.ts';

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
  else print(`${answer.name} is retired and starts no new runs. Deploy it again to bring it back.`);
}
