/** Asks for confirmation before many things are changed. If stdin is not a terminal and --yes is missing, nothing is done. */
import { createInterface } from 'node:readline/promises';
import { EXIT } from '../exit-codes.ts';
import { CliError } from '../problem.ts';

export async function isSure(question: string): Promise<boolean> {
  if (!process.stdin.isTTY) {
    throw new CliError(
      'Standard input is not a terminal, so confirmation is impossible.',
      'Pass --yes to continue without confirmation.',
      EXIT.usage,
    );
  }
  const asking = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return /^y(es)?$/i.test((await asking.question(question)).trim());
  } finally {
    asking.close();
  }
}
