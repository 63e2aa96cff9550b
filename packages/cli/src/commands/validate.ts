/** `signalbox validate`. */
import { counted } from '@signalbox/protocol';
import { EXIT } from '../exit-codes.ts';
import { colours, plain, print, printJson, warning } from '../output.ts';
import { compilePaths, printProblems } from './compile.ts';

export interface ValidateFlags {
  readonly json?: boolean;
}

export async function validate(given: readonly string[], flags: ValidateFlags): Promise<void> {
  const { dags, problems } = await compilePaths(given);
  const { scheduleWarnings } = await import('@signalbox/protocol');
  if (problems.length > 0) process.exitCode = EXIT.failed;
  if (flags.json) {
    const seen = dags.map(({ name, file, definition }) => ({
      name,
      file,
      tasks: definition.tasks.length,
      warnings: scheduleWarnings(definition),
    }));
    return printJson({ dags: seen, problems });
  }
  for (const { name, file, definition } of dags) {
    const count = definition.tasks.length;
    print(
      `${colours.green('ok')} ${colours.bold(plain(name))} (${counted(count, 'task')}) ${colours.dim(plain(file))}`,
    );
    for (const text of scheduleWarnings(definition)) print(warning(`${name}: ${text}`));
  }
  printProblems(problems);
  if (dags.length + problems.length === 0) print('no dags found');
}
