import { expect, test } from 'vitest';
import { buildProgram } from './program.ts';
import { referencePage } from './reference.ts';
import { COMMANDS } from './tree/index.ts';

test('the page of the command line says what the parser does', async () => {
  await expect(`${referencePage()}\n`).toMatchFileSnapshot('../../../docs/reference/cli.md');
});

test.each(COMMANDS.map((command) => [command.name, command] as const))(
  '%s has help with examples that it takes',
  (name, command) => {
    expect(command.examples.length).toBeGreaterThan(0);
    for (const [type] of command.examples) {
      const words =
        type
          .replace(/^.*?\bsignalbox /, '')
          .replace(/\)$| > .*$/, '')
          .match(/'[^']*'|\S+/g) ?? [];
      expect(words.slice(0, name.split(' ').length).join(' ')).toMatch(
        command.isDefault ? new RegExp(`^(${name}|${name.split(' ')[0]})`) : name,
      );
      const known = command.flags.flatMap(({ flags }) => flags.match(/--?[a-z-]+/g) ?? []);
      for (const flag of words.filter((word) => /^--?[a-z]/.test(word))) expect(known).toContain(flag);
    }
  },
);

test('every command can be reached and asked for help', () => {
  const program = buildProgram();
  for (const { name } of COMMANDS) {
    const [first, second] = name.split(' ');
    const found = program.commands.find((command) => command.name() === first);
    const leaf = second === undefined ? found : found?.commands.find((command) => command.name() === second);
    expect(leaf?.helpInformation(), name).toContain('Usage: signalbox');
  }
});
