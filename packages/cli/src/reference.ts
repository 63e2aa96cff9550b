/** The page `docs/reference/cli.md`, made from the descriptions that the parser uses. */
import type { CommandDefinition } from './define.ts';
import { EXIT_MEANINGS } from './exit-codes.ts';
import { COMMANDS } from './tree/index.ts';

export function referencePage(): string {
  return [
    '# The command line',
    '',
    'Generated from the commands; `signalbox <command> --help` shows the same. In a clone, type `npx signalbox`.',
    '',
    '## Exit codes',
    '',
    '| code | meaning |',
    '| --- | --- |',
    ...EXIT_MEANINGS.map(([code, meaning]) => `| ${code} | ${meaning} |`),
    '',
    'Errors go to standard error: one sentence and a remedy. With `--json` they are an object `{"error": {"code", "message", "remedy"}}`, and standard',
    'output is one JSON value, or one per line if the command follows something.',
    '',
    '## Server and credentials',
    '',
    '| variable | meaning |',
    '| --- | --- |',
    '| `SIGNALBOX_URL` | the server (default `http://127.0.0.1:4500`) |',
    '| `SIGNALBOX_TOKEN` | the token (default: `admin.token` of the data folder) |',
    '| `SIGNALBOX_DATA` | the data folder (default: `/var/lib/signalbox` for root, `~/.local/share/signalbox` for others) |',
    '| `SIGNALBOX_TOKEN_FILE` | another file for the token |',
    '| `NODE_EXTRA_CA_CERTS` | CA certificate (PEM) of an `https://` server |',
    '| `NO_COLOR`, `FORCE_COLOR` | never use colours; always use colours |',
    '',
    '## Commands',
    '',
    '| command | what it does |',
    '| --- | --- |',
    ...COMMANDS.map(({ name, summary }) => `| [\`${name}\`](#${anchorOf(name)}) | ${summary} |`),
    ...COMMANDS.flatMap(sectionOf),
  ].join('\n');
}

const anchorOf = (name: string): string => name.replaceAll(' ', '-');
const cell = (text: string): string => text.replaceAll('|', '\\|').replaceAll('<', '&lt;');

function sectionOf(command: CommandDefinition): string[] {
  const { name, summary, details, arguments: args = [], flags, examples, isDefault } = command;
  const shape = args.map(({ name: arg, isOptional, isMany }) => {
    const word = `${arg}${isMany ? '…' : ''}`;
    return isOptional ? `[${word}]` : `<${word}>`;
  });
  const group = name.split(' ')[0];
  return [
    '',
    `### ${name}`,
    '',
    `\`signalbox ${[name, ...shape].join(' ')}\`: ${summary}.${isDefault ? ` The same as \`signalbox ${group}\`.` : ''}`,
    ...(details === undefined ? [] : ['', details]),
    ...(args.length + flags.length === 0 ? [] : ['', '| | |', '| --- | --- |']),
    ...args.map(({ name: arg, what }) => `| \`${arg}\` | ${cell(what)} |`),
    ...flags.map(
      ({ flags: names, what, usual }) => `| \`${names}\` | ${cell(what)}${usual === undefined ? '' : ` (${usual})`} |`,
    ),
    '',
    '```sh',
    ...examples.map(([type, does]) => `${type}  # ${does}`),
    '```',
  ];
}
