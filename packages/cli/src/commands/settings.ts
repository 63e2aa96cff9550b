/** `signalbox settings`: settings of the cluster. */
import type { SettingsView } from '@signalbox/protocol';
import { type ClientFlags, connect } from '../connection.ts';
import { EXIT } from '../exit-codes.ts';
import { print, printJson } from '../output.ts';
import { CliError } from '../problem.ts';

export interface SettingsFlags extends ClientFlags {
  readonly jitter?: string;
}

export async function showSettings(flags: ClientFlags): Promise<void> {
  show(await (await connect(flags)).getSettings(), flags);
}

export async function changeSettings({ jitter, ...flags }: SettingsFlags): Promise<void> {
  if (jitter === undefined) throw new CliError('Nothing to change.', 'Pass --jitter, such as --jitter 5m.', EXIT.usage);
  show(await (await connect(flags)).changeSettings({ jitter }), flags);
}

function show(settings: SettingsView, flags: ClientFlags): void {
  if (flags.json) return printJson(settings);
  const { jitterMs } = settings;
  if (jitterMs === 0) print('Schedules that name no jitter fire on time.');
  else print(`Schedules that name no jitter fire up to ${jitterMs / 1_000} s late.`);
}
