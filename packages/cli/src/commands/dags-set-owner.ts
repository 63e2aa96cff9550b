/** `signalbox dags set-owner`. */
import { type ClientFlags, connect } from '../connection.ts';
import { EXIT } from '../exit-codes.ts';
import { print, printJson, short } from '../output.ts';
import { CliError } from '../problem.ts';

export interface OwnerFlags extends ClientFlags {
  readonly clear?: boolean;
}

export async function setOwner(dag: string, owner: string | undefined, flags: OwnerFlags): Promise<void> {
  if ((owner === undefined) !== (flags.clear === true))
    throw new CliError('An owner or --clear is needed, and not both.', 'Pass the owner, or --clear.', EXIT.usage);
  const answer = await (await connect(flags)).setDagOwner(dag, owner ?? null);
  if (flags.json) return printJson(answer);
  print(answer.owner === null ? `${short(dag)} has no owner` : `${short(dag)} belongs to ${short(answer.owner)}`);
}
