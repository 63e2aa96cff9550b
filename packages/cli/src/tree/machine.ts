/** The machine itself. */

import { define, jsonFlag } from '../define.ts';
import type { DoctorFlags } from '../doctor/doctor.ts';

const SHELLS = ['bash', 'zsh', 'fish'];

export const machineCommands = [
  define<DoctorFlags>({
    name: 'doctor',
    summary: 'check this machine, the database and the server, and print fixes',
    details: 'Each check is ok, warn or fail. Exits with 1 if one fails. Changes nothing.',
    flags: [
      { flags: '--url <url>', what: 'server URL (SIGNALBOX_URL, default http://127.0.0.1:4500)' },
      { flags: '--data <folder>', what: 'data folder (SIGNALBOX_DATA)', completes: 'folder' },
      { flags: '--database <url>', what: 'PostgreSQL to look at (DATABASE_URL)' },
      jsonFlag,
    ],
    examples: [
      ['signalbox doctor', 'run this first when something is wrong'],
      [
        'signalbox doctor --database postgresql://signalbox@db.internal/signalbox',
        'your own database, before the first start',
      ],
    ],
    run: async (_, flags) => (await import('../doctor/doctor.ts')).doctor(flags),
  }),
  define<object>({
    name: 'completion',
    summary: 'print the completion script of a shell',
    details: 'Completes commands, flags and their values, and dag names if a server is running.',
    arguments: [{ name: 'shell', what: SHELLS.join(', '), completes: SHELLS }],
    flags: [],
    examples: [
      ['source <(signalbox completion bash)', 'in ~/.bashrc'],
      ['source <(signalbox completion zsh)', 'in ~/.zshrc, after compinit'],
      ['signalbox completion fish > ~/.config/fish/completions/signalbox.fish', 'once'],
    ],
    run: async ([shell = '']) => (await import('../completion/completion.ts')).completion(shell),
  }),
];
