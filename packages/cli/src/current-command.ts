/** The command that is running. Errors of the server are shown in its terms: its flags and arguments. */
import type { CommandDefinition } from './define.ts';

export interface CurrentCommand {
  readonly definition: CommandDefinition;
  readonly args: readonly string[];
  readonly flags: object;
}

let current: CurrentCommand | null = null;

export function setCurrentCommand(command: CurrentCommand): void {
  current = command;
}

export const currentCommand = (): CurrentCommand | null => current;

/** What the user gave for the argument of this name. */
export function argumentOf({ definition, args }: CurrentCommand, name: string): string | undefined {
  const index = (definition.arguments ?? []).findIndex((argument) => argument.name === name);
  return index === -1 ? undefined : args[index];
}
