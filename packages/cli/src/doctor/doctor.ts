/** `signalbox doctor`. */
import { join } from 'node:path';
import { type BindAddress, parseConfig, type ServerConfig } from '@signalbox/server/config';
import { variablesOf } from '../commands/server.ts';
import { type ConnectionFlags, findToken, tokenFileOf, urlOf } from '../connection.ts';
import { EXIT } from '../exit-codes.ts';
import { coloured, colours, plain, plainLines, print, printJson } from '../output.ts';
import { PORTS } from '../start/ports.ts';
import { type Finding, fail } from './check.ts';
import { checkDatabase } from './database.ts';
import { checkDisk, checkFolder, checkNode, checkPrograms, checkTokenFile } from './machine.ts';
import { checkPort, checkServer } from './server.ts';

export interface DoctorFlags extends ConnectionFlags {
  readonly database?: string;
  readonly json?: boolean;
}

export async function doctor(flags: DoctorFlags): Promise<void> {
  const findings = await examine(flags);
  const isWell = findings.every(({ status }) => status !== 'fail');
  if (flags.json) printJson({ ok: isWell, checks: findings });
  else show(findings);
  process.exitCode = isWell ? EXIT.ok : EXIT.failed;
}

async function examine(flags: DoctorFlags): Promise<Finding[]> {
  let config: ServerConfig;
  try {
    config = parseConfig(variablesOf(flags));
  } catch (error) {
    return [checkNode(), fail('settings', (error as Error).message, 'Fix it in the environment.')];
  }
  const { databaseUrl, dataDir } = config;
  const url = urlOf(flags);
  const token = await findToken(flags).catch(() => null);
  const groups = await Promise.all([
    checkPrograms(databaseUrl === null),
    checkFolder(dataDir),
    checkDisk(dataDir),
    checkTokenFile(tokenFileOf(flags)),
    checkDatabase(databaseUrl, join(dataDir, 'pg18')),
    ...portsOf(config),
    checkServer(url, token),
  ]);
  return [checkNode(), ...groups.flat()];
}

function portsOf(config: Partial<Record<(typeof PORTS)[number], BindAddress>>): Promise<Finding>[] {
  return PORTS.flatMap((name) => (config[name] === undefined ? [] : [checkPort(name, config[name])]));
}

function show(findings: readonly Finding[]): void {
  const width = Math.max(...findings.map(({ check }) => check.length));
  for (const { check, status, message, remedy } of findings) {
    print(`${coloured(status)}${' '.repeat(4 - status.length)}  ${check.padEnd(width)}  ${plain(message)}`);
    if (remedy !== undefined) print(`${' '.repeat(width + 8)}${colours.bold('→')} ${plainLines(remedy)}`);
  }
  const count = (wanted: Finding['status']) => findings.filter(({ status }) => status === wanted).length;
  print(colours.dim(`${count('ok')} ok, ${count('warn')} warnings, ${count('fail')} failed`));
}
