/** The page `docs/reference/cli.md`, made from the descriptions that the parser goes by. */
import type { CommandDefinition } from './define.ts';
import { EXIT_MEANINGS } from './exit-codes.ts';
import { COMMANDS } from './tree/index.ts';

export function referencePage(): string {
  return [
    '# The command line',
    '',
    'Made from the commands themselves; `signalbox <command> --help` shows the same. In a clone it is called as `npx signalbox`.',
    '',
    '## Exit codes',
    '',
    '| code | meaning |',
    '| --- | --- |',
    ...EXIT_MEANINGS.map(([code, meaning]) => `| ${code} | ${meaning} |`),
    '',
    'Errors are one sentence and what to do, on standard error; with `--json` an object `{"error": {"code", "message", "remedy"}}`. With `--json` standard',
    'output is one JSON value, or one per line where a command follows something.',
    '',
    '## Where it asks, and as whom',
    '',
    '| variable | what it sets |',
    '| --- | --- |',
    '| `SIGNALBOX_URL` | the server; `http://127.0.0.1:4500` unless told |',
    '| `SIGNALBOX_TOKEN` | the token; without it `admin.token` of the data folder is read |',
    '| `SIGNALBOX_DATA` | the data folder; `/var/lib/signalbox` for root, `~/.local/share/signalbox` for others |',
    '| `SIGNALBOX_TOKEN_FILE` | another file for the token |',
    '| `NODE_EXTRA_CA_CERTS` | certificate (PEM) of the authority behind an `https://` server |',
    '| `NO_COLOR`, `FORCE_COLOR` | never colours; colours also where it is no terminal |',
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
